# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What can go wrong with a request, and when."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Fault:
    """What happens to some requests.

    method ("" for any) and path (a regular expression, searched for) say to which; skip: how many
    of them go well first; times: to how many of the others, None until the fault is taken away.
    latency: seconds before anything else happens. status, headers, body: this is the answer, the
    upstream is not asked. lost: the connection ends before the upstream gets the request, or after
    it has done what it was asked for, but before its answer. cut_after: bytes of the answer's body
    after which the connection ends. spoil_token: the upstream gets a token that is not valid (any
    more), and answers that in its own words.
    """

    method: str = ""
    path: str = ""
    skip: int = 0
    times: int | None = None
    latency: float = 0.0
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    lost: Literal["", "request", "answer"] = ""
    cut_after: int | None = None
    spoil_token: bool = False

    def concerns(self, method: str, path: str) -> bool:
        """Whether it happens to such a request."""
        return self.method in ("", method) and re.search(self.path, path) is not None


@dataclass(frozen=True)
class Seen:
    """One request as the proxy got it. authorization: that header. fault: what happened to it;
    status: the answer's."""

    method: str
    path: str
    authorization: str
    fault: Fault | None
    status: int


class Faults:
    """The switchboard: of the faults that are on, the first one that concerns a request happens to
    it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._on: list[tuple[Fault, list[int]]] = []

    @contextmanager
    def on(self, fault: Fault) -> Iterator[None]:
        """Switch a fault on for a while."""
        entry = (fault, [0])
        with self._lock:
            self._on.append(entry)
        try:
            yield
        finally:
            with self._lock:
                self._on.remove(entry)

    def strike(self, method: str, path: str) -> Fault | None:
        """The fault for a request, which is counted; None if it is to go well."""
        with self._lock:
            for fault, count in self._on:
                if fault.concerns(method, path) and (
                    fault.times is None or count[0] < fault.skip + fault.times
                ):
                    count[0] += 1
                    if count[0] > fault.skip:
                        return fault
        return None
