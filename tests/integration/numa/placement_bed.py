# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with NUMA nodes of any size, pods that ask for parts of them, and what became of these."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.cluster import Cluster, nodes
from tests.cluster.api import in_parallel
from tests.cluster.node_objects import Machine
from tests.cluster.profiles import load_profile
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.waiting import wait_until

Obj = dict[str, Any]

SCHEDULER = "topo-aware-scheduler"
NIC, GPU, FPGA = "example.com/nic", "example.com/gpu", "example.com/fpga"
EXPORTER = "topology-exporter"
TYPE_LABEL = "node.kubernetes.io/instance-type"
TAINT = {"key": "example.com/reserved", "value": "yes", "effect": "NoSchedule"}
TOLERATION = {"key": TAINT["key"], "operator": "Exists"}
# What the kubelets of a pool run: topology manager policy and scope. That of BARE has no exporter.
POOLS = {
    "pod": ("single-numa-node", "pod"),
    "container": ("single-numa-node", "container"),
    "best-effort": ("best-effort", "container"),
    "changing": ("single-numa-node", "pod"),
}
BARE = "bare"
# A runtime that takes CPUs for itself beside each pod.
HEAVY = "heavy"
_OVERHEAD = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": HEAVY},
    "handler": "runc",
    "overhead": {"podFixed": {"cpu": "8"}},
}
_RUNTIME_CLASSES = "/apis/node.k8s.io/v1/runtimeclasses"
_PODS = "/api/v1/namespaces/default/pods"


@dataclass(frozen=True)
class Zone:
    """One NUMA node: CPUs, GiB of memory and of huge pages of two sizes, devices of two kinds."""

    cpu: int
    memory: int = 64
    hugepages: int = 0
    nics: int = 0
    hugepages_1g: int = 0
    gpus: int = 0

    def amounts(self) -> dict[str, str]:
        return {
            "cpu": str(self.cpu),
            "memory": f"{self.memory}Gi",
            "hugepages-2Mi": f"{self.hugepages}Gi",
            "hugepages-1Gi": f"{self.hugepages_1g}Gi",
            NIC: str(self.nics),
            GPU: str(self.gpus),
        }


@dataclass(frozen=True)
class Host:
    """A node: its NUMA nodes, and the pool to which its kubelet belongs."""

    zones: Sequence[Zone]
    pool: str = "pod"
    tainted: bool = False

    def machine(self, name: str) -> Machine:
        """As the cluster makes nodes of. What all zones have is what pods may take, but for a CPU
        and 2 GiB for the exporter, whose pod has none for itself."""
        policy, scope = POOLS.get(self.pool, POOLS["pod"])
        kubelet = {
            "cpuManagerPolicy": "static",
            "memoryManagerPolicy": "Static",
            "topologyManagerPolicy": policy,
            "topologyManagerScope": scope,
        }
        zones = [zone.amounts() for zone in self.zones]
        profile = replace(
            load_profile("numa"),
            instance_type=self.pool,
            numa_nodes=1 if self.pool == BARE else len(zones),
            capacity={
                "cpu": str(sum(zone.cpu for zone in self.zones) + 1),
                "memory": f"{sum(zone.memory for zone in self.zones) + 2}Gi",
                "hugepages-2Mi": f"{sum(zone.hugepages for zone in self.zones)}Gi",
                "hugepages-1Gi": f"{sum(zone.hugepages_1g for zone in self.zones)}Gi",
                "ephemeral-storage": "10Gi",
                NIC: str(sum(zone.nics for zone in self.zones)),
                GPU: str(sum(zone.gpus for zone in self.zones)),
                # Of these nobody knows to which NUMA node they belong.
                FPGA: "1",
            },
            taints=(TAINT,) if self.tainted else (),
            simulation={"numa": json.dumps({"zones": zones, "kubelet": kubelet})},
        )
        return Machine(name, profile, "6.8.0-60-generic", "ubuntu", "24.04")


