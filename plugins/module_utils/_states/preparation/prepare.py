# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The common beginning of every core: the recipe checked, its options resolved, the states chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Optional

from ..._charts.recipe_reading import read_recipe
from ..._cluster.api_client.api_errors import UnknownKind
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import (
    ALLOCATION,
    KERNEL,
    RUNTIME,
    SYSTEM,
    fact_label,
    summary_label,
)
from ..._cluster.applyset import applyset_id
from ..._errors import InvalidInput
from ..._json import Obj, elements, part
from ..._nodes.device_allocation import DeviceAllocation
from ..._nodes.discovery import Discovery
from ..._nodes.expected_kernels import ExpectedKernel
from ..._nodes.grouping import Grouping
from ..._nodes.groups import NodeGroup, normal, odd_fact
from ..._nodes.pools import NodePool, parse_pools
from ..._nodes.taints import Taint
from ..._recipes.device_access import device_access
from ..._recipes.loading.instances import as_instance
from ..._recipes.loading.lookups import settled_for_all
from ..._recipes.loading.options import resolve, secret_texts
from ..._recipes.loading.recipe import DeviceAccess, Recipe, State
from ..._recipes.readiness.node_readiness import is_by_nodes, with_node_agent
from ..._recipes.readiness_rules import refuse_contradictions, with_readiness_rule
from ..._recipes.render import RenderFacts
from ..._recipes.requirements import node_label_sets
from ..._recipes.templates.render_facts import ClusterApi
from ..._runs.context import RunContext
from ..._schema.requests import ParameterGroup
from ..record import record_spec, record_store
from ..record.crd import GROUP, KIND
from ..record.versions import versions
from .intent import Intent, dropped, make_intent
from .recipe_request import RecipeRequest
from .runtime_facts import runtime_facts
from .tags import EVERYTHING, Tags

_COLLECTION = "that of the collection"
_FACTS = {"kernel": KERNEL, "os": SYSTEM, "runtime": RUNTIME}


@dataclass(frozen=True)
class Prepared:
    """A recipe with everything that a person may set (intent).

    The recipe's name is the instance's. versions: of the collection, the recipe and the driver, as
    far as they are known. record: as it stood when the task began. recipe_dir: where the recipe is,
    "" for the collection itself.
    """

    recipe: Recipe
    intent: Intent
    applyset_id: str
    versions: Mapping[str, str] = field(default_factory=dict)
    record: dict[str, Any] | None = None
    recipe_dir: str = ""

    @property
    def options(self) -> Mapping[str, Any]:
        """Those of all nodes."""
        return self.intent.options

    @property
    def pool_options(self) -> Mapping[str, Mapping[str, Any]]:
        """Pool -> its options, complete."""
        return self.intent.pool_options

    @property
    def namespace(self) -> str:
        """Where the recipe's own objects are."""
        return self.intent.namespace

    @property
    def namespaces(self) -> frozenset[str]:
        """Where its objects are, or were. What is elsewhere is not its own, whatever its labels say:
        anybody may write those in a namespace of theirs."""
        return frozenset({self.namespace, *record_spec.namespaces(self.record)})

    @property
    def pools(self) -> tuple[NodePool, ...]:
        """Nodes with options of their own."""
        return self.intent.pools

    @property
    def taints(self) -> tuple[Taint, ...]:
        """By which its nodes are partitioned."""
        return self.intent.taints

    @property
    def differences(self) -> tuple[str, ...]:
        """What is asked for otherwise than in the record, in words."""
        recorded = part(self.record or {}, "spec")
        before, now = str(recorded.get("recipeDir") or ""), self.recipe_dir
        moved = bool(recorded) and before != now
        places = f"recipe: {before or _COLLECTION} -> {now or _COLLECTION}"
        return (*([places] if moved else ()), *self.intent.differences)

    @property
    def edited(self) -> str:
        """Who has changed what the record asks for since a run has found that to be so, in words; ""
        for nobody."""
        metadata, status = part(self.record or {}, "metadata"), part(self.record or {}, "status")
        seen = status.get("observedGeneration")
        if not seen or seen == metadata.get("generation"):
            return ""
        writers = [
            entry
            for entry in elements(metadata, "managedFields")
            if not entry.get("subresource") and "f:spec" in part(entry, "fieldsV1")
        ]
        last: Obj = max(writers, key=lambda entry: str(entry.get("time")), default={})
        manager = str(last.get("manager") or "somebody")
        return f"{manager} at {last['time']}" if last.get("time") else manager

    @property
    def selector(self) -> Sequence[Mapping[str, str | None]]:
        """The label sets, any of which makes a node one of ours: the recipe's, with the user's
        node_selector."""
        return node_label_sets(self.recipe, self.options)

    @property
    def spec(self) -> dict[str, Any]:
        """What the record says was asked for."""
        return record_spec.make_spec(
            self.recipe,
            self.namespace,
            self.options,
            pools=self.pools,
            selector=self.selector,
            taints=self.taints,
            expected=self.intent.expected,
            recipe_dir=self.recipe_dir,
        )

    @property
    def facets(self) -> frozenset[str]:
        """By what any state's objects differ from node to node."""
        return frozenset(facet for state in self.recipe.states.values() for facet in state.per)

    @property
    def grouping(self) -> Grouping:
        """By what nodes are told apart; pools that are MachineConfigPools have yet to be looked up."""
        facets = self.facets | {"kernel"}
        return Grouping(
            finest=normal(tuple(facets)),
            pools=self.pools,
            preinstalled=self.recipe.nodes.preinstalled_driver,
            published={
                facet: fact_label(self.recipe.name, fact)
                for facet, fact in _FACTS.items()
                if facet in facets
            },
            allocation=self._allocation if "allocation" in facets else None,
            expected=self.intent.expected,
        )

    @property
    def _allocation(self) -> DeviceAllocation:
        """By which ways the devices may be served, and are to be."""
        recipe, option = self.recipe, self.recipe.devices.allocation
        usual, recorded = recipe.usual_allocation, part(self.record or {}, "spec")
        before = str(part(recorded, "options").get(option, usual))
        return DeviceAllocation(
            label=fact_label(recipe.name, ALLOCATION),
            ways=recipe.allocations,
            usual=usual,
            wanted={
                "": str(self.options[option]),
                **{pool: str(values[option]) for pool, values in self.pool_options.items()},
            },
            recorded={
                "": before,
                **{
                    str(pool.get("name")): str(part(pool, "options").get(option, before))
                    for pool in elements(recorded, "pools")
                },
            },
            mark=summary_label(recipe.name),
        )

    def expecting(self, kernels: Sequence[ExpectedKernel]) -> Prepared:
        """The same, for nodes that will run these kernels."""
        return replace(self, intent=replace(self.intent, expected=tuple(kernels)))

    @property
    def by_nodes(self) -> bool:
        """Whether nodes say themselves what is proven on them."""
        return is_by_nodes(self.options)

    @property
    def device_access(self) -> DeviceAccess:
        """What else than a request tells a user of the devices, in whatever pool."""
        return device_access(self.recipe, [self.options, *self.pool_options.values()])

    def serves(self, resource: str) -> bool:
        """Whether an extended resource is one of the recipe's."""
        return any(fnmatchcase(resource, pattern) for pattern in self.recipe.devices.resources)


