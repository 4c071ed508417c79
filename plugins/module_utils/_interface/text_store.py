# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes that are no folder on disk: what a ConfigMap or an artifact holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from .._errors import InvalidInput
from .._recipes.overlay import RECIPE_FILE
from .recipe_store import MAX_BYTES, TEXT_SUFFIXES


@dataclass(frozen=True)
class TextStore:
    """Files as a folder of recipes would have them: site/recipe.yml and so on. source is for
    messages."""

    source: str
    files: Mapping[str, str]

    @classmethod
    def of(cls, source: str, name: str, files: Mapping[str, bytes]) -> TextStore:
        """A store of what came. Files of one recipe, without its folder, are those of the recipe
        called name. Raises InvalidInput for what should be text and is none, or is too large."""
        folder = f"{name}/" if RECIPE_FILE in files else ""
        texts = {path: _text(content, f"{source}, {path}") for path, content in files.items()}
        return cls(
            source, {f"{folder}{path}": text for path, text in texts.items() if text is not None}
        )

    def __str__(self) -> str:
        return self.source

    def names(self) -> list[str]:
        """The recipes that it holds."""
        paths = map(PurePosixPath, self.files)
        return sorted(
            path.parent.name for path in paths if len(path.parts) == 2 and path.name == RECIPE_FILE
        )

    def holds(self, name: str) -> bool:
        """Whether there is such a recipe."""
        return f"{name}/{RECIPE_FILE}" in self.files

    def read(self, name: str) -> dict[str, str]:
        """The texts of a recipe by their path inside its folder; hidden files do not count."""
        inside = {
            path.removeprefix(f"{name}/"): text
            for path, text in self.files.items()
            if path.startswith(f"{name}/")
        }
        return {
            path: text
            for path, text in inside.items()
            if not any(part.startswith(".") for part in path.split("/"))
        }


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
