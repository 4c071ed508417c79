# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many nodes at a time, in which order, and when."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.maintenance_window import (
    WindowRequest,
    parse_window,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.pace import Pace
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.waves import (
    amount_of,
    spread,
    wave_bounds,
)


@pytest.mark.parametrize(
    ("waves", "total", "bounds"),
    [
        (["1", "10%", "50%", "100%"], 100, [1, 11, 61, 100]),
        (["10%"], 25, [2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 25]),
        (["1", "10%"], 3, [1, 2, 3]),
        ([5], 3, [3]),
        ([], 3, [3]),
        (["1"], 0, []),
        (["0"], 2, [1, 2]),
    ],
)
def test_waves_are_written_as_serial_is(
    waves: list[str | int], total: int, bounds: list[int]
) -> None:
    assert wave_bounds(waves, total) == bounds


@pytest.mark.parametrize("value", ["ten", "10 %", "101%", "-1", "1.5", ""])
def test_what_is_no_amount_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="neither a number of nodes nor a percentage"):
        amount_of(value, 10, "max_unavailable")


def test_an_amount_is_rounded_down_and_not_below_what_it_has_to_be() -> None:
    assert [amount_of("10%", 19, "x"), amount_of("10%", 9, "x"), amount_of("10%", 9, "x", 1)] == [
        1,
        0,
        1,
    ]


def test_nodes_come_from_each_zone_in_turn() -> None:
    zones = {"a-1": "a", "a-2": "a", "a-3": "a", "b-1": "b", "c-1": "c", "c-2": "c"}
    assert spread(zones) == ["a-1", "b-1", "c-1", "a-2", "c-2", "a-3"]


PACE = Pace(bounds=(1, 3, 10), at_once=2, failures=1, soak_s=60)


@pytest.mark.parametrize(
    ("ended", "under_way", "idle_s", "may"),
    [
        (0, 0, 0.0, True),
        (0, 1, 0.0, False),  # the canary alone
        (1, 0, 59.0, False),  # it has to stay proven
        (1, 0, 60.0, True),
        (1, 1, 0.0, True),  # the wave is under way
        (2, 1, 999.0, False),
        (3, 0, 60.0, True),
        (10, 0, 60.0, False),
    ],
)
def test_a_wave_begins_when_the_one_before_is_proven_for_long_enough(
    ended: int, under_way: int, idle_s: float, may: bool
) -> None:
    assert PACE.may_begin(ended, under_way, idle_s) is may


@pytest.mark.parametrize(
    ("ended", "failed", "said"),
    [
        (1, 0, ""),
        (1, 1, "1 node of the first wave failed"),
        (4, 1, ""),
        (4, 2, "2 nodes failed, and max_failures allows 1"),
    ],
)
def test_too_many_failures_stop_it(ended: int, failed: int, said: str) -> None:
    assert PACE.stop_reason(ended, failed) == said


def test_one_wave_has_no_canary() -> None:
    assert Pace(bounds=(5,), at_once=5, failures=1).stop_reason(1, 1) == ""


def test_a_percentage_is_of_what_it_is_about() -> None:
    pace = Pace.of(["1", "50%"], "10%", "10%", 0, to_exchange=20, nodes=45)
    assert pace == Pace(bounds=(1, 11, 20), at_once=4, failures=2)
    assert [pace.wave(number) for number in (0, 1, 10, 11, 19)] == [1, 2, 2, 3, 3]


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp()


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        ("2026-11-21T21:59", False),  # a Saturday
        ("2026-11-21T22:00", True),
        ("2026-11-22T03:59", True),
        ("2026-11-22T04:00", False),
        ("2026-11-22T22:30", False),
    ],
)
def test_a_window_may_end_on_the_next_day(moment: str, is_open: bool) -> None:
    window = parse_window(WindowRequest("22:00", "04:00", ["sat"]))
    assert window is not None
    assert window.is_open(at(moment)) is is_open


def test_a_window_is_where_somebody_lives() -> None:
    window = parse_window(WindowRequest("12:00", "13:00", timezone="Asia/Tokyo"))
    assert window is not None
    assert window.is_open(at("2026-11-21T03:30"))
    assert not window.is_open(at("2026-11-21T12:30"))
    assert str(window) == "12:00 to 13:00 Asia/Tokyo (mon,tue,wed,thu,fri,sat,sun)"


@pytest.mark.parametrize(
    "given",
    [
        {"start": "25:00", "end": "04:00"},
        {"start": "22:00", "end": "soon"},
        {"start": "22:00", "end": "04:00", "days": ["someday"]},
        {"start": "22:00", "end": "04:00", "timezone": "Mars/Olympus"},
        {"start": "22:00", "end": "04:00", "timezone": "../../etc/passwd"},
    ],
)
def test_what_is_no_window_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="the maintenance window cannot be used"):
        parse_window(WindowRequest(**given))


def test_without_a_window_any_time_will_do() -> None:
    assert parse_window(None) is None
