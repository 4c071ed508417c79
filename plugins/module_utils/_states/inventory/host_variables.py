# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is to Ansible: the variables of its host, of plain dicts, lists and texts. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..._cluster.api_objects.labels import recipes_of
from ..._json import Obj, elements
from ..._nodes.facts import NodeFacts
from ..._nodes.pools import NODE_POOL_LABEL, NodePool
from ..._nodes.upgrade_marks import DONE, read_upgrade
from ..validation import node_marks
from ..validation.phases import Phase

ZONE_LABEL = "topology.kubernetes.io/zone"
# What those who make nodes call the set that they made one in; the first that a node has counts.
NODE_POOL_LABELS = (
    NODE_POOL_LABEL,
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "karpenter.sh/nodepool",
)
_PHASES = frozenset(phase.value for phase in Phase)


@dataclass(frozen=True)
class RecordFacts:
    """What a SpecialResource tells of its nodes. problems: by node, what keeps it from being ready,
    of the ten worst nodes."""

    pools: tuple[NodePool, ...] = ()
    problems: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def host_variables(
    node: Mapping[str, Any], features: Mapping[str, Any], records: Mapping[str, RecordFacts]
) -> Obj:
    """The variables of a Node object. features: of its NodeFeatures. records: by recipe."""
    facts = NodeFacts.from_object(node)
    labels = facts.labels
    system = facts.system
    return {
        "name": facts.name,
        "uid": facts.uid,
        "kernel": system.kernel,
        "kernel_group": system.kernel_group,
        "os": {"id": system.os_id, "version": system.os_version, "build": system.os_build},
        "architecture": system.arch,
        "container_runtime": {"name": system.runtime, "version": system.runtime_version},
        "boot_id": facts.boot_id,
        "addresses": _addresses(node),
        "labels": dict(labels),
        "taints": [dict(taint) for taint in facts.taints],
        "unschedulable": not facts.schedulable,
        "ready": facts.readiness.ready,
        "ready_message": facts.readiness.message,
        "capacity": dict(facts.capacity),
        "allocatable": dict(facts.allocatable),
        "zone": labels.get(ZONE_LABEL, ""),
        "node_pool": next((labels[name] for name in NODE_POOL_LABELS if labels.get(name)), ""),
        "features": dict(features),
        "recipes": {
            recipe: _recipe(facts, recipe, records.get(recipe, RecordFacts()))
            for recipe in recipes_of(labels)
        },
    }


def _addresses(node: Mapping[str, Any]) -> dict[str, list[str]]:
    """Type -> addresses, in the kubelet's order: of two families the first is the node's own."""
    found: dict[str, list[str]] = {}
    for entry in elements(node, "status", "addresses"):
        if entry.get("type") and entry.get("address"):
            found.setdefault(entry["type"], []).append(entry["address"])
    return found


def _recipe(facts: NodeFacts, recipe: str, record: RecordFacts) -> Obj:
    marks = node_marks.read(facts, recipe)
    phase, state = node_marks.split_summary(marks.summary)
    problem = record.problems.get(facts.name, {})
    upgrade = read_upgrade(facts.annotations, recipe)
    return {
        "phase": phase if phase in _PHASES else Phase.UNKNOWN.value,
        "state": state,
        "reason": str(problem.get("reason") or ""),
        "message": str(problem.get("message") or ""),
        "restarts_pending": list(marks.restarts),
        "upgrade": upgrade.phase if upgrade and upgrade.phase != DONE else "",
        "pool": next((pool.name for pool in record.pools if pool.has(facts.labels)), ""),
        "gates": marks.gates,
        "proofs": {name: asdict(proof) for name, proof in marks.proofs.items()},
        "vanished_since": marks.vanished or "",
    }
