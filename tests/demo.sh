#!/usr/bin/env bash
# A real Kubernetes control plane on this machine, four simulated nodes, and enable_gpu from nothing to ready.
# Called by `make demo`; may be run again at any time, a second run finds everything in place and changes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cluster=${CLUSTER:-demo}
python=$PWD/.venv/bin/python
export PATH="$PWD/.venv/bin:$PATH"

# The demo works on its own cluster, whatever the shell was pointed at.
for name in KUBECONFIG "${!K8S_AUTH_@}" "${!ANSIBLE_@}"; do
    unset "$name"
done
export ANSIBLE_CONFIG=$PWD/ansible.cfg
# A link to the working tree is there; CI names the installed tarball.
export ANSIBLE_COLLECTIONS_PATH=${HE_TEST_COLLECTIONS:-$PWD/.venv/collections}

# step TITLE COMMAND...: say what is done, do it, say how long it took.
step() {
    printf '\n==> %s\n    $ %s\n' "$1" "${*:2}"
    local started=${EPOCHREALTIME/[^0-9]/}
    "${@:2}"
    local tenths=$(((${EPOCHREALTIME/[^0-9]/} - started) / 100000))
    printf '    %d.%d s\n' $((tenths / 10)) $((tenths % 10))
}

step "control plane (the first time downloads or builds it, later starts take seconds)" \
    "$python" -m tests.cluster up --no-nfd --name "$cluster"
step "3 GPU nodes on two kernels, 1 node without a GPU" \
    "$python" -m tests.scenes.four_nodes "$cluster"

K8S_AUTH_KUBECONFIG=$("$python" -m tests.cluster kubeconfig --name "$cluster")
export K8S_AUTH_KUBECONFIG
kubectl=$("$python" -c 'from tests.cluster.programs import kubectl; print(kubectl())')

step "enable the GPUs" ansible-playbook hardware.enablement.enable_gpu -e @tests/scenes/simulated.yml
step "status" ansible-playbook hardware.enablement.status
step "the cluster's own record" "$kubectl" --kubeconfig "$K8S_AUTH_KUBECONFIG" get hwe -o wide

cat <<EOF

Look further:
    export KUBECONFIG=$K8S_AUTH_KUBECONFIG
    export PATH=\$PATH:$(dirname "$kubectl")
    kubectl get nodes --show-labels
    kubectl get all -n nvidia-gpu -o wide
    kubectl get hwe nvidia-gpu -o yaml
Run it again, nothing changes:  make demo${CLUSTER:+ CLUSTER=$cluster}
Tear it down:                   make cluster-down CLUSTER=$cluster
EOF
