# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that enabling a recipe needs: for its objects, and for what the engine does with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..._builds import choice, cluster_registries, credentials, prediction
from ..._builds.lookups import imagestream, key_lookup
from ..._cluster import events, lease
from ..._cluster.api_client import identity
from ..._cluster.api_client.rights import CLUSTER, OF_RECIPE, OPERANDS, READ, Right
from ..._cluster.api_objects.kinds import plural_of
from ..._events import cluster_watch
from ..._products import PRODUCTS
from ..._proofs.catalog import KINDS
from ..._proofs.proof import Proof
from ..._recipes.checking.api_types import ApiTypes
from ..._recipes.checking.made import Made
from ..._recipes.loading.recipe import Recipe, State
from ..._states import priority_classes, resource_removal
from ..._states.cleanup import foreign_objects
from ..._states.inventory import node_hosts
from ..._states.on_nodes import claiming_pods, holders, node_devices, node_patches, proven_condition
from ..._states.preparation import discover, foreign, platform, runtime_facts
from ..._states.record import record_store
from ..._states.validation import answers, mirror
from ..._upgrades import upgrade_survey
from .object_rights import object_rights

# What every run does, whatever the recipe, an inventory of the nodes, and the event source.
_ENGINE = (
    identity,
    lease,
    events,
    record_store,
    discover,
    node_patches,
    platform,
    mirror,
    answers,
    foreign,
    holders,
    priority_classes,
    resource_removal,
    foreign_objects,
    node_hosts,
    upgrade_survey,
    cluster_watch,
)
# What is done for a recipe beside enabling it.
_BESIDE = {product.recipe: product.rights for product in PRODUCTS}
_LOOKUPS = (credentials, cluster_registries, imagestream)
_BUILDS = (prediction, choice)


def needed_rights(
    recipe: Recipe,
    objects: Sequence[Made],
    types: ApiTypes,
    namespace: str,
    *,
    looked_up: Sequence[State],
    conditions: bool,
) -> list[Right]:
    """All rights of a recipe that makes these objects, some of them several times.

    looked_up: the states whose images are looked up or built. conditions: whether runs write
    conditions of nodes.
    """
    modules = [
        *_ENGINE,
        *((proven_condition,) if conditions else ()),
        *(_LOOKUPS if looked_up else ()),
        *(() if all(state.images.fallback for state in looked_up) else _BUILDS),
    ]
    found = [right for module in modules for right in module.RIGHTS]
    found += object_rights(objects, types, namespace)
    found += _of_recipe(recipe, objects, types)
    found += _BESIDE.get(recipe.source.name, ())
    named = {OF_RECIPE: recipe.name}
    return [
        replace(right, names=tuple(named.get(name, name) for name in right.names))
        for right in found
    ]


def _of_recipe(recipe: Recipe, objects: Sequence[Made], types: ApiTypes) -> Iterator[Right]:
    """What it looks for (rivals anywhere, and objects that proofs are about), and what its pods make
    and go with it."""
    for rival in recipe.devices.rivals:
        yield _of(rival.api_version, rival.kind, types, CLUSTER, ("list",))
    for made in recipe.removal.node_objects:
        yield _of(made.api_version, made.kind, types, CLUSTER, (*READ, "delete"))
    if any(state.images.key for state in recipe.states.values()):
        yield from key_lookup.RIGHTS
    if recipe.devices.access.dra_drivers:
        yield from claiming_pods.RIGHTS
    if recipe.devices.allocation:
        yield from node_devices.RIGHTS
    if recipe.source.format:
        asked = runtime_facts.RIGHTS.items()
        yield from (right for name, right in asked if recipe.source.format.reads(name))
    for proof in _proofs(recipe, objects):
        yield from _watched(proof, types)


def _proofs(recipe: Recipe, objects: Sequence[Made]) -> Iterator[Proof]:
    """All proofs of the recipe, whether its states are enabled or not."""
    for state in recipe.states.values():
        yield from state.proofs.all
    if recipe.source.format:
        yield from recipe.source.format.proofs([made.manifest for made in objects])


def _watched(proof: Proof, types: ApiTypes) -> Iterator[Right]:
    """What is watched for a proof, in whatever namespace it is."""
    kind = KINDS[proof.kind]
    for what in kind.watches(kind.settings_of(proof), ""):
        namespaced = types.namespaced(what.api_version, what.kind)
        scope = OPERANDS if namespaced and not what.namespace else CLUSTER
        yield _of(what.api_version, what.kind, types, scope, READ)


def _of(api_version: str, kind: str, types: ApiTypes, scope: str, verbs: tuple[str, ...]) -> Right:
    known = types.kind(api_version, kind)
    plural = known.plural if known else plural_of(kind)
    reads = tuple(verb for verb in verbs if verb in READ)
    return Right(api_version.rpartition("/")[0], (plural,), verbs, scope, read_only=reads)
