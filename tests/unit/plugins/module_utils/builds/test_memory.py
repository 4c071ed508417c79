# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Until when a build that failed is not tried again."""

from __future__ import annotations

from dataclasses import asdict, replace

from ansible_collections.hardware.enablement.plugins.module_utils._builds.failures import (
    FAILED,
    BuildPhase,
    failure,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.memory import (
    LONGEST_PAUSE_S,
    Remembered,
)

NOW = 1_800_000_000.0
ELSEWHERE = failure(BuildPhase.BASE, "NotTrusted", "x509")
MISTAKE = failure(BuildPhase.COMPILE, FAILED, "make")


def pauses(times: int) -> list[int]:
    """Seconds until each of so many failures in a row is tried again."""
    memory, found = Remembered(), []
    for _time in range(times):
        memory = memory.after("key", ELSEWHERE, NOW)
        found.append(
            next(
                seconds
                for seconds in range(LONGEST_PAUSE_S + 1)
                if not memory.forbids("key", NOW + seconds)
            )
        )
    return found


def test_what_failed_elsewhere_is_tried_again_later_and_later_but_not_later_than_that() -> None:
    assert pauses(10) == [30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
    # However often.
    assert (
        Remembered("key", attempts=10_000).after("key", ELSEWHERE, NOW).retry
        == "2027-01-15T09:00:00Z"
    )


def test_what_does_not_compile_is_not_tried_again() -> None:
    memory = Remembered().after("key", MISTAKE, NOW)
    assert memory == Remembered("key", "compile", "Failed", 1)
    assert memory.forbids("key", NOW + 10 * LONGEST_PAUSE_S)
    assert "rebuild" in memory.advice


def test_another_build_begins_anew() -> None:
    memory = Remembered().after("key", ELSEWHERE, NOW).after("key", ELSEWHERE, NOW)
    assert (memory.attempts, memory.retry, memory.forbids("other", NOW)) == (
        2,
        "2027-01-15T08:01:00Z",
        False,
    )
    assert memory.after("other", ELSEWHERE, NOW).attempts == 1
    assert (
        memory.advice == "it is tried again from 2027-01-15T08:01:00Z on, or at once with rebuild"
    )


def test_a_clock_that_was_wrong_holds_up_nothing() -> None:
    memory = Remembered().after("key", ELSEWHERE, NOW + 86_400)
    assert not memory.forbids("key", NOW)
    assert not replace(memory, retry="soon").forbids("key", NOW)


def test_the_record_gives_back_what_it_was_given() -> None:
    memory = Remembered().after("key", ELSEWHERE, NOW)
    assert Remembered.of({"state": "driver", **asdict(memory)}) == memory
    # An entry of before, which knew inputs only.
    assert not Remembered.of({"failed": "11"}).forbids("key", NOW)
    assert not Remembered.of({}).forbids("", NOW)
