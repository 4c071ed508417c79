# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe's image state to what each group of nodes wants: what to look for, and what to
build from what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .._errors import EnablementError, InvalidInput
from .._nodes.groups import NodeGroup
from .._recipes.building import RenderedBuild, RenderedGit, render_build
from .._recipes.loading.recipe import Recipe, State
from .._recipes.templates.render_facts import RenderFacts
from .._recipes.templates.templating import Templates
from .._recipes.variables import (
    cluster_variables,
    group_variables,
    named_images,
    variables_of,
)
from . import git
from .environment import NamespaceSecrets
from .git_login import git_variables
from .inputs import GitSource, Inputs
from .orders import Found, SecretNames
from .resolve import ForeignImage, WantedBuild, WantedImage


@dataclass
class BuildInputs:
    """Makes the wishes of groups of nodes. find_base: looks up base images, whose digest is one of
    the inputs.

    secrets: those where builds run.
    """

    recipe: Recipe
    state: State
    facts: RenderFacts
    find_base: Callable[[str, NodeGroup], Found | None]
    secrets: NamespaceSecrets
    _commits: dict[RenderedGit, str] = field(default_factory=dict)

    def of(self, group: NodeGroup) -> WantedImage:
        """What a group of nodes wants."""
        templates = self.recipe.source.templates
        key = self._text(self.state.images.key, "image_key", group, templates)
        wanted = WantedImage(
            group.id,
            group.system.kernel,
            group.system.arch,
            [
                ForeignImage(image, self._labels(image, group, templates), key)
                for image in named_images(self.recipe, self.state, self.facts, group, templates)
            ],
            todo=self._text(self.state.images.todo, "no_image", group, templates),
        )
        build = render_build(self.recipe, self.state, self.facts, group)
        if build is None:
            return wanted
        try:
            base = self.find_base(build.base, group) if build.base else None
            pinned = self._pinned(build)
            secrets = self._secrets(build)
        except InvalidInput:
            raise
        except EnablementError as error:  # which need not matter, where there is a prebuilt image
            return replace(wanted, no_build=error)
        if build.base and base is None:
            why = f"it cannot be built, since its base image {build.base} does not exist"
            return replace(wanted, no_build=why)
        inputs = Inputs(
            kernel=group.system.kernel,
            arch=group.system.arch,
            containerfile=build.containerfile,
            base=base.reference if base else "",
            base_digest=base.digest if base else "",
            base_arg=build.base_arg,
            args=dict(build.args),
            files=dict(build.files),
            git=pinned,
            compile=build.compile,
        )
        tag = inputs.tag(str(group_variables(group, self.facts)["kernel"]["tag"]))
        return replace(wanted, build=WantedBuild(inputs, f"{build.repository}:{tag}", secrets))

    def _pinned(self, build: RenderedBuild) -> GitSource | None:
        if build.git is None:
            return None
        if build.git not in self._commits:
            with git_variables(build.git.url, build.git.secret, self.secrets) as variables:
                self._commits[build.git] = git.pin(build.git.url, build.git.ref, variables)
        own = "" if build.containerfile else build.git.containerfile
        return GitSource(build.git.url, self._commits[build.git], build.git.folder, own)

    def _secrets(self, build: RenderedBuild) -> SecretNames:
        if build.git is None or not build.git.secret:
            return SecretNames(files=build.secrets)
        return SecretNames(
            build.git.secret, sorted(self.secrets.keys(build.git.secret) or ()), build.secrets
        )

    def _labels(self, image: str, group: NodeGroup, templates: Templates) -> dict[str, str]:
        """The labels that a prebuilt image may have with these values only; what renders to nothing
        does not count."""
        labels = {
            name: self._text(value, f"image_labels.{name}", group, templates, reference=image)
            for name, value in self.state.images.labels.items()
        }
        return {name: value for name, value in labels.items() if value}

    def _text(
        self, value: str, key: str, group: NodeGroup, templates: Templates, **more: str
    ) -> str:
        facts = self.facts
        variables = {
            **variables_of(cluster_variables(self.recipe, self.state, facts), group, facts),
            **more,
        }
        return templates.render_text(
            value, f"recipe.yml, states.{self.state.name}.{key}", variables
        ).strip()
