# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Command lines of the daemons. Why each unusual setting is there is said next to it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.kubelet.model import NO_FLEET, Fleet
from tests.cluster.programs import Programs

SERVICE_RANGE = "10.96.0.0/16"
NFD_NAMESPACE = "node-feature-discovery"
CONTROL_PLANE_NODE = "control-plane"
# Parts of this package.
OURS = ("simulation", "builds-api")
# Simulated nodes send no heartbeats, which is what makes thousands of them affordable; so none may
# be missed, either.
NODE_GRACE_PERIOD = "87600h"


SCHEDULER_PLUGINS = "scheduler-plugins"


@dataclass(frozen=True)
class Ports:
    """The loopback ports of one cluster."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int
    simulation: int
    builds_api: int


@dataclass(frozen=True)
class Setup:
    """What the command lines depend on."""

    folder: Path
    ports: Ports
    programs: Programs
    fleet: Fleet = NO_FLEET
    instant: bool = False

    @property
    def pki(self) -> Path:
        """Folder of the certificates."""
        return self.folder / "pki"

    @property
    def egress(self) -> Path:
        """How the API server reaches nodes that are not at its own loopback address."""
        return self.folder / "egress.json"

    @property
    def has_egress(self) -> bool:
        """Whether there may be such nodes."""
        return bool(self.fleet.nodes) or SCHEDULER_PLUGINS in self.programs.programs

    def kubeconfig(self, program: str) -> str:
        """kubeconfig file of one of the daemons."""
        return str(self.folder / "kubeconfigs" / f"{program}.yaml")


def etcd(setup: Setup) -> list[str]:
    """etcd with client certificates, without fsync: a test's data may die with the machine."""
    client = f"https://127.0.0.1:{setup.ports.etcd}"
    peer = f"http://127.0.0.1:{setup.ports.etcd_peer}"
    return [
        setup.programs["etcd"],
        "--name=local",
        f"--data-dir={setup.folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=local={peer}",
        f"--cert-file={setup.pki / 'etcd-server.crt'}",
        f"--key-file={setup.pki / 'etcd-server.key'}",
        f"--trusted-ca-file={setup.pki / 'etcd.crt'}",
        "--client-cert-auth",
        "--unsafe-no-fsync",
        "--quota-backend-bytes=4294967296",
        "--auto-compaction-mode=periodic",
        "--auto-compaction-retention=5m",
        "--log-level=warn",
    ]


def apiserver(setup: Setup) -> list[str]:
    """The API server: RBAC and Node authorization, audit log, the two admission plugins that
    clusters with GPUs use."""
    pki = setup.pki
    return [
        setup.programs["kube-apiserver"],
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={setup.ports.apiserver}",
        f"--etcd-servers=https://127.0.0.1:{setup.ports.etcd}",
        f"--etcd-cafile={pki / 'etcd.crt'}",
        f"--etcd-certfile={pki / 'etcd-client.crt'}",
        f"--etcd-keyfile={pki / 'etcd-client.key'}",
        f"--tls-cert-file={pki / 'apiserver.crt'}",
        f"--tls-private-key-file={pki / 'apiserver.key'}",
        f"--client-ca-file={pki / 'kubernetes.crt'}",
        f"--kubelet-client-certificate={pki / 'kubelet-client.crt'}",
        f"--kubelet-client-key={pki / 'kubelet-client.key'}",
        # The simulation serves the kubelets' API on loopback, which is the internal address of all
        # simulated nodes. Real nodes have internal addresses of their own.
        "--kubelet-preferred-address-types=InternalIP",
        *([f"--egress-selector-config-file={setup.egress}"] if setup.has_egress else []),
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki / 'service-accounts.pub'}",
        f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction,ExtendedResourceToleration",
        "--allow-privileged=true",
        f"--requestheader-client-ca-file={pki / 'front-proxy.crt'}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-username-headers=X-Remote-User",
        f"--proxy-client-cert-file={pki / 'front-proxy-client.crt'}",
        f"--proxy-client-key-file={pki / 'front-proxy-client.key'}",
        # The `kubernetes` Service needs no endpoints here: nothing runs inside the cluster.
        "--endpoint-reconciler-type=none",
        "--enable-bootstrap-token-auth",
        "--profiling=false",
        f"--audit-policy-file={setup.folder / 'audit-policy.yaml'}",
        f"--audit-log-path={setup.folder / 'audit.log'}",
        # Blocking, so that a request's record is there when its answer is; one file, so that
        # offsets stay valid.
        "--audit-log-mode=blocking",
        "--audit-log-maxsize=100000",
    ]


