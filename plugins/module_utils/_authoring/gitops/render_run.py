# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_render: what enable would apply, in a cluster or for groups of nodes that are
described, as a folder of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Optional

from ..._cluster.api_client.client import connect
from ..._cluster.api_client.connection_request import ConnectionRequest
from ..._cluster.api_objects.objects import without_noise
from ..._errors import InvalidInput
from ..._json import Obj
from ..._nodes.discovery import discover
from ..._recipes.checking.api_types import ApiTypes
from ..._recipes.checking.sample_clusters import SampleCluster
from ..._recipes.render import RenderFacts, check_recipe
from ..._recipes.requirements import required_states
from ..._recipes.switches import enabled_states
from ..._recipes.templates.render_facts import ClusterApi
from ..._runs.context import RunContext
from ..._runs.report_file import writing
from ..._states.apply_plan import ApplyPlanner, PlanRequest
from ..._states.desired import Desired
from ..._states.on_nodes.strays import MembershipRequest
from ..._states.preparation.image_facts import ImageRequest, with_images
from ..._states.preparation.prepare import Prepared, facts_with, prepare
from ..._states.preparation.recipe_request import RecipeRequest
from ..rights import rights_core
from ..rights.rights_core import RecipeRightsRequest
from .gitops_files import MARK, GitopsFiles, RenderedRecipe, gitops_files
from .gitops_record import gitops_record
from .sample_nodes import SampleGroup, sample_nodes

_NAMED = 3
MissingImages = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class RecipeRenderRequest:
    """folder: where the files go. groups: nodes that are described; None for those of a cluster, which
    is asked then. apis: what a described cluster serves beside Kubernetes' own kinds. images: what a
    person says, by id of a group."""

    connection: ConnectionRequest
    given: RecipeRequest
    folder: str
    groups: Optional[tuple[SampleGroup, ...]] = None
    apis: Sequence[str] = field(default_factory=tuple)
    images: Optional[Mapping[str, str]] = None
    membership: MembershipRequest = field(default_factory=MembershipRequest)


@dataclass(frozen=True)
class _Source:
    """What is rendered, for which nodes. missing: see Desired.missing_images. desired: what a run wants
    in the cluster that was asked; None where nodes are described."""

    prepared: Prepared
    facts: RenderFacts
    missing: MissingImages
    desired: Optional[Desired] = None

    def namespace(self, name: str) -> Optional[Obj]:
        """A Namespace as the cluster has it."""
        if self.desired is None:
            return None
        client = self.desired.client
        return client.get(client.kind("v1", "Namespace"), name)

    def kept(self, context: RunContext) -> list[Obj]:
        """What a run would keep in the cluster although nothing wants it; each is named, with why."""
        if self.desired is None:
            return []
        states = list(self.prepared.recipe.states)
        planner = ApplyPlanner(self.desired, states, PlanRequest(), context.warning)
        found = planner.kept(self.prepared.record)
        for key, (_live, why) in found.items():
            context.notice(f"{key} stays in the folder: {why}")
        return [_as_manifest(live) for live, _why in found.values()]


def _as_manifest(live: Obj) -> Obj:
    """As a person writes it: what it is comes first, which a list has last."""
    return {"apiVersion": live["apiVersion"], "kind": live["kind"], **without_noise(live)}


def run(request: RecipeRenderRequest, context: RunContext, types: ApiTypes) -> Obj:
    """Render and write. Raises InvalidInput before the first write for what cannot be rendered, and for a
    folder with files of somebody else."""
    source = (
        _of_cluster(request, context)
        if request.groups is None
        else _of_description(request, request.groups, context, types)
    )
    _refuse_missing(source.missing)
    prepared, facts = source.prepared, source.facts
    states = check_recipe(prepared.recipe, facts)
    found = gitops_files(
        RenderedRecipe(
            recipe=prepared.recipe,
            states=states,
            requires=_requires(prepared, facts),
            record=gitops_record(prepared, states, source.namespace),
            rights=_rights(request, prepared, types),
            by_nodes=prepared.by_nodes,
            taints=[str(taint) for taint in prepared.taints],
            kept=source.kept(context),
        )
    )
    _refuse_secrets(found, context)
    folder = Path(request.folder)
    stale, changed = _differing(folder, found.files)
    if not context.check_mode:
        _write(folder, {name: found.files[name] for name in changed}, stale)
    result = {
        "changed": bool(stale or changed),
        "folder": str(folder),
        "files": sorted(found.files),
        "images": list(found.images),
        "objects": found.objects,
        "left_out": list(found.left_out),
    }
    names = [*changed, *stale]
    return (
        {**result, "diff": [_diff(folder, name, found.files) for name in names]}
        if context.diff
        else result
    )


