# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe without what is wrong with its recipe.yml, so that one mistake does not hide those in
its files. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..._proofs.proof import Proof
from ..._schema.problems import Problem
from ..loading.recipe import Recipe, State
from ..templates.manifests import copy_of
from .locating import steps_of
from .variants import SAMPLE

# In the place of a proof and of a role: a state needs them.
_ANY_PROOF, _ANY_ROLE = "rollout", "state"
_PROOFS = ("validate", "disabled_validate")


def without_problems(raw: Any, problems: Sequence[Problem]) -> Any:
    """The content of recipe.yml without the keys and items that problems are about."""
    kept = copy_of(raw)
    paths = (steps_of(f"{problem.path}.{problem.key}") for problem in problems)
    # From the end, so that the items of a list keep their numbers.
    for path in sorted(
        paths, key=lambda path: [(isinstance(step, str), str(step).zfill(9)) for step in path]
    )[::-1]:
        _remove(kept, path)
    return kept


def without_text(recipe: Recipe, path: str) -> Recipe | None:
    """The recipe without a text of a state that cannot be rendered
    (states.driver.validate[0].logs.match).

    None where it cannot do without it.
    """
    steps = steps_of(path)
    if len(steps) < 3 or steps[0] != "states" or steps[1] not in recipe.states:
        return None
    state = recipe.states[str(steps[1])]
    mended = replace(state, **_changes(state, steps))
    return (
        replace(recipe, states={**recipe.states, state.name: mended}) if mended != state else None
    )


def _changes(state: State, steps: Sequence[str | int]) -> dict[str, Any]:
    """What the state has instead of a text: any other proof, no switch, any image."""
    key = str(steps[2])
    if key in _PROOFS and len(steps) > 3:
        proofs, index = getattr(state.proofs, key), int(steps[3])
        others: dict[str, Any] = {key: (*proofs[:index], Proof(_ANY_PROOF), *proofs[index + 1 :])}
        return {"proofs": replace(state.proofs, **others)}
    if key == "enabled":
        return {"enabled": ""}
    if key == "image":
        return {"images": replace(state.images, templates=(f"{SAMPLE}/image:1",))}
    return {}


def _remove(value: Any, path: Sequence[str | int]) -> None:
    for number, step in enumerate(path):
        is_there = (
            step in value
            if isinstance(value, dict)
            else isinstance(value, list) and step in range(len(value))
        )
        if not is_there:
            return
        if isinstance(step, int) and path[number - 1] in _PROOFS:
            value[step] = {_ANY_PROOF: {}}
            return
        if number == len(path) - 1 and step == "role":
            value[step] = _ANY_ROLE
            return
        if number == len(path) - 1:
            del value[step]
            return
        value = value[step]
