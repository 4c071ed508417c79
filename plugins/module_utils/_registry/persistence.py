# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests that are sent again while the server says "later" or does not answer, for a bounded
time."""

from __future__ import annotations

import datetime
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import BinaryIO

from .http import RegistryConnections, RegistryResponse, Request
from .registry_errors import (
    Denied,
    ImageNotFound,
    RegistryError,
    RegistryUnauthorized,
    RegistryUnreachable,
    ServerError,
    TimedOut,
    TooManyRequests,
)
from .retries import may_pass, pause_before, retry_after_s, was_processed

_LONGEST = 300


class Persistence:
    """Sends requests until there is an answer that says more than "later"."""

    def __init__(self, wire: RegistryConnections, sleep: Callable[[float], None]) -> None:
        self.requests: Counter[str] = Counter()
        self._wire = wire
        self._sleep = sleep
        self._lock = threading.Lock()
        # Hosts that did not answer for a whole round of attempts: waiting for each of many images
        # would take minutes.
        self._silent: set[str] = set()

    def send(
        self,
        request: Request,
        *,
        repeatable: bool,
        sink: BinaryIO | None = None,
        count_as: str = "",
    ) -> RegistryResponse:
        """The answer, whatever its status; raises TooManyRequests, ServerError and what Wire.send
        raises.

        repeatable: working on it twice does no harm. sink: an empty file for the body of a success.
        """
        attempt = 1
        while True:
            with self._lock:
                self.requests[count_as or request.method] += 1
            asked_s = 0.0
            _rewind(request, sink)
            try:
                answer = self._wire.send(request, sink)
            except RegistryUnreachable as error:
                failure: RegistryError = error
                # Who did not answer in time is asked once more: that has taken long enough.
                tired = request.host in self._silent or (
                    isinstance(error, TimedOut) and attempt > 1
                )
                again = repeatable and not tired
            else:
                self._silent.discard(request.host)
                if not may_pass(answer.status):
                    return answer
                failure = refusal(request, answer)
                asked_s = retry_after_s(
                    _header(answer), datetime.datetime.now(datetime.timezone.utc)
                )
                again = repeatable or not was_processed(answer.status)
            attempt += 1
            pause = pause_before(attempt, asked_s) if again else None
            if pause is None:
                if isinstance(failure, RegistryUnreachable):
                    self._silent.add(request.host)
                raise failure
            self._sleep(pause)


def refusal(request: Request, answer: RegistryResponse) -> RegistryError:
    """The error that an answer tells, whatever its status."""
    status = answer.status
    kind, todo = _KINDS.get(status, (RegistryError, ""))
    if status >= 500:
        kind, todo = ServerError, "see whether the registry is healthy, then run again"
    why = message(answer)
    if status == 429 and (wait := _header(answer)):
        why += (
            f" and asks to wait {wait} s" if wait.isdigit() else f" and asks to wait until {wait}"
        )
    return kind(
        f"Cannot {request.task}",
        where=request.host,
        why=why,
        todo=todo,
        status=status,
        registry=request.host,
    )


def message(answer: RegistryResponse) -> str:
    """What a refusal's body says: the registry's own errors, else the status."""
    try:
        errors = json.loads(answer.body)["errors"]
        texts = [str(error.get("message") or error.get("code") or "") for error in errors]
    except (ValueError, LookupError, TypeError, AttributeError):
        texts = []
    text = "; ".join(" ".join(text.split()) for text in texts if text)
    return f"it answers {answer.status}" + (f" ({text[:_LONGEST]})" if text else "")


_KINDS: dict[int, tuple[type[RegistryError], str]] = {
    401: (RegistryUnauthorized, "give a pull secret with an account for it"),
    403: (Denied, "give the account the right, or another pull secret"),
    404: (ImageNotFound, ""),
    429: (TooManyRequests, "run again later, use a mirror, or log in to be granted more"),
}


def _header(answer: RegistryResponse) -> str:
    return answer.headers.get("Retry-After", "")


def _rewind(request: Request, sink: BinaryIO | None) -> None:
    if sink is not None:
        sink.seek(0)
        sink.truncate()
    if request.body is not None and not isinstance(request.body, bytes):
        request.body.seek(0)
