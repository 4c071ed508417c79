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


@dataclass(frozen=True)
class _FileVariables:
    """What a file may ask for. names: the variables that it does not set itself; assigned: those that
    it sets; options: the options that it reads, None where only rendering tells."""

    names: frozenset[str]
    assigned: frozenset[str]
    options: frozenset[str] | None

    def of(self, variables: Mapping[str, Any]) -> str | None:
        """The values of all that it may read; None where that cannot be told."""
        if self.options is None or self.assigned & variables.keys():
            return None
        read = {name: variables[name] for name in self.names if name in variables}
        if "options" in read:
            options = read["options"]
            read["options"] = {name: options[name] for name in self.options if name in options}
        return repr(read)


class RecordingTemplates(Templates):
    """The templates of one recipe. errors: what could not be rendered; such a file is as good as
    empty.

    without: files that are taken for empty, since something else is wrong with what they give.
    """

    def __init__(self, files: Mapping[str, str], source: str) -> None:
        super().__init__(files, source)
        # (file, the values of what it reads) -> its text: most files see the same in many cases.
        self._reads: dict[str, _FileVariables | None] = {}
        self._texts: dict[tuple[str, str], str] = {}
        self.begin()

    def begin(self) -> None:
        """Take down anew, for the next case."""
        self.renderings: dict[str, list[Rendering]] = {}
        self.errors: list[TemplateError] = []
        self.without: set[str] = set()

    def render(self, path: str, variables: Mapping[str, Any]) -> str:
        """As its base, but "" where that is refused."""
        try:
            text = self._text(path, variables)
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

    def _text(self, path: str, variables: Mapping[str, Any]) -> str:
        """What a file gives, which is rendered once for the same values of all that it may read."""
        if path not in self._reads:
            self._reads[path] = self._read_by(path)
        reads = self._reads[path]
        values = reads.of(variables) if reads else None
        if values is None:
            return super().render(path, variables)
        if (path, values) not in self._texts:
            self._texts[path, values] = super().render(path, variables)
        return self._texts[path, values]

    def _read_by(self, path: str) -> _FileVariables | None:
        """None where the file, or one that it may include, cannot be parsed."""
        try:
            return _FileVariables(
                super().names_in(path), self.assigned_in(path), self.options_in(path)
            )
        except TemplateError:
            return None
