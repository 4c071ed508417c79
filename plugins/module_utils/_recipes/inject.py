# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a manifest gets from us: who owns it, its namespace, the standard options, and on which
nodes its pods run.

Pure: each function returns a changed copy. Selectors are never touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._cluster.api_objects.labels import (
    FIELD_MANAGER,
    GROUP_LABEL,
    MANAGED_BY_LABEL,
    PART_OF_LABEL,
    RECIPE_LABEL,
    STATE_LABEL,
    VALIDATION_LABEL,
)
from .._errors import InvalidInput
from .._json import Obj
from .._nodes.taints import Taint, operand_tolerations
from . import affinity
from .loading.standard import STANDARD
from .templates import pod_options
from .templates.manifests import copy_of, group_of, pod_template, title

# A cordoned node's driver is proven too: an upgrade does just that before it opens the node again.
_CORDONED: Obj = {
    "key": "node.kubernetes.io/unschedulable",
    "operator": "Exists",
    "effect": "NoSchedule",
}


@dataclass(frozen=True)
class Context:
    """For whom a manifest is made.

    group: id of a group of nodes, "" for all. gates: node labels that must be there. label_sets:
    hardware and the user's node selector. group_terms: nodeSelectorTerms of the group, none for
    all. held: the same by labels of ours, for nodes that have lost those of the hardware; chosen:
    those of label_sets that are the user's. resources: those of the recipe. anywhere: workloads
    that serve no node in particular may run on any. taints: those that the nodes are partitioned by.
    """

    recipe: str
    state: str
    group: str
    applyset_id: str
    namespace: str
    namespaced: Callable[[str, str], bool | None]
    options: Mapping[str, Any]
    resources: Sequence[str]
    label_sets: Sequence[Mapping[str, str | None]]
    group_terms: Sequence[Mapping[str, Any]]
    gates: Sequence[str]
    held: Sequence[Mapping[str, Any]] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    anywhere: bool = False
    taints: Sequence[Taint] = ()

    @property
    def tolerations(self) -> list[Obj]:
        """Tolerations for the hardware's taints, those that the nodes are partitioned by, and the
        user's."""
        ours = operand_tolerations(self.recipe, self.resources, self.taints)
        return [*ours, *self.options["tolerations"]]

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


def inject(manifest: Obj, context: Context) -> Obj:
    """The manifest as it is applied."""
    return place(add_metadata(manifest, context), context)


def add_metadata(manifest: Obj, context: Context) -> Obj:
    """The manifest with all that does not depend on which nodes there are: ownership, namespace,
    standard options."""
    complete: Obj = copy_of(manifest)
    _label(complete["metadata"], context.ownership)
    _set_namespace(complete, context)
    template = pod_template(complete)
    if template is not None:
        if template is not complete:
            template["metadata"] = template.get("metadata") or {}
            _label(template["metadata"], context.labels)
        _apply_options(template["spec"], context, daemonset=_is_daemonset(complete))
    return complete


def place(manifest: Obj, context: Context) -> Obj:
    """The manifest with its pods kept to the nodes that they are for: those with the hardware and
    all gates."""
    placed: Obj = copy_of(manifest)
    template = pod_template(placed)
    if template is None or (context.anywhere and not _is_daemonset(manifest)):
        return manifest
    spec = template["spec"]
    pod_options.add_tolerations(spec, context.tolerations)
    terms = affinity.hardware_terms(context.label_sets, context.group_terms, context.gates)
    if _is_daemonset(manifest):
        # Only their pods are taken off a node whose labels change.
        terms += affinity.held_terms(
            context.label_sets, context.chosen, context.held, context.gates
        )
    affinity.require(spec, terms)
    return placed


def add_pod_metadata(pod: Obj, context: Context, resource: str | None) -> Obj:
    """A validation pod, not yet pinned to a node. resource: the extended resource that it asks for.

    It is no member of the ApplySet, so that pruning never takes it, and gets no priority: it must
    not push a user's pod off a device.
    """
    if (pod["apiVersion"], pod["kind"]) != ("v1", "Pod"):
        raise InvalidInput("a workload proof needs a Pod", why=f"its file holds a {title(pod)}")
    complete: Obj = copy_of(pod)
    spec = (pod_template(complete) or complete)["spec"]
    _label(
        complete["metadata"],
        {**context.labels, MANAGED_BY_LABEL: FIELD_MANAGER, VALIDATION_LABEL: context.state},
    )
    complete["metadata"]["namespace"] = context.namespace
    spec.setdefault("restartPolicy", "Never")
    _apply_options(spec, context)
    if resource:
        pod_options.add_request(spec, resource)
    return complete


def place_validator(pod: Obj, context: Context, node: str) -> Obj:
    """A validation pod pinned to a node, through the scheduler, which sees to room and devices."""
    placed: Obj = copy_of(pod)
    pod_options.add_tolerations(placed["spec"], [*context.tolerations, _CORDONED])
    affinity.require(placed["spec"], affinity.node_terms(node))
    return placed


def _is_daemonset(manifest: Obj) -> bool:
    return manifest["kind"] == "DaemonSet" and group_of(manifest) == "apps"


def _label(metadata: Obj, labels: Mapping[str, str]) -> None:
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}


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
            entry.in_pods(spec, context.options[name], context.state)
        if entry.in_daemonsets and daemonset:
            entry.in_daemonsets(spec, context.options[name], context.state)
