# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start and stop one cluster. What runs is written down in its folder, so that any later process
can stop it."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from pathlib import Path

import urllib3

from tests.cluster import commands, processes
from tests.cluster.api import Api
from tests.cluster.builds_api.registration import make_certificate, register
from tests.cluster.builds_api.stored import definitions
from tests.cluster.commands import CONTROL_PLANE_NODE, NFD_NAMESPACE, Ports, Setup
from tests.cluster.errors import ClusterError
from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.kubelet.egress import selector
from tests.cluster.kubelet.fleet import Parts, clear_fleet, reboot_node, start_fleet
from tests.cluster.kubelet.model import NO_FLEET, PORTS_EACH, Fleet, plan_fleet
from tests.cluster.kubelet.network import used_networks
from tests.cluster.kubelet.node import RealNode
from tests.cluster.limits import check_inotify
from tests.cluster.locks import locked
from tests.cluster.node_objects import control_plane_node, is_usable
from tests.cluster.objects import create_crds, create_objects, read_objects
from tests.cluster.paths import HERE, REPO, cluster_folder, clusters_folder
from tests.cluster.pki import Authority, make_cluster_pki
from tests.cluster.ports import chosen_ports, free_ports
from tests.cluster.processes import Process
from tests.cluster.programs import MODULES, NUMA_MODULES, Programs, Say, ensure_programs
from tests.cluster.vms.disk import Disk, ensure_disk
from tests.cluster.vms.fleet import reboot_vm, start_vms
from tests.cluster.vms.machine import Vm

_CLIENTS = ("kube-controller-manager", "kube-scheduler", "nfd-master", *commands.OURS)
_PATIENCE = 240.0
# An emulated machine on a busy one: 97 s were seen.
_VM_PATIENCE = 300.0
# How the lines begin by which a kernel of a virtual machine tells why it ends.
_KERNEL_ENDS = ("BUG: ", "Oops: ", "RIP: 0010:", "Kernel panic - ")
_ENDS_SHOWN = 4


@dataclass(frozen=True)
class Flavour:
    """What a cluster serves beyond Kubernetes itself."""

    openshift: bool = False
    monitoring_crds: bool = True
    # Real nodes, each with a kubelet and containerd.
    kubelets: int = 0
    # Virtual machines with kernels of their own, likewise.
    vms: int = 0
    # NFD's master; without it the simulation makes node labels of NodeFeature objects, which saves
    # building it.
    nfd: bool = True
    # The scheduler of scheduler-plugins for pods that run it, and kubelets of simulated nodes that
    # tell their configuration.
    numa: bool = False
    # Simulated operands start and end at once, which leaves what a run itself takes.
    instant: bool = False

    def __str__(self) -> str:
        parts = ["OpenShift's kinds" if self.openshift else "plain Kubernetes"]
        parts.append("monitoring CRDs" if self.monitoring_crds else "no monitoring CRDs")
        parts.append(f"{self.kubelets or 'no'} real nodes")
        if self.vms:
            parts.append(f"{self.vms} virtual machines")
        if not self.nfd:
            parts.append("no NFD master")
        if self.numa:
            parts.append("NUMA nodes")
        if self.instant:
            parts.append("operands that take no time")
        return ", ".join(parts)

    def programs(self, say: Say) -> Programs:
        """What such a cluster consists of; downloaded or built first where it is not there."""
        return ensure_programs(
            say,
            (*MODULES, *NUMA_MODULES) if self.numa else MODULES,
            without=() if self.nfd else ("nfd-master",),
        )


