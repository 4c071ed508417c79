# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a request is sent again, and how long to wait before that: the one policy for all of them.
Pure.

| fate of the attempt | such as | sent again |
|---|---|---|
| REFUSED | 401, 403, 404, 422, a conflict of field managers, a certificate that cannot be verified | never |
| PUT_OFF: nothing was done | no connection, 429 | always |
| RACED: nothing was done, since another was faster | 409 | where the request names no version of the object |
| UNCLEAR: it may have been done | a lost or unreadable answer, 500, 502, 503, 504 | where doing it twice does no harm |

"Always" means for some seconds: what lasts longer is an error, which the caller reports of what it
was about. Whoever answers and says when to come back (Retry-After) is waited for much longer: the API
server's priority and fairness asks for 1 to 32 s, ever more while it is busy
(dropped_requests_tracker.go in staging/src/k8s.io/apiserver/pkg/util/flowcontrol).
"""

from __future__ import annotations

import enum
from random import SystemRandom

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
_random = SystemRandom()


class Fate(enum.Enum):
    """What became of a request that has failed."""

    REFUSED = "refused"
    PUT_OFF = "put off"
    RACED = "raced"
    UNCLEAR = "unclear"


def pause_before(attempt: int) -> float:
    """Seconds to wait before the attempt of this number (the first repetition is 2).

    Twice as long each time, and half of it by chance, so that many clients do not come back at one
    moment.
    """
    pause = min(FIRST_PAUSE_S * (1 << min(attempt - 2, 16)), LONGEST_PAUSE_S)
    return pause * _random.uniform(0.5, 1.0)


class Repetition:
    """The attempts of one request. repeatable and unconditional: see RepetitionPolicy."""

    def __init__(self, *, repeatable: bool, unconditional: bool, now: float) -> None:
        self.attempts = 1
        self._again = {
            Fate.REFUSED: False,
            Fate.PUT_OFF: True,
            Fate.RACED: unconditional,
            Fate.UNCLEAR: repeatable,
        }
        self._begun = now

    def next(self, fate: Fate, asked_s: float, patience_s: float, now: float) -> float | None:
        """Seconds to wait before the next attempt, which is counted; None: give up.

        asked_s: how long the API server asks to wait. patience_s: for how long the request may be
        sent again, since it was sent first. An answer that was waited for in vain took all the time
        there was; it is asked for once more all the same, since the silence may have been that of
        one connection.
        """
        pause = max(asked_s, pause_before(self.attempts + 1))
        once_more = fate is Fate.UNCLEAR and self.attempts == 1
        late = now + pause > self._begun + patience_s and not once_more
        if not self._again[fate] or pause > patience_s or late:
            return None
        self.attempts += 1
        return pause
