# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a recipe's files from disk: the one place where a recipe is more than text in memory."""

from __future__ import annotations

from pathlib import Path

from .._errors import InvalidInput

MAX_BYTES = 1_000_000
# What a recipe cannot be without being able to read it. Other files may be text (sources of a
# build) or not (pictures).
TEXT_SUFFIXES = (".yml", ".yaml", ".j2", ".json")


def read_bundle(folder: Path) -> dict[str, str]:
    """The texts of a recipe by their path inside its folder; hidden files do not count.

    Raises InvalidInput where there is no recipe, or something in it that should be text and is
    none.
    """
    if not (folder / "recipe.yml").is_file():
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
