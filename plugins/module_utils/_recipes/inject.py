# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a manifest gets from us: who owns it, its namespace, the standard options, and on which
nodes its pods run.

Pure: each function returns a changed copy. Selectors are never touched."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._cluster.api_objects.labels import (
    DOMAIN,
    DRIVER_ANNOTATION,
    FIELD_MANAGER,
    GROUP_LABEL,
    MANAGED_BY_LABEL,
    PART_OF_LABEL,
    RECIPE_LABEL,
    STATE_LABEL,
    VALIDATION_LABEL,
)
from .._cluster.api_objects.objects import updates_on_delete
from .._errors import InvalidInput
from .._json import Obj, part
from .._nodes.node_affinity import NodeAffinity
from .._nodes.taints import Taint, operand_tolerations
from . import affinity
from .loading.standard import STANDARD
from .templates import pod_options
from .templates.manifests import group_of, pod_template, title, with_own_pods

# A cordoned node's driver is proven too: an upgrade does just that before it opens the node again.
_CORDONED: Obj = {
    "key": "node.kubernetes.io/unschedulable",
    "operator": "Exists",
    "effect": "NoSchedule",
}


@dataclass(frozen=True)
class Ownership:
    """What a manifest belongs to: a state of a recipe. group: id of a group of nodes, "" for all."""

    recipe: str
    state: str
    group: str
    applyset_id: str

    @property
    def labels(self) -> dict[str, str]:
        """The labels of objects and pods alike."""
        labels = {RECIPE_LABEL: self.recipe, STATE_LABEL: self.state}
        return {**labels, GROUP_LABEL: self.group} if self.group else labels

    @property
    def ownership(self) -> dict[str, str]:
        """The labels by which an object is found to be ours."""
        labels = {**self.labels, MANAGED_BY_LABEL: FIELD_MANAGER}
        return {**labels, PART_OF_LABEL: self.applyset_id} if self.applyset_id else labels


@dataclass(frozen=True)
class Placement:
    """Which nodes pods are kept to. label_sets: hardware and the user's node selector; chosen: what
    of them is the user's. gates: node labels that must be there. group_terms: nodeSelectorTerms of
    the group, none for all; held: the same by labels of ours, for nodes that have lost those of the
    hardware. anywhere: workloads that serve no node in particular may run on any.
    """

    label_sets: Sequence[Mapping[str, str | None]]
    chosen: Mapping[str, str]
    gates: Sequence[str]
    group_terms: Sequence[Mapping[str, Any]]
    held: Sequence[Mapping[str, Any]] = ()
    anywhere: bool = False

    def terms(self, *, holding: bool) -> list[Obj]:
        """The nodeSelectorTerms of pods. holding: also for nodes that have lost the hardware's labels
        while the pods run."""
        terms = affinity.hardware_terms(self.label_sets, self.group_terms, self.gates)
        if holding:
            terms += affinity.held_terms(self.label_sets, self.chosen, self.held, self.gates)
        return terms


@dataclass(frozen=True)
class Context:
    """For whom a manifest is made, and by which options. tolerations: for the hardware's taints,
    those that the nodes are partitioned by, and the user's."""

    owner: Ownership
    placement: Placement
    namespace: str
    namespaced: Callable[[str, str], bool | None]
    options: Mapping[str, Any]
    tolerations: Sequence[Obj]


def tolerations(
    recipe: str,
    resources: Sequence[str],
    taints: Sequence[Taint],
    options: Mapping[str, Any],
) -> list[Obj]:
    """What a recipe's pods tolerate, under these options. taints: those that the nodes are
    partitioned by."""
    return [*operand_tolerations(recipe, resources, taints), *options["tolerations"]]


def inject(manifest: Obj, context: Context) -> Obj:
    """The manifest as it is applied."""
    return place(add_metadata(manifest, context), context)


def add_metadata(manifest: Obj, context: Context) -> Obj:
    """The manifest with all that does not depend on which nodes there are: ownership, namespace,
    standard options."""
    if pod_template(manifest) is None:
        complete = {**manifest, "metadata": {**manifest["metadata"]}}
    else:
        complete, template = with_own_pods(manifest)
        if template is not complete:
            template["metadata"] = {**part(template, "metadata")}
            if updates_on_delete(manifest):
                _say_driver(template, context)
            _label(template["metadata"], context.owner.labels)
        _apply_options(template["spec"], context, daemonset=_is_daemonset(manifest))
    _label(complete["metadata"], context.owner.ownership)
    _set_namespace(complete, context)
    return complete


