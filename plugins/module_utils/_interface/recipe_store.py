# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of recipes on disk."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from .._errors import InvalidInput
from .._recipes.overlay import RECIPE_FILE

MAX_BYTES = 1_000_000
# What a recipe cannot be without being able to read it. Other files may be text (sources of a
# build) or not (pictures).
TEXT_SUFFIXES = (".yml", ".yaml", ".j2", ".json")


@dataclass(frozen=True)
class FileStore:
    """Recipes, each in a folder of its own."""

    path: Path

    def __str__(self) -> str:
        return str(self.path)

    def refuse_missing(self) -> None:
        """Raise InvalidInput where there is no such folder."""
        if not self.path.is_dir():
            raise InvalidInput(
                f"there are no recipes at {self.path}",
                why="there is no such folder",
                todo="set recipe_dir to the folder that holds the recipe's folder",
            )

    def names(self) -> list[str]:
        """The recipes that it holds."""
        return sorted(entry.parent.name for entry in self.path.glob(f"*/{RECIPE_FILE}"))

    def holds(self, name: str) -> bool:
        """Whether there is such a recipe."""
        return (self.path / name / RECIPE_FILE).is_file()

    def read(self, name: str) -> dict[str, str]:
        """The texts of a recipe by their path inside its folder; hidden files do not count. Raises
        InvalidInput."""
        folder, bundle = self.path / name, {}
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            if not path.is_file() or any(part.startswith(".") for part in inside.split("/")):
                continue
            if path.stat().st_size > MAX_BYTES:
                raise InvalidInput(
                    f"{path} is too large", why=f"the limit is {MAX_BYTES} bytes", todo="split it"
                )
            try:
                bundle[inside] = path.read_text(encoding="utf-8")
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
