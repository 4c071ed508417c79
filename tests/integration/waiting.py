# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wait for what a cluster does in its own time; a failure says what did not happen."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

_PAUSE_S = 0.2


def wait_until(
    condition: Callable[[], Any],
    what: str,
    *,
    seconds: float = 60,
    instead: Callable[[], Any] = str,
) -> Any:
    """What the condition returns as soon as that is true; the test fails after so many seconds, with
    what is there instead."""
    for _turn in _turns(seconds):
        if found := condition():
            return found
    pytest.fail(f"not within {seconds:.0f} s: {what} {instead()}".rstrip())


def wait_until_none(left: Callable[[], Collection[Any]], what: str, *, seconds: float = 60) -> None:
    """Wait until nothing is left; the test fails with what is, after so many seconds."""
    for _turn in _turns(seconds):
        if not (found := left()):
            return
    pytest.fail(f"not gone within {seconds:.0f} s: {what}: {found}")


def _turns(seconds: float) -> Iterator[None]:
    """Turns to look: the first at once, the others until the time is over."""
    deadline = time.monotonic() + seconds
    yield
    while time.monotonic() <= deadline:
        time.sleep(_PAUSE_S)
        yield
