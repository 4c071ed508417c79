# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether enable would take what an import writes: the recipe is rendered with it, for made-up nodes
of every pool. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .._charts.recipe_reading import read_recipe
from .._errors import InvalidInput
from .._nodes.groups import NodeGroup
from .._recipes.loading.lookups import is_looked_up, settled_for_all
from .._recipes.loading.options import resolve
from .._recipes.readiness.node_readiness import with_node_agent
from .._recipes.render import check_recipe, render_images
from .._recipes.requirements import node_label_sets
from .._recipes.sample import SAMPLE_GROUPS
from .._recipes.templates.render_facts import ClusterApi, RenderFacts
from .._states.preparation.intent import make_intent

_PLATFORM = {"platform": "kubernetes"}
_NAMESPACED = {"Namespace", "ClusterRole", "ClusterRoleBinding", "RuntimeClass"}


def refusal(
    bundle: Mapping[str, str],
    name: str,
    options: Mapping[str, Any],
    pools: Sequence[Mapping[str, Any]],
) -> InvalidInput | None:
    """Why the recipe of these files cannot be enabled so; None where it can.

    What only the cluster knows is not looked at: whether a node is in two pools, or an image exists.
    """
    try:
        _render(bundle, name, options, pools)
    except InvalidInput as error:
        return error
    return None


def _render(
    bundle: Mapping[str, str],
    name: str,
    options: Mapping[str, Any],
    pools: Sequence[Mapping[str, Any]],
) -> None:
    recipe = read_recipe(bundle, name)
    intent = make_intent(recipe, resolve(recipe, options), None, None, pools=pools)
    node_label_sets(recipe, intent.options)
    recipe = settled_for_all(recipe, intent.options, intent.pool_options)
    facts = RenderFacts(
        namespace=intent.namespace,
        options=intent.options,
        groups=_groups(["", *intent.pool_options]),
        cluster=_PLATFORM,
        coarse=_coarse,
        api=ClusterApi(lambda _api: False, lambda _version, kind: kind not in _NAMESPACED),
        applyset_id="",
        pool_options=intent.pool_options,
    )
    recipe = with_node_agent(recipe, intent.options, intent.pool_options)
    check_recipe(recipe, facts)
    # An image that is merely named has to be; which ones exist, a registry would have to say.
    for state in recipe.states.values():
        if not is_looked_up(state):
            render_images(recipe, state.name, replace(facts, resolved={}))


def _groups(pools: Sequence[str]) -> list[NodeGroup]:
    """A made-up group of nodes for each pool, and one outside of all."""
    sample = SAMPLE_GROUPS[0]
    return [
        replace(sample, id=f"{pool or 'others'}-sample", pool=pool, terms=(_term(pool),))
        for pool in pools
    ]


def _coarse(group: NodeGroup, per: Sequence[str]) -> NodeGroup:
    return replace(group.narrowed(per), terms=(_term(group.pool),))


def _term(pool: str) -> Mapping[str, Any]:
    expression = {"key": "example.com/pool", "operator": "In", "values": [pool or "others"]}
    return {"matchExpressions": [expression]}