def place(manifest: Obj, context: Context) -> Obj:
    """The manifest with its pods kept to the nodes that they are for: those with the hardware and
    all gates."""
    is_daemonset = _is_daemonset(manifest)
    if pod_template(manifest) is None or (context.placement.anywhere and not is_daemonset):
        return manifest
    placed, template = with_own_pods(manifest)
    pod_options.add_tolerations(template["spec"], context.tolerations)
    # Only a DaemonSet's pods are taken off a node whose labels change.
    affinity.require(template["spec"], context.placement.terms(holding=is_daemonset))
    return placed


def own_affinity(manifest: Obj) -> NodeAffinity | None:
    """Which nodes the author of a DaemonSet wants its pods on, before they are placed; None for all.

    Labels of ours say what has come so far, not what is wanted: who waits for one is not kept off a
    node by it.
    """
    if not _is_daemonset(manifest):
        return None
    spec = (pod_template(manifest) or {})["spec"]
    own = NodeAffinity.of(spec).without(lambda label: label.startswith(f"{DOMAIN}/"))
    return None if own == NodeAffinity() else own


def add_pod_metadata(pod: Obj, context: Context, resource: str | None) -> Obj:
    """A validation pod, not yet pinned to a node. resource: the extended resource that it asks for.

    It is no member of the ApplySet, so that pruning never takes it, and gets no priority: it must
    not push a user's pod off a device.
    """
    if (pod["apiVersion"], pod["kind"]) != ("v1", "Pod"):
        raise InvalidInput("a workload proof needs a Pod", why=f"its file holds a {title(pod)}")
    pod_template(pod)  # refuses one without a spec
    complete, _same = with_own_pods(pod)
    spec = complete["spec"]
    _label(
        complete["metadata"],
        {
            **context.owner.labels,
            MANAGED_BY_LABEL: FIELD_MANAGER,
            VALIDATION_LABEL: context.owner.state,
        },
    )
    complete["metadata"]["namespace"] = context.namespace
    spec.setdefault("restartPolicy", "Never")
    _apply_options(spec, context)
    if resource:
        pod_options.add_request(spec, resource)
    return complete


def place_validator(pod: Obj, context: Context, node: str) -> Obj:
    """A validation pod pinned to a node, through the scheduler, which sees to room and devices."""
    placed, _same = with_own_pods(pod)
    pod_options.add_tolerations(placed["spec"], [*context.tolerations, _CORDONED])
    affinity.require(placed["spec"], affinity.node_terms(node))
    return placed


def _is_daemonset(manifest: Obj) -> bool:
    return manifest["kind"] == "DaemonSet" and group_of(manifest) == "apps"


def _say_driver(template: Obj, context: Context) -> None:
    """By what its author wrote and the state's environment: where a pod runs, its priority, proxy and
    pull secrets make no other driver of it. A template that says it itself knows better."""
    metadata = template["metadata"]
    annotations = part(metadata, "annotations")
    environment = context.options["env"].get(context.owner.state, {})
    made = json.dumps([template["spec"], annotations, environment], sort_keys=True)
    said = {DRIVER_ANNOTATION: hashlib.sha256(made.encode()).hexdigest()}
    metadata["annotations"] = {**said, **annotations}


def _label(metadata: Obj, labels: Mapping[str, str]) -> None:
    metadata["labels"] = {**part(metadata, "labels"), **labels}


def _set_namespace(manifest: Obj, context: Context) -> None:
    metadata = manifest["metadata"]
    namespaced = context.namespaced(manifest["apiVersion"], manifest["kind"])
    if namespaced and not metadata.get("namespace"):
        metadata["namespace"] = context.namespace
    elif namespaced is False and metadata.get("namespace"):
        raise InvalidInput(
            f"{title(manifest)} must not have a namespace",
            why=f"a {manifest['kind']} belongs to the whole cluster",
            todo="remove metadata.namespace from its template",
        )


def _apply_options(spec: Obj, context: Context, *, daemonset: bool = False) -> None:
    """Put the standard options into a pod's spec."""
    for name, entry in STANDARD.items():
        if entry.in_pods:
            entry.in_pods(spec, context.options[name], context.owner.state)
        if entry.in_daemonsets and daemonset:
            entry.in_daemonsets(spec, context.options[name], context.owner.state)
