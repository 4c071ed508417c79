# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Questions that a proof puts to the cluster. A proof stays a pure function: it names what it wants
to know or have done, the loop does it, and the proof is looked at again with the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Union


@dataclass(frozen=True)
class StartPod:
    """Start the validation pod of a proof on a node ("attempt" counts from 1)."""

    node: str
    state: str
    proof: int
    name: str


@dataclass(frozen=True)
class RemovePod:
    """Delete a finished validation pod, so that it can be tried again."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True)
class ReadLogs:
    """The last lines of a container. end: when it ended, as the API says it, where that is what the
    log is of."""

    namespace: str
    pod: str
    uid: str
    container: str | None
    tail: int
    previous: bool = False
    end: str = ""


@dataclass(frozen=True)
class ReadMetrics:
    """The text of a metrics endpoint, through the API server's proxy."""

    namespace: str
    pod: str
    uid: str
    port: int
    path: str
    scheme: str = "http"


@dataclass(frozen=True)
class ReadEvents:
    """The newest warning about an object, or an empty text."""

    namespace: str
    kind: str
    name: str


@dataclass(frozen=True)
class ReadRevision:
    """The hash of a DaemonSet's newest revision, which its up-to-date pods carry; "" where there is
    none."""

    namespace: str
    name: str
    uid: str
    generation: int


Query = Union[StartPod, RemovePod, ReadLogs, ReadMetrics, ReadEvents, ReadRevision]


@dataclass(frozen=True)
class QueryResult:
    """What came back, and when (seconds since the epoch). error is one sentence where nothing came
    back, as it has been since refused_since (0: not known)."""

    value: Any
    at: float
    error: str = ""
    refused_since: float = 0.0

    def after(self, before: QueryResult | None) -> QueryResult:
        """The same as the answer that follows another."""
        if not self.error:
            return self
        known = before.refused_since if before is not None and before.error else 0.0
        return replace(self, refused_since=known or self.at)
