# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe's image state to what each kernel group wants: what to look for, and what to build from what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ansible_collections.hardware.enablement.plugins.module_utils.builds import git
from ansible_collections.hardware.enablement.plugins.module_utils.builds.inputs import GitSource, Inputs
from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Found
from ansible_collections.hardware.enablement.plugins.module_utils.builds.resolve import Wanted
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError, InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.groups import KernelGroup
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.building import RenderedBuild, render_build
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import RenderFacts
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe, State
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.templating import Templates
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.variables import (
    group_variables,
    named_image,
)


@dataclass
class Wishes:
    """Makes the wishes of kernel groups. find_base: looks up base images, whose digest is one of the inputs."""

    recipe: Recipe
    state: State
    facts: RenderFacts
    find_base: Callable[[str, KernelGroup], Found | None]

    def of(self, group: KernelGroup) -> Wanted:
        """What a kernel group wants."""
        templates = Templates(self.recipe.files, self.recipe.source)
        prebuilt = named_image(self.recipe, self.state, self.facts, group, templates)
        build = render_build(self.recipe, self.state, self.facts, group)
        if build is None:
            return Wanted(group.id, group.kernel, group.arch, prebuilt)
        try:
            base = self.find_base(build.base, group) if build.base else None
            pinned = _pinned(build)
        except InvalidInput:
            raise
        except EnablementError as error:  # which need not matter, where there is a prebuilt image
            return Wanted(group.id, group.kernel, group.arch, prebuilt, trouble=error)
        if build.base and base is None:
            why = f"it cannot be built, since its base image {build.base} does not exist"
            return Wanted(group.id, group.kernel, group.arch, prebuilt, no_build=why)
        inputs = Inputs(
            kernel=group.kernel,
            arch=group.arch,
            containerfile=build.containerfile,
            base=base.reference if base else "",
            base_digest=base.digest if base else "",
            args=dict(build.args),
            files=dict(build.files),
            git=pinned,
        )
        tag = inputs.tag(str(group_variables(group)["kernel"]["tag"]))
        return Wanted(group.id, group.kernel, group.arch, prebuilt, inputs, f"{build.repository}:{tag}")


def _pinned(build: RenderedBuild) -> GitSource | None:
    if build.git is None:
        return None
    return GitSource(build.git.url, git.pin(build.git.url, build.git.ref), build.git.folder)