def guaranteed(cpu: str | int = 1, memory: str = "1Gi", **devices: str | int) -> Obj:
    """The resources of a container whose limits are its requests."""
    amounts = {"cpu": str(cpu), "memory": memory, **_devices(devices)}
    return {"requests": amounts, "limits": amounts}


def burstable(cpu: str | int, **devices: str | int) -> Obj:
    """The resources of a container that may take more than it asks for."""
    return {"requests": {"cpu": str(cpu), **_devices(devices)}, "limits": _devices(devices)}


def only(**devices: str | int) -> Obj:
    """The resources of a container that asks for devices or storage and nothing else."""
    return {"requests": _devices(devices), "limits": _devices(devices)}


def _devices(given: Mapping[str, str | int]) -> dict[str, str]:
    names = {
        "nic": NIC,
        "gpu": GPU,
        "fpga": FPGA,
        "hugepages": "hugepages-2Mi",
        "hugepages_1g": "hugepages-1Gi",
        "storage": "ephemeral-storage",
    }
    return {names[name]: str(amount) for name, amount in given.items()}


@dataclass(frozen=True)
class Want:
    """A pod: resources of its containers, and whatever else of its spec matters. sidecars: of init
    containers that stay. prefers: the node where it would rather be."""

    containers: Sequence[Obj]
    init: Sequence[Obj] = ()
    sidecars: Sequence[Obj] = ()
    prefers: str = ""
    scheduler: str = SCHEDULER
    spec: Obj = field(default_factory=dict)

    def pod(self, name: str, hosts: Sequence[str]) -> Obj:
        """The Pod, which may go to these nodes only."""
        affinity: Obj = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_named(hosts)]}
        }
        if self.prefers:
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": 100, "preference": _named([self.prefers])}
            ]
        stays = [{**each, "restartPolicy": "Always"} for each in _containers("side", self.sidecars)]
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "schedulerName": self.scheduler,
                "terminationGracePeriodSeconds": 0,
                "automountServiceAccountToken": False,
                "affinity": {"nodeAffinity": affinity},
                "initContainers": [*stays, *_containers("init", self.init)],
                "containers": _containers("app", self.containers),
                **self.spec,
            },
        }


def _named(hosts: Sequence[str]) -> Obj:
    term = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(hosts)}
    return {"matchExpressions": [term]}


def _containers(prefix: str, resources: Sequence[Obj]) -> list[Obj]:
    return [
        {"name": f"{prefix}-{number}", "image": "example.com/workload:1", "resources": each}
        for number, each in enumerate(resources)
    ]


@dataclass(frozen=True)
class Verdict:
    """What became of a pod: the node that it runs on, else why it does not."""

    node: str = ""
    why: str = ""


def verdict_of(pod: Obj) -> Verdict | None:
    """None as long as nobody has said anything of it."""
    status, node = pod["status"], pod["spec"].get("nodeName", "")
    if status["phase"] == "Running":
        return Verdict(node)
    if status["phase"] == "Failed":
        return Verdict(why=f"{status.get('reason')}: {status.get('message')}")
    if not node:
        for condition in status.get("conditions") or ():
            if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
                return Verdict(why=str(condition["message"]))
    return None