@dataclass(frozen=True)
class Record:
    """cluster.json: what was asked for, and the ports and addresses that it got."""

    name: str
    flavour: Flavour
    ports: Ports
    fleet: Fleet = NO_FLEET

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """The record in a cluster's folder; None if there is none that can be read."""
        try:
            document = json.loads((folder / "cluster.json").read_text())
            fleet = Fleet.from_document(document.get("fleet", asdict(NO_FLEET)))
            return cls(
                document["name"], Flavour(**document["flavour"]), Ports(**document["ports"]), fleet
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, folder: Path) -> None:
        """Write the record; the folder is made when missing."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "cluster.json").write_text(json.dumps(asdict(self), indent=2))


def up(name: str, flavour: Flavour, say: Say) -> Path:
    """Make sure that the cluster runs and return its folder.

    One that runs is left as it is; remains of one that does not are removed first. If the start
    fails, nothing stays behind but its logs.
    """
    folder = cluster_folder(name)
    programs = flavour.programs(say)
    parts = Parts.ensure(say) if flavour.kubelets else None
    disk = ensure_disk(say) if flavour.vms else None
    began = time.monotonic()
    with _cluster_lock(name, say):
        record = Record.read(folder)
        if record is not None and runs(folder):
            # One that has NFD's master does for those who need none.
            if record.flavour not in (flavour, replace(flavour, nfd=True)):
                raise ClusterError(
                    f"Cluster {name} runs already, but as {record.flavour} instead of {flavour}: "
                    "take it down first, or choose another name."
                )
            say(f"cluster {name} runs already at https://127.0.0.1:{record.ports.apiserver}")
            return folder
        if folder.exists():
            say(f"cluster {name} is only partly there: removing what is left of it")
            _stop(folder)
            shutil.rmtree(folder, ignore_errors=True)
        check_inotify(flavour.kubelets)
        try:
            _start(name, folder, flavour, programs, parts, disk)
        except BaseException:
            _stop(folder)
            raise
    say(
        f"cluster {name} is up after {time.monotonic() - began:.1f} s: export KUBECONFIG={folder / 'kubeconfig'}"
    )
    return folder


def down(name: str, say: Say) -> None:
    """Stop all that belongs to the cluster and remove its folder, whatever state it is in."""
    folder = cluster_folder(name)
    with _cluster_lock(name, say):
        count = _stop(folder)
        existed = folder.exists()
        shutil.rmtree(folder, ignore_errors=True)
    say(
        f"cluster {name} is down ({count} processes stopped)"
        if existed
        else f"there is no cluster {name}"
    )


def runs(folder: Path) -> bool:
    """True if every daemon that was started is alive and the API server says that it is ready."""
    if not (folder / "complete").exists() or not all(
        process.alive for process in processes.noted(folder)
    ):
        return False
    api = Api(folder / "kubeconfig")
    try:
        return api.ready()
    finally:
        api.close()


def stop_daemon(folder: Path, program: str) -> None:
    """Stop one daemon of a cluster, for tests that want to see what happens without it."""
    processes.stop(
        [process for process in processes.noted(folder) if process.program == program], patience=5
    )


def start_daemon(folder: Path, program: str) -> None:
    """Start a stopped daemon of a cluster again."""
    _starter_of(folder, print).start(program)


def reboot(folder: Path, name: str, kernel: str, api: Api, say: Say) -> None:
    """Reboot a real node of a cluster, see reboot_node and reboot_vm."""
    starter = _starter_of(folder, say)
    machines = {worker.name: worker for worker in starter.fleet.vms}
    if name in machines:
        wait = partial(starter.wait, patience=_VM_PATIENCE)
        reboot_vm(Vm(folder, name), machines[name], ensure_disk(say), api, wait, kernel)
    else:
        reboot_node(RealNode(folder, name), Parts.ensure(say), api, starter.wait, kernel)


def _starter_of(folder: Path, say: Say) -> _Starter:
    """Of the daemons of a cluster that is there; ClusterError where there is none."""
    record = Record.read(folder)
    if record is None:
        raise ClusterError(
            f"There is no cluster in {folder}: start one with `python -m tests.cluster up`."
        )
    return _Starter(_setup(folder, record, record.flavour.programs(say)))


def _setup(folder: Path, record: Record, programs: Programs) -> Setup:
    return Setup(folder, record.ports, programs, record.fleet, record.flavour.instant)


def _cluster_lock(name: str, say: Say) -> AbstractContextManager[None]:
    return locked(
        clusters_folder() / f".{name}.lock",
        on_wait=lambda: say(f"waiting: somebody else starts or stops {name}"),
    )


def _start(
    name: str,
    folder: Path,
    flavour: Flavour,
    programs: Programs,
    parts: Parts | None,
    disk: Disk | None,
) -> None:
    record = _reserve(name, folder, flavour)
    setup = _setup(folder, record, programs)
    starter = _Starter(setup)
    make_cluster_pki(setup.pki)
    _write_files(setup, name)
    starter.start("etcd")
    starter.start("kube-apiserver")
    if flavour.openshift:
        make_certificate(setup.pki)
        starter.start("builds-api")
        starter.wait("builds-api", partial(starter.healthy, "builds-api"))
    api = Api(folder / "kubeconfig")
    starter.wait("the API server", api.ready)
    if setup.has_egress:
        # By it the API server reaches whatever else it is to be filled with.
        starter.start("simulation")
    with ThreadPoolExecutor(2) as executor:
        # Filling the cluster and starting its controllers go side by side.
        filling = executor.submit(_fill, api, flavour, setup)
        starter.start("kube-controller-manager")
        starter.start("kube-scheduler")
        filling.result()
    if flavour.nfd:
        starter.start("nfd-master")
    if not setup.has_egress:
        starter.start("simulation")
    for program in ("kube-controller-manager", "kube-scheduler"):
        starter.wait(program, partial(starter.healthy, program))
    starter.wait("simulation", (folder / "simulation.json").exists)
    # Pods are refused in a namespace until the controller manager has made its default account.
    starter.wait("the default service account", lambda: _has_default_account(api))
    starter.wait(
        "the control-plane node", lambda: is_usable(api.get(f"/api/v1/nodes/{CONTROL_PLANE_NODE}"))
    )
    if parts is not None:
        start_fleet(setup, name, record.fleet, parts, api, starter.wait)
    if disk is not None:
        start_vms(setup, name, disk, api, partial(starter.wait, patience=_VM_PATIENCE))
    starter.check()
    api.close()
    (folder / "complete").touch()


def _reserve(name: str, folder: Path, flavour: Flavour) -> Record:
    """Choose ports and addresses that no other cluster has, and write them down at once."""
    with locked(clusters_folder() / ".ports.lock"):
        others = [record for path in clusters_folder().glob("*") if (record := Record.read(path))]
        count = len(fields(Ports))
        nodes = flavour.kubelets + flavour.vms
        ports = free_ports(count + nodes * PORTS_EACH, taken=chosen_ports())
        fleet = NO_FLEET
        if nodes:
            networks = [*used_networks(), *(other.fleet.network for other in others)]
            fleet = plan_fleet(name, ports[count:], networks, vms=flavour.vms)
        record = Record(name, flavour, Ports(*ports[:count]), fleet)
        record.write(folder)
    return record


class _Starter:
    """Starts the daemons of one cluster and notices when one of them ends too early."""

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._commands: dict[str, tuple[Callable[[Setup], list[str]], int | None]] = {
            "etcd": (commands.etcd, setup.ports.etcd),
            "kube-apiserver": (commands.apiserver, setup.ports.apiserver),
            "kube-controller-manager": (
                commands.controller_manager,
                setup.ports.controller_manager,
            ),
            "kube-scheduler": (commands.scheduler, setup.ports.scheduler),
            "nfd-master": (commands.nfd_master, None),
            "simulation": (commands.simulation, setup.ports.simulation),
            "builds-api": (commands.builds_api, setup.ports.builds_api),
        }
        self._pool = urllib3.PoolManager(ca_certs=str(setup.pki / "kubernetes.crt"), retries=False)

    @property
    def fleet(self) -> Fleet:
        return self._setup.fleet

    def start(self, program: str) -> None:
        command, port = self._commands[program]
        processes.start(
            program,
            command(self._setup),
            folder=self._setup.folder,
            port=port,
            environment=commands.environment(program),
            directory=REPO if program in commands.OURS else None,
        )

    def healthy(self, program: str) -> bool:
        port = self._commands[program][1]
        try:
            answer = self._pool.request("GET", f"https://127.0.0.1:{port}/healthz", timeout=2)
        except urllib3.exceptions.HTTPError:
            return False
        return answer.status == 200

    def check(self) -> None:
        for process in processes.noted(self._setup.folder):
            if not process.alive:
                log = self._setup.folder / "logs" / f"{process.program}.log"
                raise ClusterError(
                    f"{process.program} ended while the cluster started: {_how_it_ended(log)} (all of it in {log})"
                )

    def wait(
        self, what: str, condition: Callable[[], bool], *, patience: float = _PATIENCE
    ) -> None:
        deadline = time.monotonic() + patience
        while not condition():
            self.check()
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{what} was not ready within {patience:.0f} s: see the logs in {self._setup.folder / 'logs'}."
                )
            time.sleep(0.05)


def _how_it_ended(log: Path) -> str:
    """The last line, or what a kernel says of its own end, which comes before its registers."""
    lines = log.read_text(errors="replace").strip().splitlines() or ["(its log is empty)"]
    told = [line for line in lines if any(word in line for word in _KERNEL_ENDS)]
    return " / ".join(told[-_ENDS_SHOWN:]) or lines[-1]


def _write_files(setup: Setup, name: str) -> None:
    folder = setup.folder
    authority = Authority(setup.pki, "kubernetes")
    server = f"https://127.0.0.1:{setup.ports.apiserver}"
    masters = ["system:masters"]
    users = {
        program: (f"system:{program}", [] if program.startswith("kube-") else masters)
        for program in _CLIENTS
    }
    targets = {folder / "kubeconfig": ("admin", masters)}
    targets.update({Path(setup.kubeconfig(program)): user for program, user in users.items()})
    for file, (user, groups) in targets.items():
        write_kubeconfig(
            file,
            cluster=name,
            server=server,
            authority=authority.certificate_file,
            user=user,
            pair=authority.client(user, groups),
        )
    (folder / "nfd-master.yaml").write_text("{}\n")
    shutil.copy(HERE / "audit-policy.yaml", folder / "audit-policy.yaml")
    if setup.has_egress:
        setup.egress.write_text(json.dumps(selector(folder), indent=2))


def _fill(api: Api, flavour: Flavour, setup: Setup) -> None:
    """Definitions, namespaces and the control-plane node."""
    crds = setup.programs.objects("nfd-crds.json")
    if flavour.monitoring_crds:
        crds += read_objects(HERE / "crds" / "monitoring.yaml")
    if flavour.openshift:
        crds += [*read_objects(HERE / "openshift" / "crds.yaml"), *definitions()]
    create_crds(api, crds)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NFD_NAMESPACE}}
    create_objects(api, [namespace, control_plane_node()])
    if flavour.openshift:
        register(api, setup.ports.builds_api, setup.pki)
        instances = read_objects(HERE / "openshift" / "instances.yaml")
        # What the others lie in comes first.
        create_objects(api, [instance for instance in instances if instance["kind"] == "Namespace"])
        create_objects(api, [instance for instance in instances if instance["kind"] != "Namespace"])


def _has_default_account(api: Api) -> bool:
    return bool(
        api.get("/api/v1/namespaces/default/serviceaccounts?fieldSelector=metadata.name=default")[
            "items"
        ]
    )


def _stop(folder: Path) -> int:
    """Stop every process of the cluster; return how many there were.

    Looks again until nothing new is there: one that was being started when the tool was killed lets go of
    the tool's lock a moment before its environment can be read.
    """
    stopped: set[Process] = set()
    while found := _running(folder) - stopped:
        _stop_in_order(found)
        stopped |= found
    clear_fleet(folder)
    return len(stopped)


def _running(folder: Path) -> set[Process]:
    """Each live process of the cluster, noted or not, once."""
    found = {process.pid: process for process in processes.marked(folder)}
    found.update({process.pid: process for process in processes.noted(folder) if process.alive})
    return set(found.values())


def _stop_in_order(running: set[Process]) -> None:
    """Stop controllers, then the API server, etcd last: an API server whose etcd goes first hangs
    for minutes and keeps its port."""
    by_name = {"etcd": list[Process](), "kube-apiserver": list[Process](), "": list[Process]()}
    for process in running:
        by_name[process.program if process.program in by_name else ""].append(process)
    for program in ("", "kube-apiserver", "etcd"):
        processes.stop(by_name[program], patience=5)
