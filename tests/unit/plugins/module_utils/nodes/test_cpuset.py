# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of CPUs mean the same however they are written, and a slip in one is named."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.cpuset import (
    parse_cores,
    to_ranges,
    to_strings,
)


@pytest.mark.parametrize(
    ("items", "cores"),
    [
        ([], ()),
        ([""], ()),
        (["\n"], ()),
        (["3"], (3,)),
        (["4-5"], (4, 5)),
        (["0-1,3"], (0, 1, 3)),
        (["3", "0-1", "1"], (0, 1, 3)),
        ([" 2 , 4 - 4 ".replace(" - ", "-")], (2, 4)),
        (["007"], (7,)),
        (["8191"], (8191,)),
    ],
)
def test_all_spellings_are_one(items: list[str], cores: tuple[int, ...]) -> None:
    assert parse_cores(items) == cores


@pytest.mark.parametrize(
    ("item", "why"),
    [
        ("x", "neither"),
        ("-1", "neither"),
        ("1-", "neither"),
        ("1,,2", "neither"),
        ("1.5", "neither"),
        ("٣", "neither"),
        ("5-3", "backwards"),
        ("0-8192", "no machine"),
        ("0-999999999", "no machine"),
    ],
)
def test_a_slip_is_named(item: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why) as caught:
        parse_cores(["1", item])
    assert f'"{item}"' in str(caught.value)


def test_written_again() -> None:
    assert to_strings((0, 1, 10)) == ["0", "1", "10"]
    assert to_ranges((10, 0, 1, 3, 2, 8)) == "0-3,8,10"
    assert to_ranges(()) == ""
