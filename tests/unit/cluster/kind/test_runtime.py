# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a container asks for, without what an engine cannot give."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.kind.runtime import option, without_refused


@pytest.mark.parametrize(("score", "kept"), [(-999, 0), (0, 0), (500, 500)])
def test_neither_the_capability_nor_a_score_below_zero(score: int, kept: int) -> None:
    process: dict[str, Any] = {
        "args": ["init"],
        "capabilities": {"bounding": ["CAP_KILL", "CAP_SYS_RESOURCE"], "ambient": []},
        "oomScoreAdj": score,
    }
    assert without_refused(process) == {
        "args": ["init"],
        "capabilities": {"bounding": ["CAP_KILL"], "ambient": []},
        "oomScoreAdj": kept,
    }


@pytest.mark.parametrize(
    "arguments",
    [["create", "--bundle", "/b", "id"], ["create", "--bundle=/b"], ["create", "-b", "/b"]],
)
def test_an_option_with_its_value(arguments: list[str]) -> None:
    assert option(arguments, "--bundle", "-b") == "/b"
    assert option(arguments, "--process", "-p") == ""
