# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe and its rendered states to what validation has to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey, key_of
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.render import RenderedState
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.requirements import required_states
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.model import StatePlan
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.proofs.registry import KINDS

WORKLOADS = ("Deployment", "StatefulSet")


def make_plans(
    recipe: Recipe, enabled: Mapping[str, bool], rendered: Mapping[str, RenderedState], names: Sequence[str]
) -> list[StatePlan]:
    """The plans of the named states, in dependency order.

    States without proofs of their own (an image that was resolved, a disabled exporter) stand in nobody's way: who
    requires them waits for what they require.
    """
    plans = []
    for state in recipe.states.values():
        if state.name not in names:
            continue
        is_enabled = enabled[state.name]
        proofs = state.proofs(is_enabled)
        if not proofs:
            continue
        output = rendered.get(state.name)
        daemonsets: dict[str, list[ObjectKey]] = defaultdict(list)
        workloads: list[ObjectKey] = []
        for item in output.objects if output is not None and is_enabled else ():
            key = key_of(item.manifest)
            if key.kind == "DaemonSet":
                daemonsets[item.group].append(key)
            elif key.kind in WORKLOADS:
                workloads.append(key)
        per_node = bool(daemonsets) or any(KINDS[proof.kind].per_node and proof.kind != "rollout" for proof in proofs)
        dependants = [
            other
            for other in recipe.states.values()
            if enabled[other.name] and state.name in required_states(recipe, enabled, other.name)
        ]
        plans.append(
            StatePlan(
                name=state.name,
                enabled=is_enabled,
                requires=required_states(recipe, enabled, state.name),
                proofs=proofs,
                timeout=float(state.timeout),
                hashes=dict(output.hashes) if output is not None else {},
                daemonsets={group: tuple(keys) for group, keys in daemonsets.items()},
                workloads=tuple(workloads),
                gated=per_node and bool(dependants),
                unlocks=per_node and any(_starts_pods(rendered.get(other.name)) for other in dependants),
                per_node=per_node,
            )
        )
    return plans


def _starts_pods(rendered: RenderedState | None) -> bool:
    return rendered is not None and any(item.manifest.get("kind") == "DaemonSet" for item in rendered.objects)