def prepare(
    request: RecipeRequest,
    context: RunContext,
    client: Client | None,
    *,
    complete: bool = True,
    taints: Sequence[Mapping[str, Any] | str] | None = None,
) -> Prepared:
    """Recipe and options; the options, pools, taints and the namespace that are not given (None) are
    those of the record.

    client: None where there is no cluster, and so no record. complete: whether the options will be
    rendered. What is removed is found by its labels: nobody need know any more how it was enabled.
    What is given is checked before anything is sent: raises
    InvalidInput. The context learns what is secret.
    """
    if not request.bundle:
        raise InvalidInput(
            f"the recipe {request.recipe!r} has no files here",
            why="this module runs on another machine than the recipes, or without its action plugin",
            todo="set recipe_dir to a folder on that machine",
        )
    recipe = as_instance(read_recipe(request.bundle, request.recipe), request.instance)
    given = None
    if request.options is not None:
        given = resolve(recipe, request.options, complete=complete)
        context.secrets.update(secret_texts(recipe, given))
    if complete:
        parse_pools(request.pools)
    record = record_store.read(client, recipe.name) if client else None
    intent = make_intent(
        recipe,
        given,
        request.namespace,
        record,
        complete=complete,
        pools=request.pools,
        taints=taints,
    )
    for each in intent.pool_options.values():
        context.secrets.update(secret_texts(recipe, each))
    return Prepared(
        recipe=_with_options(recipe, intent) if complete else recipe,
        intent=intent,
        applyset_id=applyset_id(recipe.name, "", KIND, GROUP),
        versions=versions(recipe, intent.options) if complete else {},
        record=record,
        recipe_dir=_absolute(request.recipe_dir or ""),
    )


def refuse_dropped(prepared: Prepared, request: RecipeRequest, *, replace_all: bool) -> None:
    """Refuse what is given where the record has more, which a colleague may have set since.

    replace_all: whether somebody has said that what is given is all. Raises InvalidInput.
    """
    lost = dropped(prepared.recipe, prepared.record, request.options, request.pools)
    if replace_all or not lost:
        return
    raise InvalidInput(
        f"What is given for {prepared.recipe.name} leaves out {', '.join(lost)}",
        why="its record has that, and what is given replaces all of it",
        todo="give no options and no pools, and those of the record hold; or add what is left out; or, where it is to"
        " go, say that what is given is all (hardware_enablement_options_replace=true)",
    )


def _absolute(recipe_dir: str) -> str:
    """recipe_dir as it is understood in whatever folder."""
    recipe_dir = recipe_dir.removeprefix("file://")
    return recipe_dir if "://" in recipe_dir or not recipe_dir else str(Path(recipe_dir).absolute())


