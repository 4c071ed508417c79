# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The published format: recipes that load are valid by it, and mistakes of structure are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

REPO = Path(__file__).resolve().parents[3]
SCHEMA = json.loads((REPO / "docs" / "recipes" / "recipe.schema.json").read_text(encoding="utf-8"))
GOOD = sorted([*REPO.glob("recipes/*/recipe.yml"), *REPO.glob("tests/recipes/*/recipe.yml")])
# What parts of a recipe say of each other, and of its files, no schema knows.
STRUCTURAL = ("unknown-key", "wrong-type")


def found_in(recipe: Path) -> list[str]:
    """What is wrong by the JSON Schema."""
    content: Any = yaml.safe_load(recipe.read_text(encoding="utf-8"))
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(content)]


def test_it_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("recipe", GOOD, ids=lambda recipe: recipe.parent.name)
def test_recipes_are_valid(recipe: Path) -> None:
    assert found_in(recipe) == []


@pytest.mark.parametrize("name", STRUCTURAL)
def test_mistakes_of_structure_are_found(name: str) -> None:
    assert found_in(REPO / "tests" / "recipes" / "broken" / name / "recipe.yml")


@pytest.mark.parametrize(
    "proof",
    [
        {"rollouts": {}},
        {"metrics": {"port": 9400, "series": ["up"], "container": "main"}},
        {"allocatable": {"resource": "toy.io/gpu", "equals": "8"}},
        {"logs": {"match": "x", "kind": "Deployment"}},
        {"resource": {"api_version": "v1", "kind": "ConfigMap"}},
    ],
)
def test_mistakes_in_proofs_are_found(proof: dict[str, Any]) -> None:
    content = yaml.safe_load(
        (REPO / "tests" / "recipes" / "two-states" / "recipe.yml").read_text(encoding="utf-8")
    )
    content["states"]["driver"]["validate"] = [proof]
    assert list(jsonschema.Draft202012Validator(SCHEMA).iter_errors(content))
