# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where recipes are: what any such place can do, and a folder on disk, with recipes in whatever format
and packed charts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .._errors import InvalidInput
from .._recipes.loading.recipe_archive import MOST_BYTES
from .._recipes.templates.overlay import RECIPE_FILE
from .chart_archive import CHART_FILE, chart_files, is_subchart
from .recipe_files import is_recipe

# Of one file, as of all of an archive.
MAX_BYTES = MOST_BYTES
# The one hidden file that counts: it says which files are no part of a chart.
HELM_IGNORES = ".helmignore"
# What a recipe cannot be without being able to read it. Other files may be text (sources of a
# build) or not (pictures).
TEXT_SUFFIXES = (".yml", ".yaml", ".j2", ".json")


class RecipeStore(Protocol):
    """A place with recipes; its text names it in messages."""

    def names(self) -> list[str]:
        """The recipes that it holds, as far as it can tell."""

    def holds(self, name: str) -> bool:
        """Whether there is such a recipe."""

    def read(self, name: str) -> dict[str, str]:
        """The texts of a recipe by their path inside its folder. Raises InvalidInput."""


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
        return sorted(
            entry.parent.name
            for name in (RECIPE_FILE, CHART_FILE)
            for entry in self.path.glob(f"*/{name}")
        )

    def holds(self, name: str) -> bool:
        """Whether there is such a recipe."""
        if self._archives(name):
            return True
        folder = self._folder(name)
        files = folder.rglob("*.y*ml") if folder.is_dir() else ()
        return is_recipe(path.relative_to(folder).as_posix() for path in files)

    def read(self, name: str) -> dict[str, str]:
        """The texts of a recipe by their path inside its folder; hidden files do not count. Raises
        InvalidInput."""
        if archives := self._archives(name):
            return self._unpacked(name, archives)
        folder = self._folder(name)
        bundle: dict[str, str] = {}
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            if path.is_file() and is_of_recipe(inside):
                bundle.update(_texts_of(path, inside))
        return bundle

    def _folder(self, name: str) -> Path:
        """The recipe's folder: the one of this name, else that of the chart which its Chart.yaml calls
        so. Raises InvalidInput where several charts are."""
        folder = self.path / name
        if folder.exists():
            return folder
        called = re.compile(rf"^name:\s*([\"']?){re.escape(name)}\1\s*(#.*)?$", re.MULTILINE)
        found = [
            chart.parent
            for chart in sorted(self.path.glob(f"*/{CHART_FILE}"))
            if called.search(chart.read_text(encoding="utf-8", errors="replace"))
        ]
        if len(found) > 1:
            raise InvalidInput(
                f"there are several charts {name} in {self.path}",
                why=f"{', '.join(each.name for each in found)} are called so in their {CHART_FILE}",
                todo="name one of the folders",
            )
        return found[0] if found else folder

    def _archives(self, name: str) -> list[Path]:
        """The packed charts that are there instead of a folder: NAME.tgz, else NAME-VERSION.tgz."""
        if self._folder(name).exists():
            return []
        exact = self.path / f"{name}.tgz"
        return [exact] if exact.is_file() else sorted(self.path.glob(f"{name}-[0-9]*.tgz"))

    def _unpacked(self, name: str, archives: Sequence[Path]) -> dict[str, str]:
        if len(archives) > 1:
            raise InvalidInput(
                f"there are several archives of {name} in {self.path}",
                why=", ".join(path.name for path in archives),
                todo="name one of them, without .tgz",
            )
        return chart_files(archives[0].read_bytes(), str(archives[0]))


def is_of_recipe(inside: str) -> bool:
    """Whether a file is part of its recipe, by its path in the recipe's folder."""
    return inside == HELM_IGNORES or not any(part.startswith(".") for part in inside.split("/"))


def _texts_of(path: Path, inside: str) -> dict[str, str]:
    """The texts of one file by their paths: its own, those of a packed chart, or none where it need
    not be text. Raises InvalidInput."""
    if path.stat().st_size > MAX_BYTES:
        raise InvalidInput(
            f"{path} is too large", why=f"the limit is {MAX_BYTES} bytes", todo="split it"
        )
    if is_subchart(inside):
        packed = chart_files(path.read_bytes(), str(path))
        place = inside.removesuffix(".tgz")
        return {f"{place}/{each}": text for each, text in packed.items()}
    try:
        return {inside: path.read_text(encoding="utf-8")}
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read", why=str(error.strerror), todo="check its rights"
        ) from error
    except UnicodeDecodeError as error:
        if path.suffix not in TEXT_SUFFIXES:
            return {}
        raise InvalidInput(
            f"{path} is no UTF-8 text", why=str(error), todo="save it as UTF-8"
        ) from error


FOLDER = "file://"


def is_elsewhere(place: str) -> bool:
    """Whether recipe_dir names no folder of this machine."""
    return "://" in place and not place.startswith(FOLDER)


def folder_at(place: str) -> FileStore:
    """The folder that recipe_dir names. Raises InvalidInput where there is none."""
    folder = FileStore(Path(place.removeprefix(FOLDER)).expanduser())
    folder.refuse_missing()
    return folder
