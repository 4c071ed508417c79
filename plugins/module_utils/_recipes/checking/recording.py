# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates that take down what they render, and go on where one of them cannot be rendered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..templates.templating import TemplateError, Templates


@dataclass(frozen=True)
class Rendering:
    """One file, rendered once."""

    path: str
    variables: Mapping[str, Any]
    text: str


class RecordingTemplates(Templates):
    """The templates of one recipe. errors: what could not be rendered; such a file is as good as
    empty.

    without: files that are taken for empty, since something else is wrong with what they give.
    """

    def __init__(self, files: Mapping[str, str], source: str) -> None:
        super().__init__(files, source)
        self.renderings: dict[str, list[Rendering]] = {}
        self.errors: list[TemplateError] = []
        self.without: set[str] = set()

    def render(self, path: str, variables: Mapping[str, Any]) -> str:
        """As its base, but "" where that is refused."""
        try:
            text = super().render(path, variables)
        except TemplateError as error:
            self.errors.append(error)
            self.without.add(path)
            return ""
        self.renderings.setdefault(path, []).append(Rendering(path, variables, text))
        return "" if path in self.without else text

    def names_in(self, path: str) -> frozenset[str]:
        """As in Templates, but a file that cannot be parsed is reported when it is rendered, not
        here."""
        try:
            return super().names_in(path)
        except TemplateError:
            return frozenset()
