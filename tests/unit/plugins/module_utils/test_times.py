# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Moments are read and written as the API server does, whatever the machine's zone."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._times import (
    micro_timestamp,
    seconds,
    timestamp,
)


def test_what_is_written_is_read_again() -> None:
    assert timestamp(1_800_000_000.5) == "2027-01-15T08:00:00Z"
    assert micro_timestamp(1_800_000_000.5) == "2027-01-15T08:00:00.500000Z"
    assert seconds(timestamp(1_800_000_000.0)) == 1_800_000_000.0
    assert seconds(micro_timestamp(1_800_000_000.5)) == 1_800_000_000.5
    assert seconds("2027-01-15T09:00:00+01:00") == 1_800_000_000.0


def test_a_time_that_is_longer_away_than_a_year_has_digits_is_the_last_one() -> None:
    far = seconds("9999-12-31T23:59:59Z")
    assert far is not None
    assert timestamp(far + 60.0) == "9999-12-31T00:00:00Z"
    assert micro_timestamp(1e300).startswith("9999-")


@pytest.mark.parametrize(
    "text",
    [None, "", "soon", "2027-01-15T08:00:00", "2027-01-15", "0000-01-01T00:00:00Z", "9" * 5000],
)
def test_what_is_no_time(text: str | None) -> None:
    assert seconds(text) is None