class Bed:
    """A cluster, the nodes that tests add to it, and pods in the namespace default."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.api = cluster.api
        self.api.create(_RUNTIME_CLASSES, _OVERHEAD)

    def add(self, hosts: Mapping[str, Host]) -> None:
        """Nodes by name; comes back when they are usable."""
        nodes.add_nodes(
            self.api,
            [host.machine(name) for name, host in hosts.items()],
            port=self.cluster.record.ports.simulation,
            say=print,
            timeout=120,
        )

    def bind(self, name: str, node: str, *containers: Obj) -> None:
        """A pod that is on a node without any scheduler."""
        spec = {"nodeName": node}
        want = Want(containers, scheduler="default-scheduler", spec=spec)
        self.api.create(_PODS, want.pod(name, [node]), missing_ok=False)

    def create(self, wanted: Mapping[str, tuple[Want, Sequence[str]]]) -> None:
        """Pods by name, each with the nodes that it may go to."""
        in_parallel(
            lambda entry: self.api.create(_PODS, entry[1][0].pod(entry[0], entry[1][1])),
            list(wanted.items()),
        )

    def start(self, name: str, want: Want, *hosts: str) -> None:
        """One pod, which may go to these nodes only."""
        self.create({name: (want, hosts)})

    def verdict(self, name: str) -> Verdict | None:
        """What became of a pod so far."""
        return verdict_of(self.api.get(f"{_PODS}/{name}"))

    def runs(self, name: str) -> str:
        """Wait until a pod runs; the node that it is on."""
        verdict = self._wait(name, lambda verdict: verdict.node != "" or "Affinity" in verdict.why)
        assert verdict.node, verdict
        return verdict.node

    def runs_on(self, name: str, node: str) -> None:
        """Wait until a pod runs, which has to be there; who has refused it may think again."""
        assert self.runs(name) == node

    def is_refused(self, name: str, why: str) -> None:
        """Wait until somebody refuses a pod, and says why."""
        verdict = self._wait(name, lambda verdict: why in verdict.why or verdict.node != "")
        assert (verdict.node, why in verdict.why) == ("", True), verdict

    def ends(self, name: str) -> None:
        """Wait until a pod has come to its end, as it should."""
        wait_until(
            lambda: self.api.get(f"{_PODS}/{name}")["status"]["phase"] == "Succeeded",
            f"{name} has ended",
        )

    def delete(self, name: str) -> None:
        """Take a pod away."""
        self.api.request("DELETE", f"{_PODS}/{name}", {"gracePeriodSeconds": 0})

    def deploy(
        self, name: str, want: Want, hosts: Sequence[str], replicas: int | None = None
    ) -> None:
        """A Deployment of such pods, or a DaemonSet where nobody says how many."""
        labels = {"app": name}
        spec: Obj = {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": want.pod(name, hosts)["spec"]},
        }
        kind = "DaemonSet" if replicas is None else "Deployment"
        if replicas is not None:
            # Pods that go make room for those that come.
            spec |= {"replicas": replicas, "strategy": {"type": "Recreate"}}
        self.api.create(
            f"/apis/apps/v1/namespaces/default/{kind.lower()}s",
            {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name}, "spec": spec},
        )

    def verdicts(self, app: str) -> dict[str, Verdict | None]:
        """What became of the pods of a Deployment or DaemonSet so far."""
        listed = self.api.get(f"{_PODS}?labelSelector=app%3D{app}")["items"]
        return {pod["metadata"]["name"]: verdict_of(pod) for pod in listed}

    def places(self, app: str) -> dict[str, int]:
        """How many of these pods run on each node; those that have been refused are under ""."""
        found = self.verdicts(app).values()
        return dict(Counter(verdict.node for verdict in found if verdict))

    def lag(self, node: str, seconds: float) -> None:
        """The node's exporter is late by that."""
        set_fault(self.cluster.kubeconfig, node, EXPORTER, "lag", seconds=seconds)

    def mute(self, node: str) -> None:
        """The node's exporter publishes nothing any more."""
        set_fault(self.cluster.kubeconfig, node, EXPORTER, "mute")

    def heal(self, node: str) -> None:
        """The node's exporter is well again."""
        clear_faults(self.cluster.kubeconfig, node)

    def _wait(self, name: str, done: Callable[[Verdict], bool]) -> Verdict:
        def found() -> Verdict | None:
            verdict = self.verdict(name)
            return verdict if verdict is not None and done(verdict) else None

        wanted: Verdict = wait_until(
            found, f"the verdict on {name}", instead=lambda: self.verdict(name)
        )
        return wanted
