# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node affinity: which nodes a pod may run on, as terms that are ORed, of expressions that are
ANDed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._json import Obj, elements, part

LabelSet = Mapping[str, "str | None"]

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def hardware_terms(
    label_sets: Sequence[LabelSet], group_terms: Sequence[Mapping[str, Any]], gates: Sequence[str]
) -> list[Obj]:
    """The nodes that have the hardware (any of the label sets), are in the group (any of its terms;
    no terms: every node) and carry all gate labels, whatever their value.

    A group's term by node name stands for itself: that node was found by the label sets.
    """
    opened = [{"key": gate, "operator": "Exists"} for gate in gates]
    terms = []
    for group_term in group_terms or ({},):
        if group_term.get("matchFields"):
            terms.append(
                _join(
                    {"matchFields": list(group_term["matchFields"])}, {"matchExpressions": opened}
                )
            )
            continue
        in_group = list(elements(group_term, "matchExpressions"))
        for wanted in label_sets:
            terms.append({"matchExpressions": [*_expressions(wanted), *in_group, *opened]})
    return terms


def held_terms(
    label_sets: Sequence[LabelSet],
    chosen: Mapping[str, str],
    group_terms: Sequence[Mapping[str, Any]],
    gates: Sequence[str],
) -> list[Obj]:
    """The nodes that carry our own labels (group_terms) and have lost all those of the hardware,
    but neither those that the user chose nodes by nor a gate: what runs there stays until the node
    has left."""
    lost: dict[str, set[str]] = {}
    for name, value in (
        (name, value)
        for labels in label_sets
        for name, value in labels.items()
        if name not in chosen
    ):
        lost.setdefault(name, set()).update(() if value is None else (value,))
    absent = [
        {"key": name, "operator": "NotIn", "values": sorted(values)}
        if values
        else {"key": name, "operator": "DoesNotExist"}
        for name, values in sorted(lost.items())
    ]
    opened = [{"key": gate, "operator": "Exists"} for gate in gates]
    return [
        {"matchExpressions": [*_expressions(chosen), *term["matchExpressions"], *absent, *opened]}
        for term in (group_terms if lost else ())
    ]


def node_terms(node: str) -> list[Obj]:
    """One node, by its name."""
    return [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]


def required_terms(pod_spec: Mapping[str, Any]) -> Sequence[Obj]:
    """The nodeSelectorTerms that a pod requires; none where it may run anywhere."""
    node_affinity = part(pod_spec, "affinity", "nodeAffinity")
    return elements(node_affinity.get(_REQUIRED) or {}, "nodeSelectorTerms")


def require(pod_spec: Obj, terms: Sequence[Obj]) -> None:
    """Restrict the pod to the terms, in addition to what it requires itself."""
    affinity = part(pod_spec, "affinity")
    node_affinity = part(affinity, "nodeAffinity")
    own = required_terms(pod_spec)
    both = [_join(first, second) for first in own for second in terms] if own else list(terms)
    required = {_REQUIRED: {"nodeSelectorTerms": both}}
    pod_spec["affinity"] = {**affinity, "nodeAffinity": {**node_affinity, **required}}


def _expressions(wanted: LabelSet) -> list[Obj]:
    return [
        {"key": name, "operator": "Exists"}
        if wanted[name] is None
        else {"key": name, "operator": "In", "values": [wanted[name]]}
        for name in sorted(wanted)
    ]


def _join(first: Mapping[str, Any], second: Mapping[str, Any]) -> Obj:
    joined = {}
    for key in ("matchExpressions", "matchFields"):
        entries = [*(first.get(key) or ()), *(second.get(key) or ())]
        if entries:
            joined[key] = entries
    return joined
