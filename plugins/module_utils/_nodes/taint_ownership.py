# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints that a controller puts on nodes and takes off by itself, and what they tell of a node: that
it leaves, that it starts, or neither. Pure.

docs/admin/around-us.md has this list as a table. Sources: k8s.io/api/core/v1/well_known_taints.go,
k8s.io/cloud-provider/api, cluster-autoscaler/utils/taints, sigs.k8s.io/karpenter/pkg/apis/v1,
sigs.k8s.io/cluster-api/api, aws-node-termination-handler/pkg/node, medik8s' node-maintenance-operator
(controllers/taint.go), node-readiness-controller, istio/pilot/pkg/controllers/untaint, and what GKE,
AKS, Gardener, Cilium, AWS' CSI drivers and Node Feature Discovery document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from typing import Literal

from .._cluster.api_objects.labels import summary_label
from .._errors import InvalidInput
from .._times import seconds
from .facts import NodeFacts
from .taints import EXCHANGE, PENDING, QUARANTINE, Taint, taints_in

# Of a node that was never ready, the kubelet says so when it registers it: in the same moment, but
# for the rounding of both times.
_REGISTERING_S = 5.0
_SOFT = "PreferNoSchedule"
# What the taint of a NodeReadinessRule begins with.
READINESS_TAINT = "readiness.k8s.io/"
_ANY_DIGEST = "[0-9a-f]" * 8
_KEY = re.compile(r"[A-Za-z0-9*][A-Za-z0-9._/*-]*")
# The moment when cluster-autoscaler has put a taint, which is its value, in seconds since the epoch.
_MOMENT = re.compile(r"\d{10}")


class Transition(str, Enum):
    """What a taint tells of its node. STAYS: it is neither coming nor going, and the taint is put
    there again when a person takes it off."""

    LEAVES = "leaves"
    STARTS = "starts"
    STAYS = "stays"


# What a run makes of each, for the documentation.
MEANINGS: Mapping[Transition, str] = {
    Transition.LEAVES: "what does not hold there is `leaving`, and fails no run",
    Transition.STARTS: "what does not hold there is `starting`, and is waited for as long as the state may take",
    Transition.STAYS: "our pods that do not tolerate it fail, and nobody is advised to take it off",
}


@dataclass(frozen=True)
class ControllerTaint:
    """A taint that a controller puts and takes off. key, value: with * for any text; by: the
    controller, in words."""

    key: str
    node: Transition
    by: str
    value: str = "*"

    def __str__(self) -> str:
        return self.key if self.value == "*" else f"{self.key}={self.value}"

    def matches(self, taint: Taint) -> bool:
        """Whether a taint is of this key and value."""
        return fnmatchcase(taint.key, self.key) and fnmatchcase(taint.value, self.value)


@dataclass(frozen=True)
class ControllerTaintRequest:
    """One that a person names, see ControllerTaint."""

    key: str
    node: Literal["leaves", "starts", "stays"]
    by: str = ""


@dataclass(frozen=True)
class NodeTransition:
    """A node on its way. text: how that is known and who brings it about, in half a sentence. since:
    when it began, in seconds since the epoch, None where the node does not say."""

    transition: Transition
    text: str
    since: float | None = None

    @property
    def leaves(self) -> bool:
        """Whether it goes."""
        return self.transition is Transition.LEAVES


_LEAVES, _STARTS, _STAYS = Transition.LEAVES, Transition.STARTS, Transition.STAYS
_OURS = summary_label("*")
_CLOUD = "the cloud-controller-manager"
_PRESSURE = "Kubernetes' node lifecycle controller, until the kubelet has {} again"
CONTROLLER_TAINTS = (
    ControllerTaint("ToBeDeletedByClusterAutoscaler", _LEAVES, "cluster-autoscaler"),
    ControllerTaint("karpenter.sh/disrupted", _LEAVES, "Karpenter"),
    ControllerTaint("karpenter.sh/disruption", _LEAVES, "Karpenter before 1.0"),
    ControllerTaint("karpenter.sh/rebooting", _LEAVES, "Karpenter, which reboots the node"),
    ControllerTaint("aws-node-termination-handler/*", _LEAVES, "AWS Node Termination Handler"),
    ControllerTaint("cloud.google.com/impending-node-termination", _LEAVES, "GKE"),
    ControllerTaint(
        "remediator.kubernetes.azure.com/unschedulable", _LEAVES, "AKS' node repair or auto-drain"
    ),
    ControllerTaint("node.cloudprovider.kubernetes.io/shutdown", _LEAVES, _CLOUD),
    ControllerTaint(
        "node.kubernetes.io/out-of-service",
        _LEAVES,
        "who has declared the node dead: a person, the cloud's controller, or medik8s' operators",
    ),
    ControllerTaint("medik8s.io/drain", _LEAVES, "medik8s' node maintenance operator"),
    ControllerTaint("node.cloudprovider.kubernetes.io/uninitialized", _STARTS, _CLOUD),
    ControllerTaint("node.cluster.x-k8s.io/uninitialized", _STARTS, "Cluster API"),
    ControllerTaint("karpenter.sh/unregistered", _STARTS, "Karpenter"),
    ControllerTaint(
        "*/agent-not-ready",
        _STARTS,
        "the agent on the node that the key names: Cilium, the CSI drivers of AWS and Azure, and others",
    ),
    ControllerTaint("cni.istio.io/not-ready", _STARTS, "istiod, when istio-cni runs on the node"),
    ControllerTaint(
        "node.gardener.cloud/critical-components-not-ready", _STARTS, "Gardener's resource manager"
    ),
    ControllerTaint(
        f"{READINESS_TAINT}*", _STARTS, "node-readiness-controller, by a NodeReadinessRule"
    ),
    ControllerTaint(
        "startup-taint.cluster-autoscaler.kubernetes.io/*",
        _STARTS,
        "what the rest of the key names",
    ),
    ControllerTaint(
        "ignore-taint.cluster-autoscaler.kubernetes.io/*", _STARTS, "what the rest of the key names"
    ),
    ControllerTaint(
        "node.kubernetes.io/network-unavailable",
        _STARTS,
        "the cloud's route controller, or the CNI plugin",
    ),
    ControllerTaint(
        _OURS,
        _STAYS,
        "the run of enable that proves the special resource that the key names",
        PENDING,
    ),
    ControllerTaint(
        _OURS, _STARTS, "upgrade or remedy for the special resource that the key names", EXCHANGE
    ),
    ControllerTaint(
        _OURS,
        _STAYS,
        "the run that finds the special resource proven again that the key names",
        QUARANTINE,
    ),
    ControllerTaint("node.kubernetes.io/memory-pressure", _STAYS, _PRESSURE.format("memory")),
    ControllerTaint("node.kubernetes.io/disk-pressure", _STAYS, _PRESSURE.format("room on disk")),
    ControllerTaint("node.kubernetes.io/pid-pressure", _STAYS, _PRESSURE.format("process ids")),
    ControllerTaint(
        "status-taint.cluster-autoscaler.kubernetes.io/*", _STAYS, "what the rest of the key names"
    ),
    ControllerTaint(
        "feature.node.kubernetes.io/*", _STAYS, "Node Feature Discovery, by a NodeFeatureRule"
    ),
    ControllerTaint("kubernetes.azure.com/scalesetpriority", _STAYS, "AKS, on spot nodes"),
)


