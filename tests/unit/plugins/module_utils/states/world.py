# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small world for the engine's tests: nodes, pods and DaemonSets as the API server would give
them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
    STATE_LABEL,
    VALIDATION_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    PlannedGroups,
    StatePlan,
)

Obj = dict[str, Any]

RECIPE = "demo"
NAMESPACE = "demo"
KERNEL = "6.1.0-1"
BOOT = "boot-1"
NOW = 1_800_000_000.0
GROUP = "group-1"


def node_object(
    name: str = "n1",
    ready: bool = True,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    allocatable: Mapping[str, str] | None = None,
    capacity: Mapping[str, str] | None = None,
    kernel: str = KERNEL,
    boot: str = BOOT,
    taints: Sequence[Obj] = (),
    metadata: Obj | None = None,
    ready_since: str | None = None,
) -> Obj:
    """One Node, as the API server gives it."""
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {"feature.node.kubernetes.io/kernel-version.full": KERNEL, **(labels or {})},
            "annotations": dict(annotations or {}),
            **(metadata or {}),
        },
        "spec": {"taints": list(taints)},
        "status": {
            "nodeInfo": {
                "kernelVersion": kernel,
                "bootID": boot,
                "osImage": "Debian 12",
                "architecture": "amd64",
            },
            "conditions": [
                {
                    "type": "Ready",
                    "status": "True" if ready else "False",
                    "message": "kubelet stopped",
                    "lastTransitionTime": ready_since,
                }
            ],
            "allocatable": dict(allocatable or {}),
            "capacity": dict(capacity or allocatable or {}),
        },
    }


def node(name: str = "n1", **given: Any) -> NodeFacts:
    """One node."""
    return NodeFacts.from_object(node_object(name, **given))


def daemonset(name: str, template_generation: int = 1, strategy: str = "RollingUpdate") -> Obj:
    """A DaemonSet that has settled, or, with another template generation, whose pods are all of the
    one before."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "generation": 1,
            "annotations": {"deprecated.daemonset.template.generation": str(template_generation)},
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {"updateStrategy": {"type": strategy}},
        "status": {
            "observedGeneration": 1,
            "desiredNumberScheduled": 1,
            "updatedNumberScheduled": 1 if template_generation == 1 else 0,
            "numberAvailable": 1,
            "numberReady": 1,
        },
    }


def pod(
    state: str,
    node_name: str = "n1",
    ready: bool = True,
    waiting: Obj | None = None,
    restarts: int = 0,
    exit_code: int | None = None,
    generation: int = 1,
) -> Obj:
    """A pod of a state's DaemonSet; its uid is made of what it is about."""
    status: Obj = {
        "name": "main",
        "ready": ready,
        "restartCount": restarts,
        "state": {"running": {}},
        "lastState": {},
    }
    if waiting:
        status["state"] = {"waiting": waiting}
    if exit_code is not None:
        status["lastState"] = {"terminated": {"exitCode": exit_code}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"{state}-{node_name}",
            "namespace": NAMESPACE,
            "uid": f"pod-{state}-{node_name}",
            "labels": {
                RECIPE_LABEL: RECIPE,
                STATE_LABEL: state,
                "pod-template-generation": str(generation),
            },
            "ownerReferences": [
                {
                    "kind": "DaemonSet",
                    "name": state,
                    "uid": f"uid-{state}",
                    "controller": True,
                }
            ],
        },
        "spec": {"nodeName": node_name},
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [status],
        },
    }


def validator(
    name: str, state: str, node_name: str = "n1", phase: str = "Succeeded", **status: Any
) -> Obj:
    """A validation pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "labels": {RECIPE_LABEL: RECIPE, VALIDATION_LABEL: state},
        },
        "spec": {"nodeName": node_name},
        "status": {"phase": phase, **status},
    }


def daemonset_key(name: str) -> ObjectKey:
    """A DaemonSet's key."""
    return ObjectKey("apps/v1", "DaemonSet", NAMESPACE, name)


def plan(
    name: str,
    requires: tuple[str, ...] = (),
    proofs: tuple[Proof, ...] = (Proof("rollout"),),
    unlocks: bool = True,
    gated: bool = True,
    timeout: float = 600.0,
    deployed: bool = True,
    workloads: tuple[ObjectKey, ...] = (),
) -> StatePlan:
    """A state that has one DaemonSet of its own name, unless it is not deployed, and other
    workloads."""
    key = daemonset_key(name)
    return StatePlan(
        name=name,
        requires=requires,
        proofs=proofs,
        timeout=timeout,
        groups=PlannedGroups(
            hashes={"": f"hash-{name}", GROUP: f"hash-{name}"},
            daemonsets={"": (key,)} if deployed else {},
        ),
        workloads=workloads,
        gated=gated,
        unlocks=unlocks,
        per_node=True,
    )


def with_groups(plan: StatePlan, **changed: Any) -> StatePlan:
    """The plan where something differs between groups of nodes: see PlannedGroups."""
    return replace(plan, groups=replace(plan.groups, **changed))
