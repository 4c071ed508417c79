# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Go templates, as far as they can be judged without rendering them: what stands between their
braces, line by line. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ACTION = re.compile(r"\{\{-?\s*(?P<inside>.*?)\s*-?\}\}", re.DOTALL)
_STRINGS = re.compile(r'"(?:\\.|[^"\\])*"|`[^`]*`|/\*.*?\*/', re.DOTALL)
# They give something else in each run, or look at a cluster.
_UNSTEADY = re.compile(
    r"(?<![.\w$])(?P<name>lookup|now|uuidv4|derivePassword|htpasswd|bcrypt|getHostByName"
    r"|gen(?:CA|SelfSignedCert|SignedCert)(?:WithKey)?|genPrivateKey"
    r"|rand(?:Alpha|AlphaNum|Ascii|Numeric|Bytes|Int))\b"
)


@dataclass(frozen=True)
class GoAction:
    """What stands between a pair of braces, without the texts in quotes. line: where it begins."""

    code: str
    line: int


def actions_in(text: str) -> Iterator[GoAction]:
    """The actions of a template, in order; comments are none."""
    for found in _ACTION.finditer(text):
        if not found["inside"].startswith("/*"):
            line = text.count("\n", 0, found.start()) + 1
            yield GoAction(_STRINGS.sub('""', found["inside"]), line)


def unsteady_in(text: str) -> Iterator[tuple[str, int]]:
    """(function, line) of each function whose result is not the same in every run."""
    for action in actions_in(text):
        for found in _UNSTEADY.finditer(action.code):
            yield found["name"], action.line
