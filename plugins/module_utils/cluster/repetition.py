# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which request is sent again after which failure, and when: the one policy of all requests. Pure but for the dice."""

from __future__ import annotations

import random
from dataclasses import dataclass

_PAUSES_S = (0.1, 0.2, 0.4, 0.8, 1.6)
_LATER = frozenset({502, 503, 504})
# A conflict is over in a moment, or there for good. A 500 may be an election of etcd's leader, which is over in a
# moment too, or a webhook that fails again, for which nobody wants to wait.
_CONFLICTS = 4
_ERRORS = 2


@dataclass(frozen=True)
class Repeatable:
    """What a request allows. lost: sending it twice does no harm, so it may be sent again where nobody knows whether
    it arrived. conflict: it names no version, so a conflict only means that somebody wrote at the same moment.
    read: it changes nothing."""

    lost: bool = False
    conflict: bool = False
    read: bool = False


@dataclass(frozen=True)
class Failed:
    """How an attempt ended. status: of the answer, 0 where none came. arrived: the API server may have carried it
    out. retry_after: seconds that the answer asks for, None without. hopeless: no waiting heals it (TLS, managers in
    conflict)."""

    status: int = 0
    arrived: bool = True
    retry_after: float | None = None
    hopeless: bool = False

    @property
    def carried_out_maybe(self) -> bool:
        """Whether nobody knows if the API server did what was asked: no answer, or one of somebody on the way."""
        return self.arrived and self.status not in (409, 429)


def pause_before_next(allowed: Repeatable, failed: Failed, attempt: int) -> float | None:
    """Seconds until the next attempt after this one (1 is the first), None where there is none."""
    if failed.hopeless or not _may_follow(allowed, failed, attempt):
        return None
    if failed.retry_after is not None:
        return failed.retry_after
    return _PAUSES_S[min(attempt, len(_PAUSES_S)) - 1] * random.uniform(0.75, 1.25)


def _may_follow(allowed: Repeatable, failed: Failed, attempt: int) -> bool:
    if not failed.arrived:
        return True
    if failed.status == 409:
        return allowed.conflict and attempt < _CONFLICTS
    if failed.status == 429:
        return allowed.lost or failed.retry_after is not None
    if failed.status == 500:
        return allowed.read or (allowed.lost and attempt <= _ERRORS)
    # Status 2xx: what came is no answer of an API server.
    return allowed.lost and (failed.status in _LATER or failed.status < 300)