def parse_controller_taints(
    entries: Sequence[ControllerTaintRequest],
) -> tuple[ControllerTaint, ...]:
    """What a person names besides, before the list: the first that matches counts. Raises
    InvalidInput."""
    given: list[ControllerTaint] = []
    for entry in entries:
        if not _KEY.fullmatch(entry.key) or not entry.key.strip("*/."):
            raise InvalidInput(
                f"controller_taints has the key {entry.key!r}, which is none of a taint",
                why="it is a taint's key, such as example.com/agent-not-ready, in which * stands for any text",
                todo="correct it",
            )
        given.append(
            ControllerTaint(entry.key, Transition(entry.node), entry.by or "a controller of yours")
        )
    return (*given, *CONTROLLER_TAINTS)


def readiness_rule_name(recipe: str, digest: str) -> str:
    """The name of a special resource's NodeReadinessRule, and the rest of its taint's key, at most 63
    characters. digest: 8 hex digits of what the rule says."""
    return f"{recipe[:54]}-{digest}"


def without_own(recipe: str, known: Sequence[ControllerTaint]) -> tuple[ControllerTaint, ...]:
    """What is known, but that a special resource's own taints tell nothing of its nodes: its pods
    tolerate them, and it is its runs that take them off, or that say so in the condition by which
    node-readiness-controller does."""
    keys = (
        summary_label(recipe),
        f"{READINESS_TAINT}{readiness_rule_name(recipe, _ANY_DIGEST)}",
    )
    own = [ControllerTaint(key, Transition.STAYS, f"a run for {recipe}") for key in keys]
    return (*own, *known)


def owner_of(taint: Taint, known: Sequence[ControllerTaint]) -> ControllerTaint | None:
    """The controller that takes a taint off by itself; None where a person has to decide."""
    return next((entry for entry in known if entry.matches(taint)), None)


def transition_of(node: NodeFacts, known: Sequence[ControllerTaint]) -> NodeTransition | None:
    """Whether a node is on its way, and by whom; None where it is not. That it leaves counts more
    than that it starts."""
    found = list(_transitions(node, known))
    return next((each for each in found if each.leaves), found[0] if found else None)


def _transitions(node: NodeFacts, known: Sequence[ControllerTaint]) -> Iterator[NodeTransition]:
    if node.deleted is not None:
        text = "its Node object is being deleted, and waits for its finalizers"
        yield NodeTransition(Transition.LEAVES, text, node.deleted)
    for entry, taint in zip(node.taints, taints_in(node.taints), strict=True):
        # A soft taint keeps no pod off, as that of a mere candidate for removal.
        owner = owner_of(taint, known) if taint.effect != _SOFT else None
        if owner is not None and owner.node is not Transition.STAYS:
            since = seconds(entry.get("timeAdded")) or _moment(taint.value)
            text = f"it has the taint {taint.key}, which {owner.by} puts and takes off"
            yield NodeTransition(owner.node, text, since)
    if _was_never_ready(node):
        text = f"it was made and has not been ready yet ({node.readiness.message or 'its kubelet says no more'})"
        yield NodeTransition(Transition.STARTS, text, node.created)


def _moment(value: str) -> float | None:
    return float(value) if _MOMENT.fullmatch(value) else None


def _was_never_ready(node: NodeFacts) -> bool:
    """Whether a node is NotReady since it was registered; one whose kubelet fell silent is not."""
    if node.readiness.ready or node.created is None or node.readiness.since is None:
        return False
    return node.readiness.since - node.created <= _REGISTERING_S
