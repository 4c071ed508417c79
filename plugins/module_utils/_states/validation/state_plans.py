# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe and its rendered states to what validation has to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace

from ..._cluster.api_objects.labels import VALIDATOR_LABEL
from ..._cluster.api_objects.objects import ObjectKey, key_of
from ..._nodes.groups import NodeGroup
from ..._proofs.catalog import KINDS
from ..._proofs.declaration import Scope
from ..._recipes.loading.recipe import Recipe, State
from ..._recipes.render import RenderedState
from ..._recipes.requirements import Enabled, gating_states, required_states
from ..._recipes.templates.manifests import pod_template
from .phases import StatePlan

WORKLOADS = ("Deployment", "StatefulSet", "Job")


def make_plans(
    recipe: Recipe,
    enabled: Enabled,
    rendered: Mapping[str, RenderedState],
    without_image: Mapping[str, Mapping[str, str]],
    groups: Callable[[Sequence[str]], Sequence[NodeGroup]] = lambda _per: (),
    unproven: Set[str] = frozenset(),
) -> list[StatePlan]:
    """The plans of the states that have something to prove, in dependency order.

    without_image: state -> id of a finest group -> why nothing was found or built for it. groups:
    the groups by some facets, for the rows of a report. unproven: states that are planned although
    they have nothing to prove.

    States without proofs of their own (an image that was resolved, a disabled exporter) stand in
    nobody's way: who requires them waits for what they require. A required state of which
    everything was left out does: nothing of what others count on is there.
    """
    left_out = _left_out(recipe, rendered)
    requires = {
        name: _with(left_out, recipe, name, required_states(recipe, enabled, name))
        for name in recipe.states
    }
    # A disabled state that is proven has gates too: what it has left behind stands on them until it
    # goes.
    running = [item for item in rendered.values() if item.enabled or item.proofs]
    gates = {item.state: gating_states(recipe, enabled, item.state) for item in running}
    return [
        replace(
            _make_plan(
                state,
                rendered[state.name],
                requires,
                gates,
                running,
                without_image.get(state.name, {}),
            ),
            left_out=left_out.get(state.name, ""),
            rows=tuple(groups(state.per or ("kernel",))),
        )
        for state in recipe.states.values()
        if rendered[state.name].proofs or state.name in left_out or state.name in unproven
    ]


def _left_out(recipe: Recipe, rendered: Mapping[str, RenderedState]) -> dict[str, str]:
    """The states that others require and of which nothing can be deployed -> why, one sentence."""
    required = {
        name
        for state in recipe.states.values()
        if rendered[state.name].enabled
        for name in state.requires
    }
    found = {}
    for name in required:
        state = rendered[name]
        if state.enabled and state.skipped and not state.objects:
            apis = ", ".join(sorted({item.needs_api for item in state.skipped}))
            found[name] = f"nothing of it can be deployed, since the cluster does not serve {apis}"
    return found


def _with(
    left_out: Mapping[str, str], recipe: Recipe, name: str, required: Sequence[str]
) -> tuple[str, ...]:
    """The states that a state waits for, in the recipe's order, with those that it requires and
    that were left out."""
    found = {*required, *(each for each in recipe.states[name].requires if each in left_out)}
    return tuple(state for state in recipe.states if state in found)


def _make_plan(
    state: State,
    output: RenderedState,
    requires: Mapping[str, tuple[str, ...]],
    gates: Mapping[str, tuple[str, ...]],
    others: Sequence[RenderedState],
    without_image: Mapping[str, str],
) -> StatePlan:
    daemonsets: dict[str, list[ObjectKey]] = defaultdict(list)
    workloads: list[ObjectKey] = []
    for item in output.objects:
        key = key_of(item.manifest)
        if key.kind == "DaemonSet" and VALIDATOR_LABEL not in item.manifest["metadata"]["labels"]:
            for finest in [
                finest for finest, own in output.groups.items() if own == item.group and own
            ] or [""]:
                daemonsets[finest].append(key)
        elif key.kind in WORKLOADS:
            workloads.append(key)
    dependants = [other for other in others if state.name in gates[other.state]]
    # A state that others require is looked at on every node, since its label is what lets them
    # start there.
    per_node = (
        bool(state.per)
        or bool(daemonsets or dependants)
        or any(KINDS[proof.kind].scope_of(proof) is Scope.NODE for proof in output.proofs)
    )
    return StatePlan(
        name=state.name,
        requires=requires[state.name],
        proofs=output.proofs,
        timeout=float(state.timeout),
        hashes=dict(output.hashes),
        daemonsets={group: tuple(keys) for group, keys in daemonsets.items()},
        workloads=tuple(workloads),
        gated=bool(dependants),
        unlocks=any(
            pod_template(item.manifest) is not None
            for other in dependants
            for item in other.objects
        ),
        per_node=per_node,
        without_image=without_image,
        proofs_on=dict(output.proofs_on),
        own=dict(output.groups),
        off=frozenset(output.groups) - output.enabled_on,
    )
