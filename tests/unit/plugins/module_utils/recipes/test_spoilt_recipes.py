# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""500 spoilt recipes, templates and options: each is rendered, or refused with one sentence or a list of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.facts import RenderFacts
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.load import load
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.options import resolve
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.render import check_recipe
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.spoiling import JUNK, spoil

SPOILT = 500
PIECES = [
    "{{",
    "}}",
    "{%",
    "{% if %}",
    "---\n",
    ": ",
    "\t",
    "- ",
    "&a *a",
    "{{ options }}",
    "{{ 1/0 }}",
    "\x00",
    "'",
    "|",
]
GIVEN: dict[str, Any] = {"version": "1.0", "replicas": 2, "ports": [1, 2], "mode": "fast", "driver_enabled": True}


def _spoil_text(dice: random.Random, text: str) -> str:
    start = dice.randrange(len(text))
    return text[:start] + dice.choice(PIECES) + text[start + dice.choice((0, 1, 5)) :]


@pytest.mark.parametrize("tenth", range(10))
def test_spoilt_recipes(files: dict[str, str], facts_for: Callable[..., RenderFacts], tenth: int) -> None:
    refused = 0
    good = yaml.safe_load(files["recipe.yml"])
    for number in range(tenth * SPOILT // 10, (tenth + 1) * SPOILT // 10):
        dice = random.Random(number)
        bundle, given = dict(files), dict(GIVEN)
        what = dice.choice(("recipe", "recipe", "text", "template", "template", "options"))
        if what == "recipe":
            bundle["recipe.yml"] = yaml.safe_dump(spoil(dice, good))
        elif what == "options":
            given = {**spoil(dice, given), **({"odd": dice.choice(JUNK)} if dice.random() < 0.2 else {})}
        else:
            path = "recipe.yml" if what == "text" else dice.choice(sorted(bundle))
            bundle[path] = _spoil_text(dice, bundle[path])
        try:
            recipe = load(bundle, "toy")
            resolve(recipe, given)
            check_recipe(recipe, facts_for(recipe, given))
        except InvalidInput as error:
            refused += 1
            text = str(error)
            assert text.endswith("."), (number, text)
            assert not any(word in text for word in ("Traceback", "object at 0x")), (number, text)
        except Exception as error:
            raise AssertionError(f"case {number}, {what}") from error
    assert refused > SPOILT // 40, "the recipes are hardly spoilt"
