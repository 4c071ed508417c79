# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe and its rendered states to what validation has to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence, Set
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
from .phases import PlannedGroups, StatePlan

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
    dependants = _dependants(recipe, enabled, rendered)
    return [
        replace(
            _make_plan(
                state,
                rendered[state.name],
                requires[state.name],
                dependants.get(state.name, ()),
                without_image.get(state.name, {}),
            ),
            left_out=left_out.get(state.name, ""),
            rows=tuple(groups(state.per or ("kernel",))),
        )
        for state in recipe.states.values()
        if rendered[state.name].proofs or state.name in left_out or state.name in unproven
    ]


def _dependants(
    recipe: Recipe, enabled: Enabled, rendered: Mapping[str, RenderedState]
) -> Mapping[str, Sequence[RenderedState]]:
    """State -> those whose pods wait for its gate. A disabled state that is proven has gates too:
    what it has left behind stands on them until it goes."""
    found: dict[str, list[RenderedState]] = defaultdict(list)
    for item in rendered.values():
        if item.enabled or item.proofs:
            for state in gating_states(recipe, enabled, item.state):
                found[state].append(item)
    return found


def _left_out(recipe: Recipe, rendered: Mapping[str, RenderedState]) -> dict[str, str]:
    """The states that others require and of which nothing can be deployed -> why, one sentence."""
    required = {
        name
        for state in recipe.states.values()
        if rendered[state.name].enabled
        for name in state.order.requires
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
    found = {*required, *(each for each in recipe.states[name].order.requires if each in left_out)}
    return tuple(state for state in recipe.states if state in found)


def _make_plan(
    state: State,
    output: RenderedState,
    requires: tuple[str, ...],
    dependants: Sequence[RenderedState],
    without_image: Mapping[str, str],
) -> StatePlan:
    """The plan of one state, by what is rendered for it. dependants: those that its gate is for."""
    daemonsets = _daemonsets(output)
    about_nodes = any(KINDS[proof.kind].scope_of(proof) is Scope.NODE for proof in output.proofs)
    return StatePlan(
        name=state.name,
        requires=requires,
        proofs=output.proofs,
        timeout=float(state.proofs.timeout),
        groups=PlannedGroups(
            hashes=dict(output.hashes),
            daemonsets=daemonsets,
            proofs=dict(output.proofs_on),
            own=dict(output.groups),
            off=frozenset(output.groups) - output.enabled_on,
            without_image=without_image,
            affinities={
                key_of(item.manifest): item.affinity for item in output.objects if item.affinity
            },
        ),
        workloads=tuple(_keys(output, WORKLOADS)),
        gated=bool(dependants),
        unlocks=any(_has_pods(other) for other in dependants),
        # A state that others require is looked at on every node, since its label is what lets them
        # start there.
        per_node=bool(state.per or daemonsets or dependants) or about_nodes,
    )


def _daemonsets(output: RenderedState) -> dict[str, tuple[ObjectKey, ...]]:
    """The DaemonSets that serve the nodes of each finest group; "": of every one."""
    members: dict[str, list[str]] = defaultdict(list)
    for finest, own in output.groups.items():
        members[own].append(finest)
    found: dict[str, list[ObjectKey]] = defaultdict(list)
    for item in output.objects:
        key = key_of(item.manifest)
        if key.kind == "DaemonSet" and VALIDATOR_LABEL not in item.manifest["metadata"]["labels"]:
            for finest in (item.group and members[item.group]) or [""]:
                found[finest].append(key)
    return {group: tuple(keys) for group, keys in found.items()}


def _keys(output: RenderedState, kinds: Collection[str]) -> list[ObjectKey]:
    keys = [key_of(item.manifest) for item in output.objects]
    return [key for key in keys if key.kind in kinds]


def _has_pods(output: RenderedState) -> bool:
    return any(pod_template(item.manifest) is not None for item in output.objects)
