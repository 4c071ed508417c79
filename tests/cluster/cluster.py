# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster as tests and the command line see it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.cluster import audit, lifecycle, nodes
from tests.cluster.api import Api, in_parallel
from tests.cluster.dump import dump
from tests.cluster.errors import ClusterError
from tests.cluster.images import Image, ensure_image
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.kubelet import configuration
from tests.cluster.kubelet.fleet import describe
from tests.cluster.kubelet.node import RealNode
from tests.cluster.lifecycle import Flavour, Record
from tests.cluster.node_objects import Machine, parse_os
from tests.cluster.paths import cluster_folder
from tests.cluster.pki import Authority
from tests.cluster.profiles import load_profile
from tests.cluster.programs import Say, kubectl
from tests.cluster.vms.machine import API_NAME, Vm

ADMIN = "admin"
DEFAULT_KERNEL = "6.8.0-60-generic"
DEFAULT_OS = "ubuntu:24.04"
# User and namespace: its NodeFeatures are called like the nodes, as those are that `equip` makes.
FEATURE_WORKER = "nfd-worker"


# Of a program that ends within a moment, collecting garbage and several threads are a fifth of the
# processor time.
_BRIEF = {"GOGC": "off", "GOMAXPROCS": "1"}


def _quiet(_line: str) -> None:
    """Say nothing: what library callers want."""


