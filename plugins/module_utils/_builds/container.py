# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of driver_container: for each group of nodes one image that fits.

Each group's image is looked up first, where the recipe says: in a registry, or on a node. What is not
there becomes an order to build, unless that may not be, or has failed before with the same inputs;
equal orders of several groups are built once, side by side. What was found, built or has failed is
written into the record, so that the next run asks for less. A group without an image is explained,
and holds up no other one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace

from .._cluster.api_client.client import Client, connect
from .._errors import InvalidInput
from .._json import Obj, part
from .._nodes.discovery import Discovery
from .._nodes.groups import NodeGroup
from .._recipes.fallback_image import images_before_building
from .._recipes.loading.lookups import is_looked_up
from .._recipes.loading.recipe import Recipe, State
from .._recipes.render import RenderFacts, check_recipe
from .._recipes.switches import is_enabled
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._states.preparation.discover import discovery_of
from .._states.preparation.prepare import (
    Prepared,
    choose,
    prepare,
    render_facts,
    tell_differences,
)
from .._states.preparation.shared import refuse_shared
from .._states.record import image_entries, record_spec, record_store
from .access import ImageAccess
from .build_request import DriverContainerRequest
from .builders.cluster import ClusterBuilder
from .builders.means import Means
from .choice import make_builder
from .environment import NamespaceSecrets, environment
from .fallback_builds import pulled_or_built
from .lookups.base import BaseLookup, KnownBases
from .memory import Remembered
from .orders import BuildOrder, Built, Found, Resolution, Source, build_key, order_name
from .outside import built_elsewhere
from .prediction import BuildPrediction
from .resolutions import Known, without
from .resolve import Find, Search
from .settings import BuildSettings, build_settings
from .state_search import StateSearch
from .streams import is_internal
from .wanted import BuildInputs

# What a recipe whose images are only named ends up with.
_NOTHING: Obj = {"changed": False, "images": [], "groups": [], "orders": [], "bases": {}}


def run(request: DriverContainerRequest, context: RunContext) -> Obj:
    """Find or build the images of the chosen states, and write down what was found."""
    client = connect(request.connection)
    return find_images(client, prepare(request.given, context, client), request, context)


def find_images(
    client: Client, prepared: Prepared, request: DriverContainerRequest, context: RunContext
) -> Obj:
    """The same, for a recipe that is prepared already."""
    chosen = choose(prepared.recipe, request.choice.states, request.choice.role)
    with_images = [state for state in chosen if is_looked_up(state)]
    if not with_images:
        return dict(_NOTHING)
    if not request.lookup.discovery:
        tell_differences(prepared, context)
    discovery, cluster = discovery_of(client, prepared, request.lookup.discovery)
    facts = render_facts(prepared, client, discovery, cluster, request.lookup.images)
    pace = request.build.pace
    _refuse_less_than_one(build_timeout=pace.build_timeout, parallel=pace.parallel)
    if prepared.record is None:
        refuse_shared(client, prepared, discovery)
    if prepared.pools:
        # An option that cannot differ between pools is found before anything is built.
        check_recipe(prepared.recipe, replace(facts, resolved=None))
    work = _ImageSearch(client, prepared, discovery, facts, request, context)
    if not request.wait:
        return work.run(with_images)
    with given_back(client, prepared.recipe.name, context):
        return work.run(with_images)


def _refuse_less_than_one(**given: int) -> None:
    for name, value in given.items():
        if value < 1:
            raise InvalidInput(f"{name} cannot be {value}", todo="set it to at least 1")


def groups_with_images(recipe: Recipe, discovery: Discovery) -> set[str]:
    """The ids of the groups for which any state has images, whether or not this task looks for
    these."""
    return {
        group.id
        for state in recipe.states.values()
        if state.images.are_known or state.images.fallback
        for group in discovery.coarse(state.per)
    }