def _of_cluster(request: RecipeRenderRequest, context: RunContext) -> _Source:
    client = connect(request.connection)
    prepared = prepare(request.given, context, client)
    images = ImageRequest(images=request.images)
    desired = Desired(client, prepared, request.membership, images, context.clock)
    if not desired.discovery.matched:
        raise InvalidInput(
            f"There is nothing to render of {prepared.recipe.name}",
            where=client.host,
            why=str(desired.discovery.nfd["message"]),
            todo="describe the nodes that are to come (hardware_enablement_render_groups)",
        )
    return _Source(prepared, desired.facts, desired.missing_images, desired)


def _of_description(
    request: RecipeRenderRequest,
    groups: Sequence[SampleGroup],
    context: RunContext,
    types: ApiTypes,
) -> _Source:
    """Of a cluster of Kubernetes that nobody asks: what is OpenShift's is known there alone."""
    prepared = prepare(request.given, context, None)
    if any(pool.machine_config_pool for pool in prepared.pools):
        raise InvalidInput(
            "Which nodes are in a MachineConfigPool cannot be described",
            why="only its cluster knows that",
            todo="give the pool a selector, or render for the cluster",
        )
    recipe = prepared.recipe
    nodes = sample_nodes(groups, prepared.selector)
    discovery = discover(
        nodes, prepared.selector, recipe.devices.resources, grouping=prepared.grouping
    )
    cluster = SampleCluster("described", "kubernetes", optional_apis=False, groups=())
    api = ClusterApi(
        lambda name: name in request.apis or cluster.serves(name, types), types.namespaced
    )
    facts_of_cluster = {
        "platform": cluster.platform,
        "kubernetes_version": types.version,
        "distribution": "",
    }
    facts = replace(facts_with(prepared, discovery, facts_of_cluster, api), images=request.images)
    facts, missing = with_images(recipe, facts, None, lambda: None)
    return _Source(prepared, facts, missing)


def _refuse_missing(missing: MissingImages) -> None:
    for state, groups in missing.items():
        for group, why in groups.items():
            raise InvalidInput(
                f"The image of state {state} is not known for the nodes of group {group}",
                why=why,
                todo="enable the recipe on the cluster first, or name the image (hardware_enablement_images, by"
                " group)",
            )


def _requires(prepared: Prepared, facts: RenderFacts) -> dict[str, Sequence[str]]:
    enabled = enabled_states(prepared.recipe, facts)
    return {
        name: required_states(prepared.recipe, enabled, name) for name in prepared.recipe.states
    }


def _rights(request: RecipeRenderRequest, prepared: Prepared, types: ApiTypes) -> str:
    """What a run needs, as text; the options of the record where none are given."""
    given, options = request.given, request.given.options
    asked = RecipeRightsRequest(
        recipes=[given.recipe],
        bundles={given.recipe: given.bundle or {}},
        options=prepared.spec["options"] if options is None else options,
        namespace=prepared.namespace,
        instance=given.instance,
    )
    return str(rights_core.run(asked, types)["text"])


def _refuse_secrets(found: GitopsFiles, context: RunContext) -> None:
    """Files are for a repository, so that a secret must be in none of them."""
    for name, text in found.files.items():
        if context.masked(text) != text:
            raise InvalidInput(
                "An option that is secret would be in a file that others read",
                where=name,
                why="the recipe puts it into an object that is no Secret",
                todo="give the option another way, such as the name of a Secret, or leave it out",
            )


def _differing(folder: Path, files: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """What of ours is in a folder and is not made any more, and what is to be written. Raises
    InvalidInput where a file of somebody else is in the way."""
    there = {
        path.name: path.read_text(encoding="utf-8", errors="replace") for path in _files_in(folder)
    }
    ours = {name for name, text in there.items() if MARK in text.partition("\n")[0]}
    for name in sorted(there.keys() & files.keys() - ours):
        raise InvalidInput(
            "The folder has a file of somebody else",
            where=str(folder / name),
            why="it would be written over",
            todo="name another folder",
        )
    changed = [name for name, text in files.items() if there.get(name) != text]
    return sorted(ours - files.keys()), changed


def _files_in(folder: Path) -> list[Path]:
    with writing("The folder", str(folder)):
        return [path for path in folder.iterdir() if path.is_file()] if folder.exists() else []


def _write(folder: Path, files: Mapping[str, str], stale: Sequence[str]) -> None:
    with writing("The folder", str(folder)):
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        for name in stale:
            (folder / name).unlink()


def _diff(folder: Path, name: str, files: Mapping[str, str]) -> Obj:
    """One file, as the task's diff; it is as it was before it is written."""
    return {
        "before_header": name,
        "after_header": name,
        "prepared": f"{'writes' if name in files else 'removes'} {folder / name}\n",
    }
