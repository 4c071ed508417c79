# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repetition: what is sent again, after what, and how often."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.repetition import (
    Failed,
    Repeatable,
    pause_before_next,
)

ONCE, AGAIN = Repeatable(), Repeatable(lost=True)
READ, WRITE = Repeatable(lost=True, read=True), Repeatable(lost=True, conflict=True)


@pytest.mark.parametrize(
    ("allowed", "failed", "attempts"),
    [
        (ONCE, Failed(arrived=False), 99),
        (ONCE, Failed(), 1),
        (ONCE, Failed(503), 1),
        (ONCE, Failed(429), 1),
        (ONCE, Failed(429, retry_after=1.0), 99),
        (AGAIN, Failed(), 99),
        (AGAIN, Failed(200), 99),
        (AGAIN, Failed(503), 99),
        (AGAIN, Failed(500), 3),
        (READ, Failed(500), 99),
        (AGAIN, Failed(409), 1),
        (WRITE, Failed(409), 4),
        (WRITE, Failed(409, hopeless=True), 1),
        (READ, Failed(hopeless=True), 1),
        *((READ, Failed(status), 1) for status in (302, 400, 401, 403, 404, 410, 422)),
    ],
)
def test_how_often(allowed: Repeatable, failed: Failed, attempts: int) -> None:
    sent = 1
    while sent < 99 and pause_before_next(allowed, failed, sent) is not None:
        sent += 1
    assert sent == attempts


def test_pauses_grow_to_a_limit_and_differ() -> None:
    pauses = [pause_before_next(READ, Failed(), attempt) or 0.0 for attempt in range(1, 20)]
    assert all(0.07 < pause <= 2.0 for pause in pauses)
    assert pauses[0] < pauses[2] < pauses[4]
    assert len(set(pauses[5:])) > 1
    assert pause_before_next(READ, Failed(503, retry_after=7.0), 1) == 7.0
