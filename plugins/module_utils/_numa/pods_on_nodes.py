# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What of pods counts for NUMA: where they are, what they ask for, which scheduler they name. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._json import Obj, elements, part
from .._nodes.container_requests import amounts, asked_by, sidecars, staying
from .._proofs.snapshot import node_of
from .._times import seconds

# All that is kept of a Pod.
KEPT: Mapping[str, Any] = {
    "spec": {
        "nodeName": str,
        "schedulerName": str,
        "affinity": {},
        "overhead": {},
        "containers": [{"name": str, "image": str, "resources": {}}],
        "initContainers": [{"name": str, "restartPolicy": str, "resources": {}}],
    },
    "status": {
        "phase": str,
        "reason": str,
        "message": str,
        "qosClass": str,
        "startTime": str,
        "conditions": [{"type": str, "status": str, "reason": str, "message": str}],
    },
}
_GUARANTEED = "Guaranteed"


@dataclass(frozen=True)
class PodPlacement:
    """Where a pod is, and who places it. node: of a DaemonSet's pod, where it is meant to be; "" for
    nowhere yet."""

    node: str = ""
    is_bound: bool = False
    scheduler: str = "default-scheduler"


@dataclass(frozen=True)
class PodStatus:
    """How far a pod is. conditions: type -> (status, reason, message). started: seconds since the
    epoch."""

    phase: str = "Pending"
    reason: str = ""
    message: str = ""
    conditions: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    started: float | None = None

    @property
    def has_ended(self) -> bool:
        """Whether it holds nothing any more."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_ready(self) -> bool:
        """Whether all its containers and readiness gates are."""
        return self.conditions.get("Ready", ("",))[0] == "True"


@dataclass(frozen=True)
class PodResources:
    """What a pod asks for: of each container that stays. qos: its class. sidecars: those of them that
    are init containers. overhead: what its RuntimeClass adds."""

    qos: str = "BestEffort"
    requests: tuple[Mapping[str, float], ...] = ()
    sidecars: tuple[Mapping[str, float], ...] = ()
    overhead: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_guaranteed(self) -> bool:
        """Whether a kubelet may align it."""
        return self.qos == _GUARANTEED

    @property
    def of_sidecars(self) -> frozenset[str]:
        """The resources that a kubelet gives to sidecars of a guaranteed pod: not parts of CPUs."""
        return frozenset(
            name
            for requests in self.sidecars
            for name, amount in requests.items()
            if amount and (name != "cpu" or amount == int(amount))
        )

    @property
    def parts_of_cpus(self) -> tuple[float, ...]:
        """CPUs of containers that ask for parts of some, and so get none of their own."""
        amounts = (requests.get("cpu", 0.0) for requests in self.requests)
        return tuple(amount for amount in amounts if amount != int(amount))

    def has_exclusive(self, resources: frozenset[str]) -> bool:
        """Whether it has resources of its own, by the scheduler's rule (scheduler-plugins,
        pkg/noderesourcetopology/resourcerequests/exclusive.go)."""
        return any(
            _is_exclusive(self.qos, name, amount, resources)
            for requests in self.requests
            for name, amount in requests.items()
        )


@dataclass(frozen=True)
class NumaPod:
    """A pod."""

    namespace: str
    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    placement: PodPlacement = PodPlacement()
    status: PodStatus = PodStatus()
    resources: PodResources = PodResources()

    def __str__(self) -> str:
        return f"Pod {self.namespace}/{self.name}"

    @property
    def node(self) -> str:
        """Where it is, or is meant to be; "" for nowhere yet."""
        return self.placement.node

    @classmethod
    def from_object(cls, pod: Obj) -> NumaPod:
        """Of a Pod object, whole or as KEPT."""
        metadata, spec, status = pod["metadata"], part(pod, "spec"), part(pod, "status")
        return cls(
            namespace=metadata["namespace"],
            name=metadata["name"],
            labels=part(metadata, "labels"),
            placement=PodPlacement(
                node=node_of(pod) or "",
                is_bound=bool(spec.get("nodeName")),
                scheduler=spec.get("schedulerName") or "default-scheduler",
            ),
            status=_status(status),
            resources=PodResources(
                qos=status.get("qosClass") or "BestEffort",
                requests=tuple(map(asked_by, staying(spec))),
                sidecars=tuple(map(asked_by, sidecars(spec))),
                overhead=amounts(part(spec, "overhead")),
            ),
        )


def _status(status: Mapping[str, Any]) -> PodStatus:
    return PodStatus(
        phase=status.get("phase") or "Pending",
        reason=status.get("reason") or "",
        message=status.get("message") or "",
        conditions=_conditions(elements(status, "conditions")),
        started=seconds(status.get("startTime")),
    )


def _conditions(conditions: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, str, str]]:
    return {
        str(found.get("type")): (
            str(found.get("status", "")),
            str(found.get("reason") or ""),
            str(found.get("message") or ""),
        )
        for found in conditions
    }


def _is_exclusive(qos: str, name: str, amount: float, resources: frozenset[str]) -> bool:
    if "/" in name and "kubernetes.io/" not in name:
        return name in resources
    if qos != _GUARANTEED or amount <= 0:
        return False
    return (name == "cpu" and amount == int(amount)) or name == "memory" or is_hugepage(name)


def is_hugepage(resource: str) -> bool:
    """Whether a resource is huge pages of some size."""
    return resource.startswith("hugepages-")
