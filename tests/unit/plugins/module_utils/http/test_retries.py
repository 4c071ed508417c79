# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repetitions are bounded, and wait as long as the server asks."""

from __future__ import annotations

import datetime

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._http.retries import (
    LONGEST_PAUSE_S,
    LONGEST_WAIT_S,
    PAUSES_S,
    may_pass,
    pause_before,
    retry_after_s,
)

NOW = datetime.datetime(2026, 11, 21, 12, 0, 0, tzinfo=datetime.timezone.utc)


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_what_may_pass_by_itself(status: int) -> None:
    assert may_pass(status)


@pytest.mark.parametrize("status", [200, 400, 401, 403, 404, 405, 413, 501])
def test_what_will_not(status: int) -> None:
    assert not may_pass(status)


def test_there_is_an_end() -> None:
    pauses = [pause_before(attempt) for attempt in range(2, 2 + len(PAUSES_S))]
    assert pauses == list(PAUSES_S)
    assert pause_before(2 + len(PAUSES_S)) is None


def test_whoever_says_when_to_come_back_is_asked_for_longer() -> None:
    assert pause_before(3 + len(PAUSES_S), 5.0, 100.0) == 5.0
    assert pause_before(3 + len(PAUSES_S), 0.1, 100.0) == PAUSES_S[-1]
    assert pause_before(3, 5.0, LONGEST_WAIT_S - 4.9) is None


def test_a_wish_of_the_server_is_respected() -> None:
    assert pause_before(2, 7.0) == 7.0
    assert pause_before(2, 0.0) == PAUSES_S[0]
    assert pause_before(2, LONGEST_PAUSE_S) == LONGEST_PAUSE_S


def test_a_wish_for_too_long_is_an_end() -> None:
    assert pause_before(2, LONGEST_PAUSE_S + 1) is None


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("", 0),
        ("0", 0),
        (" 17 ", 17),
        ("soon", 0),
        ("-5", 0),
        ("1.5", 0),
        ("\xb2", 0),
        ("Sun, 99 Foo 99999999999 99:99:99 +99999999", 0),
        ("Sat, 21 Nov 2026 12:00:05 +99999999999999999999", 0),
        ("Sat, 21 Nov 2026 12:00:05 GMT", 5),
        ("Sat, 21 Nov 2026 13:00:05 +0100", 5),
        ("Sat, 21 Nov 2026 12:00:05 -0000", 5),
        ("Sat, 21 Nov 2026 11:59:00 GMT", 0),
    ],
)
def test_the_header(header: str, seconds: float) -> None:
    assert retry_after_s(header, NOW) == seconds
