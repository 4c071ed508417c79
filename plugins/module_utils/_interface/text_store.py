# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes that are no folder on disk: what a ConfigMap or an artifact holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from .._charts.chart_archive import charts_among, is_subchart, texts_of
from .._charts.recipe_files import is_recipe
from .._charts.recipe_store import MAX_BYTES, TEXT_SUFFIXES, is_of_recipe
from .._errors import InvalidInput


@dataclass(frozen=True)
class TextStore:
    """Files as a folder of recipes would have them: site/recipe.yml and so on. source is for
    messages."""

    source: str
    files: Mapping[str, str]

    @classmethod
    def of(cls, source: str, name: str, files: Mapping[str, bytes], version: str = "") -> TextStore:
        """A store of what came. Files of one recipe, without its folder, are those of the recipe
        called name. Packed charts are recipes, each in the wanted version, else in its newest.
        Raises InvalidInput for what should be text and is none, or is too large."""
        others, charts = charts_among(files, source, version)
        subcharts = {path: content for path, content in others.items() if is_subchart(path)}
        texts = texts_of(subcharts, source)
        for path, content in others.items():
            text = None if path in subcharts else _text(content, f"{source}, {path}")
            if text is not None:
                texts[path] = text
        whole = (
            {f"{name}/{path}": text for path, text in texts.items()} if _is_one(texts) else texts
        )
        for chart, inside in charts.items():
            whole |= {f"{chart}/{path}": text for path, text in inside.items()}
        return cls(source, whole)

    def __str__(self) -> str:
        return self.source

    def names(self) -> list[str]:
        """The recipes that it holds."""
        folders = {path.partition("/")[0] for path in self.files if "/" in path}
        return sorted(name for name in folders if self.holds(name))

    def holds(self, name: str) -> bool:
        """Whether there is such a recipe."""
        return is_recipe(
            path.partition("/")[2] for path in self.files if path.startswith(f"{name}/")
        )

    def read(self, name: str) -> dict[str, str]:
        """The texts of a recipe by their path inside its folder; hidden files do not count."""
        inside = {
            path.removeprefix(f"{name}/"): text
            for path, text in self.files.items()
            if path.startswith(f"{name}/")
        }
        return {path: text for path, text in inside.items() if is_of_recipe(path)}


def _is_one(files: Iterable[str]) -> bool:
    """Whether the files are those of one recipe, without its folder."""
    return is_recipe(path for path in files if "/" not in path)


def _text(content: bytes, where: str) -> str | None:
    """None for what is no text and need not be."""
    if len(content) > MAX_BYTES:
        raise InvalidInput(
            f"{where} is too large", why=f"the limit is {MAX_BYTES} bytes", todo="split it"
        )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        if PurePosixPath(where).suffix not in TEXT_SUFFIXES:
            return None
        raise InvalidInput(
            f"{where} is no UTF-8 text", why=str(error), todo="save it as UTF-8"
        ) from error
