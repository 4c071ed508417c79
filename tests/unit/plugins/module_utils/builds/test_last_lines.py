# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build that failed says of it."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders.cluster import (
    last_lines,
)


def test_a_log_is_told_by_its_last_lines() -> None:
    assert last_lines("one\n\n  two \nthree\n", "kept", 2) == ["two", "three"]


@pytest.mark.parametrize("gone", ["", "\n"])
def test_of_a_log_that_is_gone_the_cluster_kept_the_end(gone: str) -> None:
    assert last_lines(gone, "no headers\nmake: Error 2\n", 20) == [
        "no headers",
        "make: Error 2",
    ]


def test_where_nothing_was_kept_there_are_no_lines() -> None:
    assert last_lines("", "", 20) == []
