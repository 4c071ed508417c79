# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The list of what is promised, and how to break each promise."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

REPO = Path(__file__).resolve().parents[2]
LIST = Path(__file__).parent / "rules.yml"
CODE, TESTS = "plugins/module_utils", "tests/unit"


class RuleError(Exception):
    """A rule cannot be broken as the list says; the message is one sentence for a person."""


@dataclass(frozen=True)
class Rule:
    """A promise. file: where it is kept, from the repository's root. text: what keeps it there, once in the file;
    instead: what breaks it. tests: the files of which one has to fail then.
    """

    area: str
    promise: str
    file: str
    text: str
    instead: str
    tests: tuple[str, ...]

    def broken(self, source: str) -> str:
        """The file's text without the rule. Raises RuleError."""
        found = source.count(self.text)
        if found != 1:
            raise RuleError(
                f"{self.file} has the text {found} times instead of once: correct the list"
            )
        result = source.replace(self.text, self.instead)
        if self.file.endswith(".py"):
            try:
                compile(result, self.file, "exec")
            except SyntaxError as error:
                raise RuleError(
                    f"{self.file} is no Python any more when it is broken ({error})"
                ) from error
        return result


def load(file: Path = LIST) -> list[Rule]:
    """All rules, in the order of the list."""
    areas = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [
        Rule(
            area=area["area"],
            promise=entry["promise"],
            file=f"{CODE}/{entry['file']}",
            text=entry["text"],
            instead=entry["instead"],
            tests=tuple(f"{TESTS}/{test}" for test in entry["tests"]),
        )
        for area in areas
        for entry in area["rules"]
    ]
