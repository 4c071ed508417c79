# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All real nodes of a cluster: prepared, started together, and cleared away."""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.cluster.api import Api, in_parallel
from tests.cluster.commands import Setup
from tests.cluster.errors import ClusterError
from tests.cluster.images import Image, ensure_image, ensure_tree
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.kubelet import cgroups, configuration, network
from tests.cluster.kubelet.model import Fleet, Worker, bridge_name, cgroup_name
from tests.cluster.kubelet.node import RealNode, Wait
from tests.cluster.node_objects import Machine, is_usable
from tests.cluster.nodes import publish_features
from tests.cluster.pki import Authority, write_secret
from tests.cluster.profiles import load_profile
from tests.cluster.programs import KUBELET_MODULES, Programs, Say, ensure_programs

# What real nodes are for NFD, unless somebody says otherwise.
PROFILE = "cpu-only"
# Where Debian's packages put them.
_RUNC = "/usr/sbin/runc"
_CNI_PROGRAMS = "/usr/lib/cni"


@dataclass(frozen=True)
class Parts:
    """What every real node is made of: layers of its root file system, the image of pods' first
    container, programs."""

    lower: Sequence[Path]
    pause: Image
    programs: Programs

    @classmethod
    def ensure(cls, say: Say) -> Parts:
        """All parts, made once, which takes minutes; ClusterError where real nodes cannot run."""
        if os.geteuid() != 0:
            raise ClusterError(
                "Real nodes need root (namespaces, mounts, a bridge): run it as root, or take none."
            )
        if not shutil.which("ip"):
            raise ClusterError("Real nodes need the program ip: run `apt-get install iproute2`.")
        return cls(
            ensure_tree("node", say),
            ensure_image("pause", say),
            ensure_programs(say, KUBELET_MODULES),
        )


def start_fleet(
    setup: Setup, cluster: str, fleet: Fleet, parts: Parts, api: Api, wait: Wait
) -> None:
    """Start all nodes and come back when they are Ready and described to NFD."""
    folder = setup.folder
    network.make_bridge(folder, fleet)
    cgroups.make(cgroup_name(folder), [worker.name for worker in fleet.workers])
    for worker in fleet.workers:
        write_files(setup, cluster, fleet, worker)
        api.create("/api/v1/nodes", configuration.node_object(fleet, worker))
    real = [RealNode(folder, worker.name) for worker in fleet.workers]
    start_nodes(real, parts, wait, images=[parts.pause])
    for node in real:
        wait(f"the node {node.name}", partial(_is_usable, api, node.name))
        describe(api, node.name, PROFILE)


def start_nodes(
    real: Sequence[RealNode],
    parts: Parts,
    wait: Wait,
    *,
    kernel: str = "",
    images: Sequence[Image] = (),
) -> None:
    """Boot machines, then start containerd and the kubelet in each; for first starts and for
    reboots."""
    for node in real:
        node.boot(parts.lower, parts.programs.programs, kernel)
    for node in real:
        wait(f"the machine of {node.name}", node.is_booted)
        node.start_containerd()
    for node in real:
        wait(f"containerd on {node.name}", node.has_containerd)
    in_parallel(
        lambda pair: pair[0].load(pair[1]), [(node, image) for node in real for image in images]
    )
    for node in real:
        node.start_kubelet()


def reboot_node(node: RealNode, parts: Parts, api: Api, wait: Wait, kernel: str) -> None:
    """Switch the node off and on again, with `kernel` for all its programs; comes back when it is
    Ready."""
    path = f"/api/v1/nodes/{node.name}"
    before = api.get(path)["status"]["nodeInfo"]["bootID"]
    node.stop()
    # A kubelet that finds cgroups of containers that are gone looks for them for 12 s.
    cgroup = cgroup_name(node.cluster_folder)
    cgroups.remove(f"{cgroup}/{node.name}")
    cgroups.make(cgroup, [node.name])
    start_nodes([node], parts, wait, kernel=kernel)
    wait(f"the node {node.name}", lambda: api.get(path)["status"]["nodeInfo"]["bootID"] != before)
    wait(f"the node {node.name}", partial(_is_usable, api, node.name))


def describe(api: Api, name: str, profile: str) -> None:
    """Tell NFD that a node is a machine of this profile, as its worker on the node would."""
    kernel = api.get(f"/api/v1/nodes/{name}")["status"]["nodeInfo"]["kernelVersion"]
    release = platform.freedesktop_os_release()
    publish_features(
        api, Machine(name, load_profile(profile), kernel, release["ID"], release["VERSION_ID"])
    )


def clear_fleet(folder: Path) -> None:
    """Remove what outlives the processes of a cluster's real nodes: their bridge and cgroups."""
    if os.geteuid() == 0:
        network.remove_bridge(folder)
        cgroups.remove(cgroup_name(folder))


def write_files(setup: Setup, cluster: str, fleet: Fleet, worker: Worker) -> None:
    """Write what the node finds in its /etc when it boots for the first time."""
    authority = Authority(setup.pki, "kubernetes")
    etc = RealNode(setup.folder, worker.name).folder / "changes" / "etc"
    bridge, cgroup = bridge_name(setup.folder), cgroup_name(setup.folder)
    texts = {
        "containerd/config.toml": configuration.containerd(_RUNC, _CNI_PROGRAMS),
        "cni/net.d/10-pods.conflist": configuration.cni(fleet, worker, bridge),
        "kubernetes/kubelet.yaml": configuration.kubelet(worker, f"/{cgroup}/{worker.name}"),
        "kubernetes/pki/ca.crt": authority.certificate_file.read_text(),
        "hosts": configuration.hosts(fleet),
        "hostname": f"{worker.name}\n",
        "machine-id": f"{uuid.uuid4().hex}\n",
        # Name servers for pods with dnsPolicy Default.
        "resolv.conf": Path("/etc/resolv.conf").read_text(),
    }
    for name, text in texts.items():
        file = etc / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name in ("containerd/certs.d", "cdi"):
        (etc / name).mkdir(exist_ok=True)
    serving = authority.server(worker.name, [worker.name, "localhost", "127.0.0.1"])
    (etc / "kubernetes/pki/kubelet.crt").write_bytes(serving.certificate)
    write_secret(etc / "kubernetes/pki/kubelet.key", serving.key)
    user = f"system:node:{worker.name}"
    write_kubeconfig(
        etc / "kubernetes/kubelet.conf",
        cluster=cluster,
        server=f"https://127.0.0.1:{setup.ports.apiserver}",
        authority=authority.certificate_file,
        user=user,
        pair=authority.client(user, ["system:nodes"]),
    )


def _is_usable(api: Api, name: str) -> bool:
    return is_usable(api.get(f"/api/v1/nodes/{name}"))
