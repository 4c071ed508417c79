# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a recipe's files from disk: the one place where a recipe is more than text in memory."""

from __future__ import annotations

from pathlib import Path

from .._errors import InvalidInput
from .._recipes.overlay import RECIPE_FILE, extended_by, with_base

MAX_BYTES = 1_000_000
# What a recipe cannot be without being able to read it. Other files may be text (sources of a
# build) or not (pictures).
TEXT_SUFFIXES = (".yml", ".yaml", ".j2", ".json")


def read_bundle(folder: Path, shipped: Path | None = None) -> dict[str, str]:
    """The texts of a recipe by their path inside its folder, with those of the recipe that it
    extends, which lies beside it or in shipped; hidden files do not count.

    Raises InvalidInput where there is no recipe, or something in it that should be text and is
    none, or where recipes extend each other in a circle.
    """
    return _with_bases(folder, shipped, ())


def _with_bases(folder: Path, shipped: Path | None, above: tuple[Path, ...]) -> dict[str, str]:
    """above: the folders of the recipes that extend this one."""
    chain = (*above, folder.resolve())
    bundle = _files_in(folder)
    base = extended_by(bundle)
    if not base:
        return bundle
    # One of the same name changes that of the collection.
    places = [
        parent / base
        for parent in (folder.parent, shipped)
        if parent and (parent / base).resolve() != chain[-1]
    ]
    found = next((place for place in places if (place / RECIPE_FILE).is_file()), None)
    if found is not None and found.resolve() not in chain:
        return with_base(bundle, base, _with_bases(found, shipped, chain))
    names = [*(each.name for each in chain), base]
    if found is not None or not places:
        why, todo = f"they extend each other: {' -> '.join(names)}", "let one of them extend none"
    else:
        why = f"there is no recipe {base}, neither beside it nor in the collection"
        todo = f"correct extends in {folder / RECIPE_FILE}"
    raise InvalidInput(f"the recipe {names[0]} cannot be read", why=why, todo=todo)


def _files_in(folder: Path) -> dict[str, str]:
    if not (folder / RECIPE_FILE).is_file():
        raise InvalidInput(
            f"there is no recipe at {folder}",
            why="it holds no recipe.yml",
            todo=f"name one of the recipes that exist ({_names(folder.parent)}), or set recipe_dir to the folder that"
            " holds your recipes",
        )
    bundle = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or any(part.startswith(".") for part in name.split("/")):
            continue
        if path.stat().st_size > MAX_BYTES:
            raise InvalidInput(
                f"{path} is too large", why=f"the limit is {MAX_BYTES} bytes", todo="split it"
            )
        try:
            bundle[name] = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InvalidInput(
                f"{path} cannot be read", why=str(error.strerror), todo="check its rights"
            ) from error
        except UnicodeDecodeError as error:
            if path.suffix not in TEXT_SUFFIXES:
                continue
            raise InvalidInput(
                f"{path} is no UTF-8 text", why=str(error), todo="save it as UTF-8"
            ) from error
    return bundle


def _names(folder: Path) -> str:
    names = sorted(entry.parent.name for entry in folder.glob("*/recipe.yml"))
    return ", ".join(names) or f"none in {folder}"
