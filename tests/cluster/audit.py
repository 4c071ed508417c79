# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server's audit log: who asked for what."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any

from tests.cluster.api import Api

_BARRIER = "/version?audit-barrier="
Event = dict[str, Any]


def position(log: Path) -> int:
    """The end of the log: a mark from which to read later."""
    return log.stat().st_size if log.exists() else 0


def events(log: Path, api: Api, *, since: int, user: str | None) -> list[Event]:
    """Events after the mark, of one user or of all, complete up to this moment.

    A request's event is written when its answer is sent, so an own request is made and waited for
    in the log: what was answered before it is there then, too.
    """
    barrier = f"{_BARRIER}{uuid.uuid4()}"
    api.get(barrier)
    deadline = time.monotonic() + 5
    while True:
        found = _read(log, since)
        if any(event["requestURI"] == barrier for event in found) or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    found = [event for event in found if not event["requestURI"].startswith(_BARRIER)]
    return [event for event in found if user is None or event["user"]["username"] == user]


def _read(log: Path, since: int) -> list[Event]:
    with log.open("rb") as file:
        file.seek(since)
        # The last line may be half written.
        return [json.loads(line) for line in file if line.endswith(b"\n")]
