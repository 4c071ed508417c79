# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of the code are counted as their titles say."""

from __future__ import annotations

from pathlib import Path

from tests.measures import measure

CODE = """
from dataclasses import dataclass

@dataclass
class Login:
    user: str

@dataclass
class StateApplyRequest:
    login: "Login"
    given: Login
    a: int
    b: int
    c: int
    d: int
    e: int
    f: int

def one(request: StateApplyRequest) -> int:
    if request:
        return 1
    return 2

def other(*, login: Login) -> int:
    return 1

def untyped(params: Mapping[str, Any]) -> int:
    return 1

class Door:
    def is_open(self) -> bool:
        return True
"""


def test_a_small_tree_is_counted(tmp_path: Path) -> None:
    (tmp_path / "plugins").mkdir()
    (tmp_path / "plugins" / "a.py").write_text(CODE)
    found = measure(tmp_path).figures
    assert found["functions"] == "4"  # a method once, though its class has it too
    assert found["branches per 100 lines of functions"] == "10.0"
    assert found["complexity per 100 lines of functions"] == "50.0"
    assert found["classes with 8 fields or more"] == "1"
    assert found["the widest"] == "StateApplyRequest 8, Login 1, Door 0"
    assert found["functions that take arguments untyped"] == "1"
    assert found["functions that take StateApplyRequest, or a part of it"] == "2"
    assert found["lines of plugins/"] == str(CODE.count("\n"))
