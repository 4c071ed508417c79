# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of preflight: what an enable would meet, for kernels that nodes run or will run; and, where
that is asked for, images built and drivers staged before them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from .._builds.access import ImageAccess
from .._builds.container import find_images
from .._builds.orders import Found
from .._builds.resolve import Find
from .._builds.settings import build_settings
from .._cluster.api_client.client import Client, connect
from .._errors import EnablementError, InvalidInput
from .._json import Obj, part
from .._nodes.discovery import Discovery
from .._nodes.expected_kernels import ExpectedKernel, parse_expected
from .._nodes.facts import NodeFacts
from .._recipes.loading.lookups import is_looked_up
from .._registry.image_names import parse
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .._states.desired import Desired
from .._states.on_nodes.strays import MembershipRequest
from .._states.preparation.discover import discovery_of, list_nodes
from .._states.preparation.image_facts import ImageRequest
from .._states.preparation.prepare import Prepared, prepare, refuse_dropped
from .._states.preparation.recipe_request import RecipeRequest
from .._states.record import record_spec, record_store
from .hardware_survey import survey
from .kernel_answers import (
    CANNOT,
    KernelImage,
    PreflightFinding,
    PreflightResult,
    kernel_answers,
    table,
)
from .needed_image import (
    NeededImage,
    built_from,
    found_drivers,
    found_images,
    named_images,
    needed_images,
    pulled_images,
    to_mirror,
)
from .preflight_checks import findings, refused
from .preflight_request import PreflightRequest
from .release_kernels import release_kernels


def run(request: PreflightRequest, context: RunContext) -> Obj:
    """Answer for a recipe, or without one say what hardware there is and which recipes take it."""
    client, ahead = connect(request.connection), request.ahead
    given = request.given.named()
    if given is None:
        _refuse_without_recipe(request)
        result = survey(client, request.bundles or {})
        return _shown(result, request, context)
    _refuse_unnamed(request)
    named = None if ahead.kernels is None else parse_expected(ahead.kernels)
    prepared = prepare(given, context, client)
    refuse_dropped(prepared, given, replace_all=request.options_replace)
    if prepared.record is None and (ahead.build or ahead.stage):
        raise EnablementError(
            f"{prepared.recipe.name} is not enabled, so nothing is built or staged for it",
            todo="enable it first",
        )
    if named is None and not ahead.releases:
        return _Preflight(client, prepared, given, request, context).run(None)
    wanted = [*(named or ()), *_of_releases(client, prepared, request, context)]
    prepared = prepared.expecting(wanted)
    return _Preflight(client, prepared, given, request, context).run(wanted)


def _of_releases(
    client: Client, prepared: Prepared, request: PreflightRequest, context: RunContext
) -> list[ExpectedKernel]:
    """The kernels of the releases, for the architectures of the nodes."""
    if not request.ahead.releases:
        return []
    registries = ImageAccess(client, prepared, request.building, context).registries()
    nodes = list_nodes(client, prepared.selector)
    archs = sorted({NodeFacts.from_object(node).system.arch for node in nodes})
    return release_kernels(
        request.ahead.releases,
        archs,
        lambda image, arch, path: registries.file_of(parse(image), arch, path),
    )


def _refuse_unnamed(request: PreflightRequest) -> None:
    ahead = request.ahead
    if ahead.stage and ahead.kernels is None and not ahead.releases:
        raise InvalidInput(
            "Nothing is named to stage",
            todo="name the kernels (hardware_enablement_kernels); an empty list stages none any more",
        )


def _refuse_without_recipe(request: PreflightRequest) -> None:
    ahead = request.ahead
    if ahead.kernels or ahead.releases or ahead.build or ahead.stage:
        raise InvalidInput(
            "Kernels are prepared for a recipe, and none is named",
            todo="name it (-e hardware_enablement_recipe=nvidia-gpu)",
        )


