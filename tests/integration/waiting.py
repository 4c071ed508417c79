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
# Only what never comes takes this long: shorter ones failed where much else ran.
_PATIENCE_S = 240
# The same for kubectl.
PATIENTLY = f"--timeout={_PATIENCE_S}s"


def wait_until(condition: Callable[[], Any], what: str, *, instead: Callable[[], Any] = str) -> Any:
    """What the condition returns as soon as that is true; the test fails with what is there
    instead if it never is."""
    for _turn in _turns():
        if found := condition():
            return found
    pytest.fail(f"not within {_PATIENCE_S} s: {what} {instead()}".rstrip())


def wait_until_none(left: Callable[[], Collection[Any]], what: str) -> None:
    """Wait until nothing is left; the test fails with what is if it never goes."""
    for _turn in _turns():
        if not (found := left()):
            return
    pytest.fail(f"not gone within {_PATIENCE_S} s: {what}: {found}")


def _turns() -> Iterator[None]:
    """Turns to look: the first at once, the others until the time is over."""
    deadline = time.monotonic() + _PATIENCE_S
    yield
    while time.monotonic() <= deadline:
        time.sleep(_PAUSE_S)
        yield
