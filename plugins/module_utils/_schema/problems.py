# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is wrong with an input: collected, so that a person sees all of it at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput

SHOWN = 10


def suggest(name: str, names: Iterable[str], listed: int = 12) -> str:
    """ ", did you mean x?" where a name is close, else the names (at most so many), as the end of a sentence."""
    known = sorted(names)
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    if close:
        return f", did you mean {close[0]}?"
    if not known or not listed:
        return ""
    more = ", ..." if len(known) > listed else ""
    return f" (known: {', '.join(known[:listed])}{more})"


def describe(value: Any) -> str:
    """A value as an error shows it."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping" if value else "an empty mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else repr(value[:57] + "...")
    return f"the number {value}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where (file, or what was read; path of the key), what was expected, what was found.

    key: the one in the mapping at that path that should not be there.
    """

    file: str
    path: str
    expected: str
    found: str
    key: str = ""

    @property
    def text(self) -> str:
        """All but the file."""
        return f"{self.path}: expected {self.expected}, found {self.found}".removeprefix(": ")

    def __str__(self) -> str:
        return f"{self.file}{', ' if self.path else ': '}{self.text}"


class InputProblems(InvalidInput):
    """Several things are wrong with one input."""

    def __init__(self, what: str, problems: Sequence[Problem], todo: str = "") -> None:
        lines = [str(problem) for problem in problems[:SHOWN]]
        if len(problems) > SHOWN:
            lines.append(f"and {len(problems) - SHOWN} more")
        super().__init__(what, why="; ".join(lines), todo=todo)
        self.problems = tuple(problems)


class Problems:
    """Collects problems of one input."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._found: list[Problem] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, path: str, expected: str, found: str, key: str = "") -> None:
        """Take down a problem."""
        self._found.append(Problem(self.file, path, expected, found, key))

    def refuse(self, what: str, todo: str = "") -> None:
        """Raise InputProblems with all problems (the first ten in words); do nothing where there is none."""
        if not self._found:
            return
        raise InputProblems(what, self._found, todo)