def _with_options(recipe: Recipe, intent: Intent) -> Recipe:
    found = settled_for_all(recipe, intent.options, intent.pool_options)
    with_agent = with_node_agent(found, intent.options, intent.pool_options)
    refuse_contradictions(intent.options, intent.pool_options)
    return with_readiness_rule(with_agent, intent.options)


def tell_differences(prepared: Prepared, context: RunContext) -> None:
    """Say what this run changes about what was asked for before, and who else has changed that; the
    task that looks at the cluster first does."""
    tell_edited(prepared, context)
    if prepared.differences:
        context.notice(
            f"{prepared.recipe.name} differs from its record: {'; '.join(prepared.differences)}"
        )


def tell_edited(prepared: Prepared, context: RunContext) -> None:
    """Say that the record asks for something else than a run has made so."""
    if prepared.edited:
        name = prepared.recipe.name
        context.notice(
            f"SpecialResource {name} was changed since the last run, by {prepared.edited}; what it asks for is"
            " in force once enable has run"
        )


@dataclass(frozen=True)
class StateChoice(ParameterGroup):
    """The states that are named, those of a role, or with neither all."""

    states: Optional[Sequence[str]] = None
    role: Optional[str] = None


def choose(
    recipe: Recipe, names: Sequence[str] | None, role: str | None, tags: Tags = EVERYTHING
) -> list[State]:
    """The states to work on, in dependency order: by name, by the role that runs them, or all that
    the tags leave."""
    unknown = [name for name in names or () if name not in recipe.states]
    if unknown:
        raise InvalidInput(
            f"recipe {recipe.name} has no state {', '.join(unknown)}",
            todo=f"name one of {', '.join(recipe.states)}",
        )
    return [
        state
        for state in recipe.states.values()
        if (names is None or state.name in names)
        and (role is None or state.role == role)
        and tags.selects(state)
    ]


def with_requirements(recipe: Recipe, chosen: Sequence[State]) -> list[State]:
    """The chosen states and all that they require, directly or not, in dependency order."""
    names = {state.name for state in chosen}
    for state in reversed(list(recipe.states.values())):
        if state.name in names:
            names.update(state.order.requires)
    return [state for state in recipe.states.values() if state.name in names]


def render_facts(
    prepared: Prepared,
    client: Client,
    discovery: Discovery,
    cluster: Mapping[str, Any],
    images: Mapping[str, str] | None,
) -> RenderFacts:
    """The facts that templates may use, with the API server behind the questions about kinds.

    cluster: facts of the cluster as platform.py finds them. images: what the user says, by group.
    """
    runtime = runtime_facts(
        client,
        prepared.recipe.source.format,
        str(cluster.get("platform")),
        prepared.namespace,
        record_spec.made_namespaces(prepared.record),
    )
    api = ClusterApi(partial(serves, client), partial(namespaced, client))
    return replace(facts_with(prepared, discovery, cluster, api), images=images, runtime=runtime)


def facts_with(
    prepared: Prepared, discovery: Discovery, cluster: Mapping[str, Any], api: ClusterApi
) -> RenderFacts:
    """The facts that follow from the nodes and from what is known of the cluster. Pure."""
    made: dict[tuple[str, ...], dict[str, NodeGroup]] = {}

    def coarse(group: NodeGroup, per: Sequence[str]) -> NodeGroup:
        facets = tuple(per)
        if facets not in made:
            own = {each.id: each for each in discovery.coarse(facets)}
            made[facets] = {
                finest.id: own[finest.narrowed(facets).id] for finest in discovery.node_groups
            } | own
        return made[facets][group.id]

    return RenderFacts(
        namespace=prepared.namespace,
        options=prepared.options,
        groups=_plausible(discovery.node_groups, prepared.facets),
        cluster=cluster,
        api=api,
        resolved={},
        applyset_id=prepared.applyset_id,
        coarse=coarse,
        pool_options=prepared.pool_options,
        usual_allocation=prepared.recipe.usual_allocation,
        taints=prepared.taints,
        driver_toolkits={
            **{
                each.os_build: each.driver_toolkit
                for each in prepared.intent.expected
                if each.driver_toolkit
            },
            **part(cluster, "driver_toolkits"),
        },
    )


def _plausible(groups: Sequence[NodeGroup], facets: Set[str]) -> Sequence[NodeGroup]:
    """The groups that something can be rendered for. One node with a fact that cannot be true costs
    the others nothing; where all nodes have such, whoever renders says so."""
    return [group for group in groups if not odd_fact(group.system, facets)] or groups


def serves(client: Client, api: str) -> bool:
    """Whether the cluster serves an API given as "group/version/Kind" ("version/Kind" for the core
    group)."""
    api_version, _slash, kind = api.rpartition("/")
    return client.serves(api_version, kind)


def namespaced(client: Client, api_version: str, kind: str) -> bool | None:
    """Whether a kind lives in namespaces; None where the cluster does not serve it."""
    try:
        return client.kind(api_version, kind).namespaced
    except UnknownKind:
        return None
