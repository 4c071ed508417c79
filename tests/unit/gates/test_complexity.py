# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate about complexity finds what is above the limit, in functions and in methods."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gates.complexity import MOST, main, too_complex

SIMPLE = "def simple(found):\n    return [each for each in found if each]\n"


def test_what_is_above_the_limit_is_named_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branches = "".join(
        f"        if found == {number}:\n            pass\n" for number in range(MOST)
    )
    text = f"{SIMPLE}\n\nclass Walk:\n    def step(self, found):\n{branches}"
    (tmp_path / "walk.py").write_text(text)
    assert main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == (
        f"{tmp_path}/walk.py:6: Walk.step has complexity {MOST + 1}, {MOST} at most\n"
    )


def test_comprehensions_and_conditions_count(tmp_path: Path) -> None:
    (tmp_path / "simple.py").write_text(SIMPLE)
    assert list(too_complex(tmp_path, most=3)) == []
    assert len(list(too_complex(tmp_path, most=2))) == 1
