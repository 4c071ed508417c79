# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of recipe_new: write the files that a new recipe begins with, where there is nothing
yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._recipes.loading.load import load
from .._runs.context import RunContext
from .._runs.task import Task
from .of_chart import of_chart
from .scaffold import scaffold


@dataclass(frozen=True)
class RecipeNewRequest:
    """Which recipe is written, into which folder of recipes, for which hardware: label of the nodes
    that have it, resource that pods ask for. chart: the folder or archive of a Helm chart that it is
    made of."""

    name: str
    recipe_dir: str
    label: str
    resource: str
    chart: Optional[str] = None


def run(request: RecipeNewRequest, context: RunContext) -> Obj:
    """Write a recipe's folder, and nothing where it exists, or where the names do not fit."""
    if request.chart:
        files = of_chart(Path(request.chart), request.name, request.label, request.resource)
    else:
        files = scaffold(request.name, request.label, request.resource)
    return make_recipe(request.recipe_dir, request.name, files, context)


def make_recipe(recipe_dir: str, name: str, files: Mapping[str, str], context: RunContext) -> Obj:
    """Write a recipe's files into a folder of its own. Raises InvalidInput for what is no recipe, or
    where the folder exists."""
    folder = Path(recipe_dir) / name
    load(files, name)  # refuses names that no recipe can have
    if folder.exists():
        raise InvalidInput(
            f"{folder} is not made",
            why="it exists, and nothing is overwritten",
            todo="choose another name, or remove it",
        )
    if not context.check_mode:
        _write(folder, files)
    return {"changed": True, "path": str(folder), "files": sorted(files)}


def _write(folder: Path, files: Mapping[str, str]) -> None:
    try:
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise EnablementError(
            f"{folder} cannot be written", why=str(error.strerror), todo="check its rights"
        ) from error


TASK = Task(RecipeNewRequest, run)
