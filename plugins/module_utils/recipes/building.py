# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a recipe says of the images of a kernel group: which one to look for, and how to build one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import Group, RenderFacts
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Build, Recipe, State
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.templating import Templates
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.variables import (
    cluster_variables,
    group_variables,
)


@dataclass(frozen=True)
class RenderedGit:
    """A folder of a repository at a branch, tag or commit."""

    url: str
    ref: str
    folder: str


@dataclass(frozen=True)
class RenderedBuild:
    """A build of one kernel group, its templates filled in.

    repository: where the image goes, without tag. base: reference of the base image, "" for none. files: the context,
    path -> text.
    """

    repository: str
    base: str
    containerfile: str
    args: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    git: RenderedGit | None = None


def render_build(recipe: Recipe, state: State, facts: RenderFacts, group: Group) -> RenderedBuild | None:
    """How to build the state's image for a kernel group; None where the recipe or an option says not to."""
    build = state.build
    if build is None or (build.enabled and not facts.options[build.enabled]):
        return None
    templates = Templates(recipe.files, recipe.source)
    variables = {**cluster_variables(recipe, state, facts), **group_variables(group)}
    where = f"recipe.yml, states.{state.name}.build"

    def text(value: str, key: str) -> str:
        return templates.render_text(value, f"{where}.{key}", variables).strip()

    repository = text(build.repository, "repository")
    if not repository:
        return None
    return RenderedBuild(
        repository=repository,
        base=text(build.base, "base"),
        containerfile=templates.render(build.containerfile, variables),
        args={name: text(value, f"args.{name}") for name, value in build.args.items()},
        files=context_files(recipe, build),
        git=RenderedGit(text(build.git.url, "git.url"), text(build.git.ref, "git.ref"), build.git.folder)
        if build.git
        else None,
    )


def context_files(recipe: Recipe, build: Build) -> dict[str, str]:
    """The files of the recipe that are sent along, by their path in the build's context; as they are, no templates."""
    if not build.context:
        return {}
    folder = f"{build.context.strip('/')}/"
    return {path.removeprefix(folder): text for path, text in sorted(recipe.files.items()) if path.startswith(folder)}