def _shown(result: Obj, request: PreflightRequest, context: RunContext) -> Obj:
    """The result, its table shown to a person where that is wanted."""
    lines = [context.masked(line) for line in result["table"]]
    for line in lines if request.show else ():
        context.notice(line)
    return {**result, "table": lines}


class _Preflight:
    """One run of preflight for one recipe."""

    def __init__(
        self,
        client: Client,
        prepared: Prepared,
        given: RecipeRequest,
        request: PreflightRequest,
        context: RunContext,
    ) -> None:
        self._client = client
        self._prepared = prepared
        self._given = given
        self._request = request
        self._context = context
        # Whatever is asked of a task that only looks writes nothing.
        self._dry = replace(context, check_mode=True)

    def run(self, wanted: Sequence[ExpectedKernel] | None) -> Obj:
        """The answer; before it, what is to be built and staged. wanted: the kernels that were given."""
        result = self._found(self._dry)
        changed = False
        ahead = self._request.ahead
        if (ahead.build or ahead.stage) and not self._context.check_mode:
            if ahead.stage:
                self._refuse_stage(result)
            before = result.images
            result = self._found(self._context)
            changed = result.images != before
        if ahead.stage and wanted is not None:
            self._refuse_stage(result)
            changed = self._stage(wanted) or changed
            result = replace(result, staged=sorted({each.kernel for each in wanted}))
        found = {"changed": changed, **result.to_dict(), "hardware": [], "table": table(result)}
        return _shown(found, self._request, self._context)

    def _found(self, context: RunContext) -> PreflightResult:
        """What there is, and what is in the way. context: whether missing images are built."""
        client, prepared = self._client, self._prepared
        discovery, cluster = discovery_of(
            client, prepared, None, lambda: list_nodes(client, prepared.selector)
        )
        if not discovery.matched:
            return self._result([], [PreflightFinding("nodes", discovery.nfd["message"])])
        seen = {**discovery.to_dict(), "cluster": cluster}
        rows: list[Obj] = []
        entries: list[Obj] = []
        bases: dict[str, str] = {}

        def find() -> None:
            found = find_images(
                client, prepared, self._request.of_images(self._given, seen), context
            )
            rows.extend(found["groups"])
            bases.update(found["bases"])
            # What is to be built has its name already, by which policies may decide.
            targets = {(row["state"], row["group"]): row.get("target") for row in rows}
            entries.extend(
                {**entry, "image": entry["image"] or targets.get((entry["state"], entry["group"]))}
                for entry in (*found["images"], *_without_entry(found))
            )

        problems = list(refused("images", find))
        desired = Desired(
            client,
            prepared,
            MembershipRequest(),
            ImageRequest(self._request.images, entries),
            context.clock,
            discovery=seen,
        )
        needed: list[NeededImage] = []
        has_images = any(is_looked_up(state) for state in prepared.recipe.states.values())
        groups = discovery.coarse(_per(prepared) if has_images else ("kernel",))

        def of_pods(objects: Sequence[Obj]) -> list[NeededImage]:
            builder = self._request.building.buildah.builder_image
            of_nodes = named_images(objects, desired)
            of_builds = {*built_from(desired), *filter(None, [builder])}
            needed.extend(self._looked_up(of_nodes | of_builds, discovery))
            if not self._request.pull or self._context.check_mode:
                return needed
            with given_back(client, prepared.recipe.name, self._context):
                wanted = {*product(of_nodes, _archs(discovery)), *found_drivers(rows, groups)}
                pulled = pulled_images(wanted, self._by_nodes(discovery))
            return [*pulled, *(each for each in needed if each.image in of_builds - of_nodes)]

        problems += findings(client, desired, of_pods, self._dry, adopt=self._request.adopt)
        needed += found_images(rows, bases)
        return self._result(kernel_answers(groups, rows), _each_once(problems), needed)

    def _looked_up(self, names: Collection[str], discovery: Discovery) -> list[NeededImage]:
        """Images by what their registries say here."""
        access = ImageAccess(self._client, self._prepared, self._request.building, self._dry)
        return needed_images(names, _archs(discovery), access.images)

    def _by_nodes(self, discovery: Discovery) -> Find:
        """Looks images up by pods on a node of each architecture. Raises EnablementError where the recipe's
        namespace, with the Secrets that pull, is not there yet."""
        prepared, building = self._prepared, self._request.building
        if not self._client.get(self._client.kind("v1", "Namespace"), prepared.namespace):
            raise EnablementError(
                f"No node is asked for images, since the namespace {prepared.namespace} does not exist yet",
                todo="make it, with the Secrets to pull with, or ask without hardware_enablement_pull",
            )
        settings = build_settings(building, prepared, "preflight")
        guard = Guard(self._client, prepared.recipe.name, self._context)
        find = ImageAccess(self._client, prepared, building, self._context).find(
            "node",
            settings,
            discovery.node_groups,
            guard.before_write,
            anew=False,
        )

        def pull(reference: str, arch: str) -> Found | None:
            self._context.progress(f"a node of {arch} pulls {reference}")
            return find(reference, arch)

        return pull

    def _result(
        self,
        images: list[KernelImage],
        problems: Sequence[PreflightFinding],
        needed: Sequence[NeededImage] = (),
    ) -> PreflightResult:
        recorded = part(self._prepared.record or {}, "spec").get("expectedKernels")
        return PreflightResult(
            recipe=self._prepared.recipe.name,
            enabled=self._prepared.record is not None,
            images=images,
            findings=problems,
            needed=to_mirror(needed),
            staged=sorted({each.kernel for each in parse_expected(recorded)}),
        )

    def _refuse_stage(self, result: PreflightResult) -> None:
        """Raise EnablementError where a kernel cannot have its driver, or enable would be refused."""
        coming = set(result.coming)
        whys = [
            f"kernel {each.kernel}: {each.why}"
            for each in result.images
            if each.answer == CANNOT and each.kernel in coming
        ]
        whys += [finding.message for finding in result.findings if finding.blocks]
        if whys:
            raise EnablementError(
                f"{result.recipe} cannot be staged",
                why=whys[0],
                todo="mend that, and look with preflight without stage whether there is more",
            )

    def _stage(self, wanted: Sequence[ExpectedKernel]) -> bool:
        """Write into the record which kernels are expected; returns whether it had others."""
        prepared, name = self._prepared, self._prepared.recipe.name
        guard = Guard(self._client, name, self._context)
        guard.before_write()
        record = record_store.read(self._client, name)
        before: dict[str, Any] = dict(part(record or {}, "spec"))
        spec = {key: value for key, value in before.items() if key != "expectedKernels"}
        if wanted:
            spec["expectedKernels"] = [kernel.to_spec() for kernel in wanted]
        if spec == before:
            return False
        if not self._context.check_mode:
            record_store.write(
                self._client, record_spec.with_spec(record, name, prepared.applyset_id, spec)
            )
        return True


def _archs(discovery: Discovery) -> list[str]:
    return sorted({group.system.arch for group in discovery.node_groups})


def _per(prepared: Prepared) -> tuple[str, ...]:
    """By what the states that have images tell nodes apart."""
    return next(
        (state.per for state in prepared.recipe.states.values() if is_looked_up(state)), ("kernel",)
    )


def _without_entry(found: Obj) -> list[Obj]:
    """The rows that the record would not remember: those that are still to be built."""
    known = {(entry["state"], entry["group"]) for entry in found["images"]}
    return [row for row in found["groups"] if (row["state"], row["group"]) not in known]


def _each_once(problems: Sequence[PreflightFinding]) -> list[PreflightFinding]:
    return list(dict.fromkeys(problems))


TASK = Task(PreflightRequest, run)
