# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a recipe's name to its files: where recipes are looked for, with what they extend, and with
the collection's macros where a template imports them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from .._charts.chart_archive import CHART_FILE
from .._charts.recipe_store import FileStore, RecipeStore
from .._errors import InvalidInput
from .._recipes.templates.overlay import (
    MACROS,
    RECIPE_FILE,
    extended_by,
    needs_macros,
    with_base,
)

Stores = Sequence[RecipeStore]
MACROS_PATH = Path(__file__).with_name("macros.j2")


def find_bundle(name: str, folders: Stores) -> dict[str, str]:
    """The texts of a recipe by their path inside its folder, with those of the recipe that it
    extends and the collection's macros; the first folder that holds one of that name counts.

    Raises InvalidInput where there is no recipe, or something in it that should be text and is
    none, or where recipes extend each other in a circle.
    """
    return with_macros(_with_bases(name, folders, folders, ()))


def read_bundle(folder: Path, shipped: Path | None = None) -> dict[str, str]:
    """The same for a recipe whose folder is known."""
    more = [FileStore(shipped)] if shipped else []
    return find_bundle(folder.name, [FileStore(folder.parent), *more])


def with_macros(bundle: dict[str, str]) -> dict[str, str]:
    """The bundle with the collection's macros, where a template imports them. A module on another
    machine has no file to add."""
    if RECIPE_FILE not in bundle or not needs_macros(bundle) or not MACROS_PATH.is_file():
        return bundle
    return {**bundle, MACROS: MACROS_PATH.read_text(encoding="utf-8")}


def _with_bases(
    name: str, among: Stores, folders: Stores, above: tuple[tuple[RecipeStore, str], ...]
) -> dict[str, str]:
    """among: where this one is looked for. above: what extends it, each with its folder."""
    found = next((folder for folder in among if folder.holds(name)), None)
    if found is None:
        raise _missing(name, folders, [each for _folder, each in above])
    chain = (*above, (found, name))
    if (found, name) in above:
        raise InvalidInput(
            f"the recipe {above[0][1]} cannot be read",
            why=f"they extend each other: {' -> '.join(each for _folder, each in chain)}",
            todo="let one of them extend none",
        )
    bundle = found.read(name)
    base = extended_by(bundle)
    if not base:
        return bundle
    # One of the same name changes that of the collection.
    others = [folder for folder in folders if (folder, base) != (found, name)] or folders
    return with_base(bundle, base, _with_bases(base, others, folders, chain))


def _missing(name: str, folders: Stores, above: Sequence[str]) -> InvalidInput:
    names = sorted({each for folder in folders for each in folder.names()})
    places = " or ".join(map(str, folders))
    if above:
        return InvalidInput(
            f"the recipe {above[0]} cannot be read",
            why=f"{above[-1]} extends {name}, and there is no recipe {name} in {places}",
            todo=f"correct extends in the {RECIPE_FILE} of {above[-1]}",
        )
    return InvalidInput(
        f"there is no recipe {name}",
        where=places,
        why=f"no folder of that name holds a {RECIPE_FILE}, a {CHART_FILE}, or manifests such as 0000-driver.yaml",
        todo=f"name one of the recipes that exist ({', '.join(names) or 'none'}), or set recipe_dir to the folder that"
        " holds your recipes",
    )
