# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All virtual machines of a cluster: described, started together, rebooted."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from tests.cluster import processes
from tests.cluster.api import Api
from tests.cluster.commands import Setup
from tests.cluster.errors import ClusterError
from tests.cluster.kubeconfig import kubeconfig
from tests.cluster.kubelet import configuration
from tests.cluster.kubelet.fleet import PROFILE, describe
from tests.cluster.kubelet.model import Worker
from tests.cluster.kubelet.node import Wait
from tests.cluster.node_objects import is_usable
from tests.cluster.pki import Authority
from tests.cluster.vms.disk import Boot, Disk
from tests.cluster.vms.machine import API_NAME, HOST, Vm

_RUNC = "/usr/sbin/runc"
_CNI_PROGRAMS = "/usr/lib/cni"
_BRIDGE = "pods"


def start_vms(setup: Setup, cluster: str, disk: Disk, api: Api, wait: Wait) -> None:
    """Start all machines with the oldest kernel and come back when they are Ready and described to
    NFD."""
    boot = next(iter(disk.boots.values()))
    for worker in setup.fleet.vms:
        vm = Vm(setup.folder, worker.name)
        vm.make(disk, node_files(setup, cluster, worker))
        api.create("/api/v1/nodes", configuration.node_object(setup.fleet, worker))
        vm.start(boot, worker.ports[0])
    for worker in setup.fleet.vms:
        _wait_until_usable(Vm(setup.folder, worker.name), boot, worker, api, wait, before="")
        describe(api, worker.name, PROFILE)


def reboot_vm(vm: Vm, worker: Worker, disk: Disk, api: Api, wait: Wait, kernel: str) -> None:
    """Switch a machine off and on again with one of the disk's kernels; comes back when it is Ready."""
    if kernel not in disk.boots:
        raise ClusterError(
            f"{vm.name} has no kernel {kernel}: choose one of {', '.join(disk.boots)}."
        )
    before = api.get(f"/api/v1/nodes/{vm.name}")["status"]["nodeInfo"]["bootID"]
    vm.stop()
    vm.start(disk.boots[kernel], worker.ports[0])
    _wait_until_usable(vm, disk.boots[kernel], worker, api, wait, before=before)


def _wait_until_usable(
    vm: Vm, boot: Boot, worker: Worker, api: Api, wait: Wait, *, before: str
) -> None:
    """Until it is Ready in another boot than that one."""
    try:
        _wait_for_kubelet(vm, api, wait, before=before)
    except ClusterError as error:
        if vm.runs:
            raise
        # An emulated kernel was seen to panic before anything of the cluster ran on it.
        warnings.warn(f"{error}; it is started once more", stacklevel=1)
        processes.forget(vm.cluster_folder, vm.name)
        vm.start(boot, worker.ports[0])
        _wait_for_kubelet(vm, api, wait, before=before)
    wait(f"the node {vm.name}", partial(_is_usable, api, f"/api/v1/nodes/{vm.name}"))


def _wait_for_kubelet(vm: Vm, api: Api, wait: Wait, *, before: str) -> None:
    path = f"/api/v1/nodes/{vm.name}"
    wait(f"the console of {vm.name}", vm.console.answers)
    wait(
        f"the kubelet of {vm.name}",
        lambda: api.get(path)["status"].get("nodeInfo", {}).get("bootID", "") not in ("", before),
    )


def _is_usable(api: Api, path: str) -> bool:
    return is_usable(api.get(path))


def node_files(setup: Setup, cluster: str, worker: Worker) -> Mapping[str, bytes]:
    """What makes a machine this node of this cluster, by paths without the first slash."""
    authority = Authority(setup.pki, "kubernetes")
    address = setup.fleet.node_address(worker)
    serving = authority.server(worker.name, [worker.name, "localhost", "127.0.0.1", address])
    user = f"system:node:{worker.name}"
    client = kubeconfig(
        cluster=cluster,
        server=f"https://{HOST}:{setup.ports.apiserver}",
        authority=authority.certificate_file,
        user=user,
        pair=authority.client(user, ["system:nodes"]),
        # Its certificate knows no address of ours.
        server_name="localhost",
    )
    texts = {
        "containerd/config.toml": configuration.containerd(_RUNC, _CNI_PROGRAMS),
        "cni/net.d/10-pods.conflist": configuration.cni(setup.fleet, worker, _BRIDGE),
        # All of the machine is the node's; QEMU hands on what comes to its own address.
        "kubernetes/kubelet.yaml": configuration.kubelet(worker, "/", address="0.0.0.0"),  # noqa: S104
        "hosts": f"127.0.0.1 localhost {worker.name}\n{HOST} {configuration.REGISTRY_NAME} {API_NAME}\n",
        "hostname": f"{worker.name}\n",
        "machine-id": f"{uuid.uuid4().hex}\n",
        "resolv.conf": Path("/etc/resolv.conf").read_text(),
    }
    files = {f"etc/{name}": text.encode() for name, text in texts.items()}
    return {
        **files,
        "etc/kubernetes/kubelet.conf": client.encode(),
        "etc/kubernetes/pki/ca.crt": authority.certificate_file.read_bytes(),
        "etc/kubernetes/pki/kubelet.crt": serving.certificate,
        "etc/kubernetes/pki/kubelet.key": serving.key,
    }
