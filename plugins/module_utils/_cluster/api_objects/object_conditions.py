# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of an object's status, as metav1.Condition. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from ..._json import Obj
from ..._times import timestamp

# The API server keeps no longer message, and a person reads no longer one.
_LONGEST = 1000


def condition(
    before: Iterable[Mapping[str, Any]],
    kind: str,
    holds: Optional[bool],  # noqa: FBT001 - the verdict, with its reason and message
    reason: str,
    message: str,
    *,
    now: float,
    generation: Optional[int] = None,
) -> Obj:
    """A condition that keeps its time while its status stays. holds: None is Unknown. now: seconds
    since the epoch."""
    status = "Unknown" if holds is None else str(holds)
    old = next((entry for entry in before if entry.get("type") == kind), {})
    same = old.get("status") == status and bool(old.get("lastTransitionTime"))
    found: Obj = {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message if len(message) <= _LONGEST else f"{message[:_LONGEST]}…",
        "lastTransitionTime": old["lastTransitionTime"] if same else timestamp(now),
    }
    return found if generation is None else {**found, "observedGeneration": generation}
