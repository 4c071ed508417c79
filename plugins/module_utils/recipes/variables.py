# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of templates: options, and facts of the cluster, which are data and are looked at before use."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import Group, RenderFacts
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.lookups import is_looked_up
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe, State
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.templating import Facts, Templates

# Variables that differ between kernel groups; a file that uses one of them is rendered once for each group.
GROUP_NAMES = frozenset(("kernel", "os", "arch", "group", "image"))

_KERNEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~:@-]{0,127}")
_OS = re.compile(r"[A-Za-z0-9._+~-]{0,64}")
_ARCH = re.compile(r"[a-z0-9_]{1,32}")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+~-]{0,511}")


def cluster_variables(recipe: Recipe, state: State, facts: RenderFacts) -> dict[str, Any]:
    """What every template of a state sees."""
    return {
        "options": Facts("options", facts.options),
        "namespace": facts.namespace,
        "recipe": recipe.name,
        "state": state.name,
        "cluster": Facts("cluster", facts.cluster),
    }


def group_variables(group: Group) -> dict[str, Any]:
    """What templates see of one kernel group, without images. Raises InvalidInput for facts that cannot be true."""
    for what, value, pattern in (
        ("kernel", group.kernel, _KERNEL),
        ("os.id", group.os_id, _OS),
        ("os.version", group.os_version, _OS),
        ("arch", group.arch, _ARCH),
    ):
        if not pattern.fullmatch(value):
            raise InvalidInput(
                f"{what} of kernel group {group.id} is not used",
                why=f"{value[:80]!r} does not look like one",
                todo="look at nodeInfo and the NFD labels of its nodes",
            )
    version = re.match(r"(\d+)\.(\d+)", group.kernel)
    kernel = {
        "raw": group.kernel,
        "label": group.kernel_label,
        "id": group.id,
        "tag": kernel_tag(group.kernel),
        "major": int(version[1]) if version else None,
        "minor": int(version[2]) if version else None,
    }
    system = {"id": group.os_id, "version": group.os_version, "major": group.os_version.split(".")[0]}
    return {
        "kernel": Facts("kernel", kernel),
        "os": Facts("os", system),
        "arch": group.arch,
        "group": Facts("group", {"id": group.id}),
    }


def kernel_tag(kernel: str) -> str:
    """A kernel as a part of an image's tag. Where characters had to go, a hash tells kernels apart that look alike."""
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", kernel)
    return plain if plain == kernel else f"{plain}-{hashlib.sha256(kernel.encode()).hexdigest()[:6]}"


def image_states(recipe: Recipe, state: State) -> list[State]:
    """The states whose image a state's templates see: itself, then those that it requires, nearest first."""
    found, left = [], [state.name]
    for name in left:
        current = recipe.states[name]
        if current.image or current.build:
            found.append(current)
        left += [required for required in current.requires if required not in left]
    return found


def image_variables(recipe: Recipe, state: State, find: Callable[[State], str]) -> dict[str, Any]:
    """image, and <state>.image for every state whose image the templates see; empty where there is none.

    find: the image of a state for the group of nodes that it is about.
    """
    images = {source.name: {"image": find(source)} for source in image_states(recipe, state)}
    variables: dict[str, Any] = {name: Facts(name, image) for name, image in images.items()}
    if images:
        variables["image"] = next(iter(images.values()))["image"]
    return variables


def image_of(recipe: Recipe, state: State, facts: RenderFacts, group: Group, templates: Templates) -> str:
    """The image reference of a state for a kernel group: the user's, else what was looked up or built, else as named.

    "" where a look-up has found none: the state has nothing for this group. While nothing has been looked up (when a
    recipe is merely checked), a state that builds has an image of no registry.
    """
    given = (facts.images or {}).get(group.id)
    if given is not None:
        return _checked(given, recipe, state, group)
    if facts.resolved is not None and is_looked_up(state):
        return facts.resolved.get(state.name, {}).get(group.id, "")
    named = named_image(recipe, state, facts, group, templates)
    if facts.resolved is not None:
        return _checked(named, recipe, state, group)
    return named or f"unresolved.invalid/{recipe.name}:{group.id}"


def named_image(recipe: Recipe, state: State, facts: RenderFacts, group: Group, templates: Templates) -> str:
    """The first of named_images; "" where there is none for a state that builds."""
    named = named_images(recipe, state, facts, group, templates)
    if named:
        return named[0]
    return "" if state.build else _checked("", recipe, state, group)


def named_images(recipe: Recipe, state: State, facts: RenderFacts, group: Group, templates: Templates) -> list[str]:
    """What the recipe's image templates say for a kernel group, in order, without those that give nothing."""
    path = f"recipe.yml, states.{state.name}.image"
    variables: Mapping[str, Any] = {**cluster_variables(recipe, state, facts), **group_variables(group)}
    rendered = [templates.render_text(image, path, variables).strip() for image in state.image]
    return [_checked(image, recipe, state, group) for image in dict.fromkeys(rendered) if image]


def _checked(image: str, recipe: Recipe, state: State, group: Group) -> str:
    path = f"recipe.yml, states.{state.name}.image"
    if not _IMAGE.fullmatch(image):
        raise InvalidInput(
            f"state {state.name} has no image for kernel group {group.id}",
            where=f"{recipe.source}/{path}" if recipe.source else path,
            why=f"{image[:80]!r} is no image reference",
        )
    return image
