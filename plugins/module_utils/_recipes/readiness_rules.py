# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps a node unused until its devices are proven: NodeReadinessRules of sigs'
node-readiness-controller, which taints a node until a condition at it is True. Pure.

Source: kubernetes-sigs/node-readiness-controller v0.5.0, api/v1alpha1/nodereadinessrule_types.go: of a
rule's spec nothing can be changed, its selector is one label set, its taint begins with readiness.k8s.io/,
and no two rules may have the same taint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._cluster.api_objects.labels import summary_label
from .._errors import InvalidInput
from .._json import Obj, content_hash
from .._nodes.taint_ownership import READINESS_TAINT, readiness_rule_name
from .loading.options import refuse_differing
from .loading.recipe import OrderRules, Recipe, State, StateProofs

RULE_STATE = "node_readiness_rule"
OPTION = "node_readiness_rule"
NO_RULE = "none"
CONDITION_OPTION = "node_condition"
RULE_API = "readiness.node.x-k8s.io/v1alpha1/NodeReadinessRule"

LabelSets = Sequence[Mapping[str, "str | None"]]


def has_rule(options: Mapping[str, Any]) -> bool:
    """Whether the user wants nodes to be kept unused."""
    return bool(options["node_readiness_rule"] != NO_RULE)


def refuse_contradictions(
    options: Mapping[str, Any], pool_options: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise InvalidInput where rule and condition are not the same for all nodes, or the rule's taint
    would never go."""
    for name in (OPTION, CONDITION_OPTION):
        refuse_differing(name, options, pool_options, "what it asks for is the same on all nodes")
    if has_rule(options) and not options[CONDITION_OPTION]:
        raise InvalidInput(
            f"{OPTION} is {options[OPTION]}, but nothing would ever take the taint off the nodes",
            why=f"the rule reads a condition, and {CONDITION_OPTION} is false",
            todo=f"set {CONDITION_OPTION} to true as well",
        )


def with_readiness_rule(recipe: Recipe, options: Mapping[str, Any]) -> Recipe:
    """The recipe as these options have it: with one state more that holds the rules."""
    if not has_rule(options):
        return recipe
    if RULE_STATE in recipe.states:
        raise InvalidInput(
            f"recipe {recipe.source.name} cannot have the option {OPTION}",
            where=recipe.source.folder,
            why=f"it has a state {RULE_STATE} of its own, which this option adds",
            todo="rename that state",
        )
    rules = State(
        name=RULE_STATE,
        role="state",
        order=OrderRules(gates=False),
        proofs=StateProofs(timeout=60),
    )
    return replace(recipe, states={**recipe.states, RULE_STATE: rules})


def readiness_rules(recipe: str, options: Mapping[str, Any], label_sets: LabelSets) -> list[Obj]:
    """A rule for each label set of the hardware. Another spec is another rule, since none can be
    changed."""
    return [
        {
            "apiVersion": RULE_API.rpartition("/")[0],
            "kind": "NodeReadinessRule",
            "metadata": {"name": _name(recipe, options, labels)},
            "spec": {
                "conditions": [{"type": summary_label(recipe), "requiredStatus": "True"}],
                "taint": {"key": key, "effect": "NoSchedule", "value": "pending"},
                "enforcementMode": options[OPTION],
                "nodeSelector": _selector(labels),
            },
        }
        for labels, key in zip(label_sets, _keys(recipe, options, label_sets), strict=True)
    ]


def rule_tolerations(recipe: str, options: Mapping[str, Any], label_sets: LabelSets) -> list[Obj]:
    """What a recipe's own pods tolerate, which make the condition come true."""
    keys = _keys(recipe, options, label_sets) if has_rule(options) else ()
    return [{"key": key, "operator": "Exists", "effect": "NoSchedule"} for key in keys]


def _keys(recipe: str, options: Mapping[str, Any], label_sets: LabelSets) -> list[str]:
    return [f"{READINESS_TAINT}{_name(recipe, options, labels)}" for labels in label_sets]


def _name(recipe: str, options: Mapping[str, Any], labels: Mapping[str, str | None]) -> str:
    digest = content_hash([recipe, options[OPTION], dict(labels)])[:8]
    return readiness_rule_name(recipe, digest)


def _selector(labels: Mapping[str, str | None]) -> Obj:
    equal = {name: value for name, value in labels.items() if value is not None}
    exist = [{"key": name, "operator": "Exists"} for name, value in labels.items() if value is None]
    return {
        **({"matchLabels": equal} if equal else {}),
        **({"matchExpressions": exist} if exist else {}),
    }