def controller_manager(setup: Setup) -> list[str]:
    """The controller manager with enough speed for a thousand nodes."""
    pki = setup.pki
    kubeconfig = setup.kubeconfig("kube-controller-manager")
    return [
        setup.programs["kube-controller-manager"],
        "--bind-address=127.0.0.1",
        f"--secure-port={setup.ports.controller_manager}",
        f"--tls-cert-file={pki / 'local.crt'}",
        f"--tls-private-key-file={pki / 'local.key'}",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--use-service-account-credentials",
        # The TTL controller rewrites every node whenever the cluster grows past 100, 500 or 1000;
        # nobody reads that.
        "--controllers=*,bootstrapsigner,tokencleaner,-ttl-controller",
        f"--service-account-private-key-file={pki / 'service-accounts.key'}",
        f"--root-ca-file={pki / 'kubernetes.crt'}",
        f"--client-ca-file={pki / 'kubernetes.crt'}",
        f"--requestheader-client-ca-file={pki / 'front-proxy.crt'}",
        f"--cluster-signing-cert-file={pki / 'kubernetes.crt'}",
        f"--cluster-signing-key-file={pki / 'kubernetes.key'}",
        # The simulation hands out pod addresses; ranges per node would run out.
        "--allocate-node-cidrs=false",
        f"--service-cluster-ip-range={SERVICE_RANGE}",
        "--leader-elect=false",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        # A sync looks at all nodes and starts again as long as pods change. One at a time takes in
        # more changes per sync: a third of the processor time of three at a time.
        "--concurrent-daemonset-syncs=1",
        # A thousand pods that become ready one by one are a thousand writes of a list of a thousand
        # addresses.
        "--endpoint-updates-batch-period=1s",
        "--endpointslice-updates-batch-period=1s",
        "--concurrent-job-syncs=10",
        f"--node-monitor-grace-period={NODE_GRACE_PERIOD}",
        "--profiling=false",
    ]


def scheduler(setup: Setup) -> list[str]:
    """The scheduler."""
    kubeconfig = setup.kubeconfig("kube-scheduler")
    return [
        setup.programs["kube-scheduler"],
        "--bind-address=127.0.0.1",
        f"--secure-port={setup.ports.scheduler}",
        f"--tls-cert-file={setup.pki / 'local.crt'}",
        f"--tls-private-key-file={setup.pki / 'local.key'}",
        f"--kubeconfig={kubeconfig}",
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--leader-elect=false",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--profiling=false",
    ]


def nfd_master(setup: Setup) -> list[str]:
    """NFD's master, which makes node labels of NodeFeature objects."""
    return [
        setup.programs["nfd-master"],
        f"-kubeconfig={setup.kubeconfig('nfd-master')}",
        f"-config={setup.folder / 'nfd-master.yaml'}",
        # It would listen on all interfaces, and nobody asks it anything. A number that is no port
        # leaves the server off; nfd-master notes that in its log and goes on.
        "-port=-1",
        # Every worker has its own client with 5 requests per second.
        "-nfd-api-parallelism=40",
    ]


def simulation(setup: Setup) -> list[str]:
    """The simulation of kubelets and operands, which is a part of this package."""
    return [
        sys.executable,
        "-m",
        "tests.cluster.simulation",
        f"--kubeconfig={setup.kubeconfig('simulation')}",
        f"--folder={setup.folder}",
        f"--port={setup.ports.simulation}",
        *([] if "nfd-master" in setup.programs.programs else ["--label-nodes"]),
        *(f"--real-node={setup.fleet.node_address(worker)}" for worker in setup.fleet.nodes),
        *(["--egress"] if setup.has_egress else []),
        *(["--instant"] if setup.instant else []),
        *(
            [f"--program={SCHEDULER_PLUGINS}={setup.programs[SCHEDULER_PLUGINS]}"]
            if SCHEDULER_PLUGINS in setup.programs.programs
            else []
        ),
    ]


def builds_api(setup: Setup) -> list[str]:
    """OpenShift's builds and image streams, likewise a part of this package."""
    return [
        sys.executable,
        "-m",
        "tests.cluster.builds_api",
        f"--kubeconfig={setup.kubeconfig('builds-api')}",
        f"--folder={setup.folder}",
        f"--port={setup.ports.builds_api}",
    ]


def environment(program: str) -> dict[str, str]:
    """What a program finds in its environment."""
    if program in OURS:
        return {}
    # A quarter of the processor time went into collecting garbage, and memory is cheaper: up to what
    # all of them may take together, since with 5,000 nodes it was more than 24 GiB.
    found = {"GOGC": "600", "GOMEMLIMIT": "6GiB"}
    if program == "nfd-master":
        # What it wants to know of its pod; the node must exist.
        found.update({"KUBERNETES_NAMESPACE": NFD_NAMESPACE, "NODE_NAME": CONTROL_PLANE_NODE})
    return found
