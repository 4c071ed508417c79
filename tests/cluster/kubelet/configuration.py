# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pure: the files that a real node finds in its /etc. Why each unusual setting is there is said
next to it."""

from __future__ import annotations

import json
from typing import Any

from tests.cluster.kubelet.model import Fleet, Worker

SOCKET = "/run/containerd/containerd.sock"
PAUSE = "localhost/pause:1"
CDI_FOLDERS = ("/etc/cdi", "/run/cdi")
CERTS_FOLDER = "/etc/containerd/certs.d"
CNI_FOLDER = "/etc/cni/net.d"
REGISTRY_NAME = "registry.test"
# Where the certificates of the cluster lie in a node.
PKI_FOLDER = "/etc/kubernetes/pki"


def containerd(runc: str, cni_programs: str) -> str:
    """/etc/containerd/config.toml, version 3 (containerd 2)."""
    folders = ", ".join(f"'{folder}'" for folder in CDI_FOLDERS)
    return f"""version = 3
root = '/var/lib/containerd'
state = '/run/containerd'
# Kernel features and services that nothing here uses; each would only add a line of warning.
disabled_plugins = [
  'io.containerd.snapshotter.v1.blockfile', 'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper', 'io.containerd.snapshotter.v1.erofs',
  'io.containerd.snapshotter.v1.zfs', 'io.containerd.tracing.processor.v1.otlp',
  'io.containerd.internal.v1.tracing',
]

[grpc]
address = '{SOCKET}'

[plugins.'io.containerd.cri.v1.images']
snapshotter = 'overlayfs'

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '{PAUSE}'

[plugins.'io.containerd.cri.v1.images'.registry]
config_path = '{CERTS_FOLDER}'

[plugins.'io.containerd.cri.v1.runtime']
enable_cdi = true
cdi_spec_dirs = [{folders}]
# Without CAP_SYS_RESOURCE (containers as CI machines often lack it) no lower value can be set.
restrict_oom_score_adj = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['{cni_programs}']
conf_dir = '{CNI_FOLDER}'

[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'runc'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = '{runc}'
SystemdCgroup = false

# For kubectl exec and port-forward: on loopback, any port.
[plugins.'io.containerd.grpc.v1.cri']
stream_server_address = '127.0.0.1'
stream_server_port = '0'
"""


def registry_hosts(registry: str, mirror: str = "") -> str:
    """/etc/containerd/certs.d/REGISTRY/hosts.toml, next to ca.crt. mirror: who is asked instead."""
    server = f"https://{mirror or registry}"
    return f"server = '{server}'\n\n[host.'{server}']\nca = '{CERTS_FOLDER}/{registry}/ca.crt'\n"


def cni(fleet: Fleet, worker: Worker, bridge: str) -> str:
    """The one network of the pods: all nodes' pods on one bridge, each node with its own range of
    addresses.

    The bridge is no gateway to anywhere, so this needs neither IP forwarding nor iptables. Pods
    reach each other, the nodes' addresses and nothing else; what needs more uses hostNetwork.
    """
    first, last = fleet.pod_range(worker)
    network: dict[str, Any] = {
        "type": "bridge",
        "bridge": bridge,
        "isGateway": False,
        "ipMasq": False,
        "ipam": {
            "type": "host-local",
            "dataDir": "/run/cni/networks",
            "ranges": [
                [
                    {
                        "subnet": fleet.network,
                        "rangeStart": first,
                        "rangeEnd": last,
                        "gateway": fleet.gateway,
                    }
                ],
            ],
            "routes": [{"dst": "0.0.0.0/0"}],
        },
    }
    return json.dumps({"cniVersion": "1.0.0", "name": "pods", "plugins": [network]}, indent=2)


def kubelet(worker: Worker, cgroup_root: str, address: str = "127.0.0.1") -> str:
    """/etc/kubernetes/kubelet.yaml (JSON, which is YAML). address: where it listens."""
    port, health_port = worker.ports
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "address": address,
            "port": port,
            "readOnlyPort": 0,
            "healthzBindAddress": "127.0.0.1",
            "healthzPort": health_port,
            "tlsCertFile": f"{PKI_FOLDER}/kubelet.crt",
            "tlsPrivateKeyFile": f"{PKI_FOLDER}/kubelet.key",
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": f"{PKI_FOLDER}/ca.crt"},
            },
            "authorization": {"mode": "Webhook"},
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": cgroup_root,
            # On by default; machines with cgroup v1 are what many CI systems offer.
            "failCgroupV1": False,
            "failSwapOn": False,
            "enforceNodeAllocatable": [],
            "containerRuntimeEndpoint": f"unix://{SOCKET}",
            "resolvConf": "/etc/resolv.conf",
            "clusterDomain": "cluster.local",
            # A test's machine may be full, and its images are the ones that the test brought.
            "evictionHard": {
                "memory.available": "50Mi",
                "nodefs.available": "1%",
                "imagefs.available": "1%",
            },
            "imageGCHighThresholdPercent": 100,
            "makeIPTablesUtilChains": False,
            # Below 0 needs CAP_SYS_RESOURCE.
            "oomScoreAdj": 0,
            # Tests wait for what a node says of itself.
            "nodeStatusUpdateFrequency": "4s",
            "nodeStatusReportFrequency": "1m0s",
            "syncFrequency": "10s",
            "serializeImagePulls": False,
        },
        indent=2,
    )


def exclusive_cpus(reserved: str) -> dict[str, Any]:
    """The kubelet's settings with which pods get CPUs of their own; the reserved ones ("0", "0-1")
    go to nobody.

    reserved "" gives the settings for the opposite, which is the default.
    """
    if not reserved:
        return {
            "cpuManagerPolicy": None,
            "reservedSystemCPUs": None,
            "cpuManagerReconcilePeriod": None,
        }
    return {
        "cpuManagerPolicy": "static",
        "reservedSystemCPUs": reserved,
        "cpuManagerReconcilePeriod": "1s",
    }


def hosts(fleet: Fleet) -> str:
    """/etc/hosts of every node, hence of pods with hostNetwork: the registry's name is this
    machine's loopback."""
    lines = [f"127.0.0.1 localhost {REGISTRY_NAME}", "::1 localhost"]
    lines += [f"{fleet.node_address(worker)} {worker.name}" for worker in fleet.workers]
    return "\n".join(lines) + "\n"


def node_object(fleet: Fleet, worker: Worker) -> dict[str, Any]:
    """The Node before its kubelet registers.

    As on a cloud, where somebody else knows the addresses.
    """
    labels = {"kubernetes.io/hostname": worker.name, "kubernetes.io/os": "linux"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": worker.name, "labels": labels},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": fleet.node_address(worker)},
                {"type": "Hostname", "address": worker.name},
            ]
        },
    }
