# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One recipe enabled more than once: under another name, with everything of its own that is called
by it."""

from __future__ import annotations

import re
from dataclasses import replace

from ..._errors import InvalidInput
from .recipe import Recipe
from .schema import DNS_LABEL, RESERVED_RECIPES

_LONGEST = 30


def as_instance(recipe: Recipe, instance: str | None) -> Recipe:
    """The recipe under the name of an instance, its own where none is given. Raises InvalidInput
    for no such name."""
    if not instance or instance == recipe.source.name:
        return recipe
    if (
        not re.fullmatch(DNS_LABEL, instance)
        or len(instance) > _LONGEST
        or instance in RESERVED_RECIPES
    ):
        raise InvalidInput(
            f"recipe {recipe.source.name} cannot be enabled as {instance[:80]!r}",
            why=f"the name of an instance is a DNS label of at most {_LONGEST} characters, like a recipe's",
            todo="correct instance (hardware_enablement_instance in the playbooks)",
        )
    return replace(recipe, name=instance)


def default_namespace(recipe: Recipe) -> str:
    """Where the operands live unless the user says otherwise: an instance has a namespace of its
    own."""
    return recipe.namespace if recipe.name == recipe.source.name else recipe.name