class Cluster:
    """A running local cluster.

    Make one with `Cluster.up(name)` (starts it unless it runs) or `Cluster.attach(name)` (it must
    run). As a context manager it takes the cluster down at the end.
    """

    def __init__(self, name: str, say: Say = _quiet) -> None:
        self.name = name
        self.folder = cluster_folder(name)
        self._say = say

    @classmethod
    def up(
        cls,
        name: str,
        *,
        openshift: bool = False,
        monitoring_crds: bool = True,
        kubelets: int = 0,
        vms: int = 0,
        nfd: bool = True,
        numa: bool = False,
        instant: bool = False,
        say: Say = _quiet,
    ) -> Cluster:
        """Start the cluster; one of that name which runs already is left as it is.

        `kubelets` is the number of real nodes, NAME-worker-1 and so on; they need root, and `nfd`.
        `vms`: likewise of virtual machines, NAME-vm-1 and so on, see vms/README.md.
        `numa`: pods with the scheduler of scheduler-plugins run it.
        `instant`: simulated operands take no time.
        """
        flavour = Flavour(
            openshift=openshift,
            monitoring_crds=monitoring_crds,
            kubelets=kubelets,
            vms=vms,
            nfd=nfd,
            numa=numa,
            instant=instant,
        )
        lifecycle.up(name, flavour, say)
        return cls(name, say)

    @classmethod
    def attach(cls, name: str, *, say: Say = _quiet) -> Cluster:
        """A cluster that runs; ClusterError if it does not."""
        cluster = cls(name, say)
        cluster.record  # noqa: B018 - raises if it is not there
        return cluster

    def down(self) -> None:
        """Stop everything and remove the cluster's folder, logs included."""
        self.__dict__.pop("api", None)
        lifecycle.down(self.name, self._say)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.down()

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the user `admin` (group system:masters)."""
        return self.folder / "kubeconfig"

    @property
    def server(self) -> str:
        """URL of the API server."""
        return self.api.server

    @property
    def record(self) -> Record:
        """How the cluster was started, and its ports; ClusterError if it is gone."""
        record = Record.read(self.folder)
        if record is None:
            raise ClusterError(
                f"There is no cluster {self.name} in {self.folder.parent}: "
                f"start it with `python -m tests.cluster up --name {self.name}`."
            )
        return record

    @cached_property
    def api(self) -> Api:
        """The tool's own small client, as admin."""
        return Api(self.kubeconfig)

    def kubeconfig_for(self, user: str, groups: Sequence[str] = ()) -> Path:
        """Make a kubeconfig for any user; what the user may do is up to RBAC objects that the
        caller makes.

        A user name of its own finds a run's requests in `audit(user=...)`.
        """
        authority = Authority(self.folder / "pki", "kubernetes")
        file = self.folder / "users" / f"{user.replace('/', '_')}.yaml"
        return write_kubeconfig(
            file,
            cluster=self.name,
            server=self.server,
            authority=authority.certificate_file,
            user=user,
            pair=authority.client(user, groups),
        )

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """Run kubectl as admin and return what it prints; ClusterError with its message if it
        fails."""
        result = subprocess.run(
            [kubectl(self._say), f"--cache-dir={self.folder / 'kubectl-cache'}", *arguments],
            input=stdin,
            env={**os.environ, **_BRIEF, "KUBECONFIG": str(self.kubeconfig)},
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)} failed: {result.stderr.strip()}")
        return result.stdout

    def add_nodes(
        self,
        count: int,
        *,
        profile: str = "gpu-h100",
        kernel: str = DEFAULT_KERNEL,
        os: str = DEFAULT_OS,
        prefix: str | None = None,
        runtime: str = "containerd",
        timeout: float = 180,
    ) -> list[str]:
        """Add nodes PREFIX-1, PREFIX-2, ... (the prefix is the profile's name unless given); return
        their names.

        Comes back when all are Ready and carry NFD's labels; ClusterError if that takes longer than
        `timeout` seconds.
        """
        kind = load_profile(profile)
        os_id, os_version = parse_os(os)
        names = nodes.free_names(self.api, prefix or profile, count)
        machines = [Machine(name, kind, kernel, os_id, os_version, runtime) for name in names]
        nodes.add_nodes(
            self.api, machines, port=self.record.ports.simulation, say=self._say, timeout=timeout
        )
        return names

    @property
    def workers(self) -> list[str]:
        """Names of the real nodes, but for virtual machines."""
        return [worker.name for worker in self.record.fleet.workers]

    @property
    def vms(self) -> list[str]:
        """Names of the virtual machines."""
        return [worker.name for worker in self.record.fleet.vms]

    def vm(self, name: str) -> Vm:
        """One of the virtual machines, to run commands on its console."""
        if name not in self.vms:
            raise ClusterError(
                f"{name} is no virtual machine of {self.name}, they are: {', '.join(self.vms) or 'none'}."
            )
        return Vm(self.folder, name)

    def real_node(self, name: str) -> RealNode:
        """One of the real nodes, to look into it."""
        if name not in self.workers:
            raise ClusterError(
                f"{name} is no real node of {self.name}, they are: {', '.join(self.workers) or 'none'}."
            )
        return RealNode(self.folder, name)

    def load_image(self, name: str, *, nodes: Sequence[str] | None = None) -> Image:
        """Give an image of `images/recipes.py` to real nodes (all unless named); it is made first
        if need be."""
        image = ensure_image(name, self._say)
        in_parallel(
            lambda node: self.real_node(node).load(image), self.workers if nodes is None else nodes
        )
        return image

    def trust_registry(self, registry: str, authority: str) -> None:
        """Let all real nodes trust a registry ("registry.test:5000", which is loopback there) by
        its CA (PEM)."""
        for name in self.workers:
            self.real_node(name).trust(registry, authority)
        for name in self.vms:
            self.vm(name).trust(registry, authority)

    def equip(self, node: str, profile: str) -> None:
        """Let NFD say that a real node is a machine of that profile, with its devices; there are
        none, of course."""
        describe(self.api, node, profile)

    def discover_features(self, node: str) -> None:
        """Start NFD's worker on a real node, for files in its folder features.d; a reboot ends it,
        but on a virtual machine."""
        kubeconfig = self.kubeconfig_for(FEATURE_WORKER, ["system:masters"]).read_text()
        self.api.create("/api/v1/namespaces", {"metadata": {"name": FEATURE_WORKER}})
        if node in self.vms:
            address = f"https://{API_NAME}:{self.record.ports.apiserver}"
            there = kubeconfig.replace(self.server, address)
            self.vm(node).start_feature_worker(there, FEATURE_WORKER)
        else:
            self.real_node(node).start_feature_worker(kubeconfig, FEATURE_WORKER)

    def remove_nodes(self, *names: str) -> None:
        """Take nodes away with their NodeFeatures."""
        nodes.remove_nodes(self.api, names)

    def reboot(self, node: str, kernel: str) -> None:
        """The node boots another kernel: nodeInfo says so at once, its labels only after `relabel`.

        A real node takes seconds for it, and then `uname -r` says so, too, in its pods as well; its
        pods start again. A virtual machine does boot it.
        """
        if node in (*self.workers, *self.vms):
            lifecycle.reboot(self.folder, node, kernel, self.api, self._say)
        else:
            nodes.reboot(self.api, node, kernel)

    def relabel(self, node: str) -> None:
        """NFD looks at the node again; comes back when the node's kernel label is right."""
        nodes.relabel(self.api, node)

    def set_exclusive_cpus(self, node: str, reserved: str) -> None:
        """A real node gives pods CPUs of their own (static CPU manager), but for the reserved ones;
        "" ends that."""
        self.real_node(node).configure_kubelet(configuration.exclusive_cpus(reserved))

    def set_ready(self, node: str, ready: bool) -> None:
        """Make a node NotReady (its kubelet silent) or Ready again."""
        nodes.set_ready(self.api, node, ready)

    def mark(self) -> int:
        """A mark in the audit log, for `audit(since=...)`."""
        return audit.position(self.folder / "audit.log")

    def audit(self, *, user: str | None = None, since: int = 0) -> list[audit.Event]:
        """Audit events after the mark (`verb`, `objectRef`, `requestURI`, `user`,
        `responseStatus`), oldest first.

        Of the cluster's own components only changes are recorded, of everybody else everything.
        """
        return audit.events(self.folder / "audit.log", self.api, since=since, user=user)

    def dump(self) -> dict[str, dict[str, Any]]:
        """All objects but leases and events, as stored, by "GROUP/VERSION KIND NAMESPACE/NAME"."""
        return dump(self.api)

    def stop_daemon(self, program: str) -> None:
        """Stop one of the cluster's programs, to see what happens without it."""
        lifecycle.stop_daemon(self.folder, program)

    def start_daemon(self, program: str) -> None:
        """Start a stopped program again."""
        lifecycle.start_daemon(self.folder, program)
