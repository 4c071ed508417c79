# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of templates: options, and facts of the cluster, which are data and are looked at before use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import Group, RenderFacts
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
        "tag": re.sub(r"[^A-Za-z0-9_.-]", "_", group.kernel),
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


def image_states(recipe: Recipe, state: State) -> list[State]:
    """The states whose image a state's templates see: itself, then those that it requires, nearest first."""
    found, left = [], [state.name]
    for name in left:
        current = recipe.states[name]
        if current.image:
            found.append(current)
        left += [required for required in current.requires if required not in left]
    return found


def image_variables(
    recipe: Recipe, state: State, facts: RenderFacts, group: Group, templates: Templates
) -> dict[str, Any]:
    """image, and <state>.image for every state whose image the templates see; empty where there is none."""
    images = {
        source.name: {"image": image_of(recipe, source, facts, group, templates)}
        for source in image_states(recipe, state)
    }
    variables: dict[str, Any] = {name: Facts(name, image) for name, image in images.items()}
    if images:
        variables["image"] = next(iter(images.values()))["image"]
    return variables


def image_of(recipe: Recipe, state: State, facts: RenderFacts, group: Group, templates: Templates) -> str:
    """The image reference that a state resolves for a kernel group: the one in the facts, else from its template."""
    path = f"recipe.yml, states.{state.name}.image"
    given = (facts.images or {}).get(group.id)
    variables: Mapping[str, Any] = {**cluster_variables(recipe, state, facts), **group_variables(group)}
    image = given if given is not None else templates.render_text(state.image, path, variables).strip()
    if not _IMAGE.fullmatch(image):
        raise InvalidInput(
            f"state {state.name} has no image for kernel group {group.id}",
            where=f"{recipe.source}/{path}" if recipe.source else path,
            why=f"{image[:80]!r} is no image reference",
        )
    return image