class _ImageSearch:
    """One run of driver_container with everything that it works on."""

    def __init__(
        self,
        client: Client,
        prepared: Prepared,
        discovery: Discovery,
        facts: RenderFacts,
        request: DriverContainerRequest,
        context: RunContext,
    ) -> None:
        self.client = client
        self.prepared = prepared
        self.discovery = discovery
        self.record = prepared.record
        self.request = request
        self.context = context
        self.facts = facts
        self.guard = Guard(client, prepared.recipe.name, context)
        self.access = ImageAccess(client, prepared, request.build, context)
        self.orders: list[BuildOrder] = []
        # How images are looked up -> what is known of base images.
        self._bases: dict[str, KnownBases] = {}
        self.changed = False

    def run(self, chosen: Sequence[State]) -> Obj:
        """Resolve every chosen state; what has no image is explained, and does not hold up the
        rest."""
        found = {state.name: self._resolve(state) for state in chosen}
        rows = [
            _row(name, resolution)
            for name, resolutions in found.items()
            for resolution in resolutions
        ]
        images = image_entries.merge(
            self.record, rows, groups_with_images(self.prepared.recipe, self.discovery)
        )
        images = self._noted(images)
        result: Obj = {"changed": self.changed, "images": images, "groups": rows}
        result["orders"] = [order.to_dict() for order in self.orders]
        result["bases"] = self._found_bases
        # A registry that is down says the same for every kernel.
        problems = list(dict.fromkeys(row["problem"] for row in rows if row["problem"]))
        for problem in problems:
            self.context.progress(problem)
        has_image = any(row["image"] for row in rows)
        if problems and not has_image and not self._is_unasked(chosen):
            result.update(failed=True, msg=_failure_message(problems[0], len(rows)))
        return result

    @property
    def _found_bases(self) -> dict[str, str]:
        """The base images that are there, each with the same by its digest."""
        looked_up = (entry for known in self._bases.values() for entry in known.items())
        return {
            name: base.reference for (name, _arch), base in looked_up if isinstance(base, Found)
        }

    def _noted(self, images: Sequence[Obj]) -> list[Obj]:
        """The entries as the record has them from now on."""
        # What a build or a registry has said may quote a secret, and anybody may read the record.
        images = [
            {**entry, "problem": self.context.masked(entry.get("problem") or "")}
            for entry in images
        ]
        worth = any(entry["image"] or entry["inputs"] or entry.get("failed") for entry in images)
        if worth and images != image_entries.read(self.record):
            self.changed = True
            if not self.context.check_mode:
                self._remember(images)
        return images

    def _is_unasked(self, chosen: Sequence[State]) -> bool:
        """Whether check mode cannot know, since nodes are asked by pods, which it does not make."""
        return self.context.check_mode and "node" in {self._source(state) for state in chosen}

    @property
    def _builder_name(self) -> str:
        return self.request.build.builder.builder

    def _source(self, state: State) -> str:
        """From where a state's images are looked up."""
        return self.request.lookup.lookup_from or state.images.lookup

    def _resolve(self, state: State) -> list[Resolution]:
        settings = build_settings(self.request.build, self.prepared, state.name)
        groups = [group for group in self.discovery.coarse(state.per) if self._is_on(state, group)]
        find = self.access.find(self._source(state), settings, groups, self.guard.before_write)
        known = image_entries.by_group(self.record, state.name)
        if state.images.fallback:
            return self._with_fallback(state, groups, find, known)
        secrets = NamespaceSecrets(self.client, settings.scope.namespace)
        known_bases = self._bases.setdefault(self._source(state), {})
        bases = BaseLookup(find, known_bases, self.facts.driver_toolkits)
        inputs = BuildInputs(self.prepared.recipe, state, self.facts, bases.find, secrets)
        images = StateSearch(find, self.access.unsigned, known)
        for group in groups:
            images.search(group, inputs)
        possible = self._orders(state, images.searches.values(), settings, secrets)
        self._withhold(possible, images)
        orders = [order for order in possible if images.would_build(order)]
        in_use = images.builds_in_use(possible)
        for built in self._build(each_once(orders), in_use, settings, secrets):
            images.take(built, orders, self.context.clock())
        return list(images.found.values())

    def _with_fallback(
        self,
        state: State,
        groups: Sequence[NodeGroup],
        find: Find,
        known: Mapping[str, Known],
    ) -> list[Resolution]:
        """What the state's own objects build, where they would build something, and why."""
        found = []
        for group in groups:
            images = images_before_building(self.prepared.recipe, state, self.facts, group)
            if images:
                found.append(pulled_or_built(group, images, find, known.get(group.id) or {}))
        for each in found:
            if each.source is Source.BY_RECIPE and each.tried:
                self.context.progress(
                    f"{state.name} builds the image for kernel {each.kernel}: {each.tried[-1]}"
                )
        return found

    def _withhold(self, possible: Sequence[BuildOrder], images: StateSearch) -> None:
        """Give groups whose image may not be built now what they had before, and the reason."""
        for order in possible:
            if images.would_build(order):
                images.found[order.group] = self._may_build(order, images)

    def _may_build(self, order: BuildOrder, images: StateSearch) -> Resolution:
        """What an order's group has where it would be built now: that, or why it is not built."""
        found, entry = images.found[order.group], images.entry(order.group)
        remembered, again = Remembered.of(entry), self.request.build.pace.rebuild
        if remembered.forbids(order.key, self.context.clock()) and not again:
            return without(found, str(entry["problem"]), entry, remembered)
        if self._builder_name == "none":
            search = images.searches[order.group]
            search.tried.append("it may not be built (builder is none)")
            return without(found, search.no_image(), entry)
        return found

    def _orders(
        self,
        state: State,
        searches: Iterable[Search],
        settings: BuildSettings,
        secrets: NamespaceSecrets,
    ) -> list[BuildOrder]:
        """What could be built for the groups of nodes, whether or not it has to be."""
        options, registries = self.prepared.options, self.access.identity()
        names = [settings.push_secret, settings.entitlement_secret, *settings.pods.pull_secrets]
        owner = f"{self.prepared.recipe.name} {state.name}"
        found = []
        for wanted in (search.wanted for search in searches):
            build = wanted.build
            if build:
                used = [*names, *build.secrets.all]
                surroundings = environment(self.request.build, options, registries, used, secrets)
                key = build_key(build.target, wanted.inputs, surroundings)
                name = order_name(owner, wanted.group, key)
                found.append(
                    BuildOrder(name, wanted.group, build.target, build.inputs, key, build.secrets)
                )
        return found

    def _is_on(self, state: State, group: NodeGroup) -> bool:
        """A state that is disabled for these nodes asks for no image."""
        recipe = self.prepared.recipe
        return is_enabled(recipe, state, self.facts, group, recipe.source.templates)

    def _build(
        self,
        orders: Sequence[BuildOrder],
        in_use: Sequence[str] | None,
        settings: BuildSettings,
        secrets: NamespaceSecrets,
    ) -> list[Built]:
        """Have the orders built; where somebody else does that, they are handed out.

        in_use: the names of all builds that some group needs; what is left of others is removed.
        None: not known.
        """
        self.changed = self.changed or bool(orders)
        if self.context.check_mode:
            return self._would_build(orders, settings, secrets)
        if self._builder_name == "none":
            return []
        if self._builder_name == "controller":
            ended = built_elsewhere(orders, self.request.lookup.outcomes)
            self.orders += [
                order for order in orders if order not in [built.order for built in ended]
            ]
            return ended
        builder = self._builder(settings, secrets)
        if in_use is not None and builder.remove_others(in_use):
            self.changed = True
        if not orders:
            return []
        return builder.build(orders, self.context.progress)

    def _would_build(
        self, orders: Sequence[BuildOrder], settings: BuildSettings, secrets: NamespaceSecrets
    ) -> list[Built]:
        """What is already known to fail; the other orders would be built."""
        refused: list[Built] = []
        if orders and self._builder_name not in ("none", "controller"):
            builder = self._builder(settings, secrets)
            builder.prepare(orders)
            # Before a first run nothing is there, the namespace included.
            if self.client.get(self.client.kind("v1", "Namespace"), settings.scope.namespace):
                refused = [
                    Built(order, failure)
                    for order in orders
                    if (failure := builder.foreseen(order) or builder.refused(order))
                ]
        for order in orders:
            if order not in [built.order for built in refused]:
                self.context.progress(f"{order.title}: would be built as {order.target}")
        return refused

    def _builder(self, settings: BuildSettings, secrets: NamespaceSecrets) -> ClusterBuilder:
        def may_push(target: str, names: Sequence[str]) -> None:
            # Who is asked by nodes or by OpenShift is not known to answer here; and asking begins
            # an upload.
            asked_here = self.request.lookup.lookup_from in (
                None,
                "controller",
            ) and not is_internal(target)
            if asked_here and not self.context.check_mode:
                # A builder may name others, such as an entitlement to packages.
                pushing = [name for name in names if name == settings.push_secret]
                self.access.may_push(target, settings.scope.namespace, pushing)

        foresight = BuildPrediction(self.client, settings.scope.namespace, secrets, may_push)
        guard, clock = self.guard.before_write, self.context.clock
        access = self.access
        means = Means(
            self.client,
            settings,
            guard,
            clock,
            access.policy,
            foresight.predicted_failure,
        )
        return make_builder(self._builder_name, means)

    def _remember(self, images: list[Obj]) -> None:
        """Write the images into the record, which is where everybody who renders finds them."""
        name = self.prepared.recipe.name
        self.guard.before_write()
        record_store.ensure_definition(self.client)
        record = record_store.read(self.client, name)
        if record is None:
            spec = self.prepared.spec
            record = record_store.write(
                self.client, record_spec.with_spec(None, name, self.prepared.applyset_id, spec)
            )
        record_store.write_status(self.client, name, {**part(record, "status"), "images": images})


def each_once(orders: Sequence[BuildOrder]) -> list[BuildOrder]:
    """One order for each image: groups that differ by something else than what the image is made of
    share it."""
    return list({order.target: order for order in reversed(orders)}.values())[::-1]


def _failure_message(problem: str, kernels: int) -> str:
    """What a task says that has found no image at all, of so many kernels."""
    more = f" (and {kernels - 1} more kernels)" if kernels > 1 else ""
    return f"{problem.rstrip('.')}{more}"


def _row(state: str, resolution: Resolution) -> Obj:
    image = "" if resolution.source is Source.WOULD_BUILD else resolution.image
    return {
        "state": state,
        "group": resolution.group,
        "kernel": resolution.kernel,
        "image": image,
        "name": resolution.name,
        "source": resolution.source.value,
        "inputs": resolution.inputs,
        "tried": list(resolution.tried),
        "problem": resolution.problem,
        "target": resolution.image if resolution.source is Source.WOULD_BUILD else "",
        **asdict(resolution.remembered),
    }


TASK = Task(DriverContainerRequest, run)
