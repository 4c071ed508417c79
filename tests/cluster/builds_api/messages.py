# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A request and its answer, without HTTP around them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.cluster.builds_api.kinds import Obj
from tests.cluster.builds_api.kubernetes import User

JSON = "application/json"
TEXT = "text/plain"


@dataclass(frozen=True)
class Request:
    """One request. query: the first value of each parameter."""

    method: str
    path: str
    user: User
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    def asks(self, parameter: str) -> bool:
        """Whether a boolean parameter is set."""
        return self.query.get(parameter, "") in ("true", "1")

    @property
    def seconds(self) -> float:
        """How long a watch may last."""
        given = self.query.get("timeoutSeconds", "")
        return float(given) if given.isdigit() and int(given) else 1800.0


@dataclass(frozen=True)
class Answer:
    """One answer. body: all of it, or its pieces as they come."""

    status: int
    body: bytes | Iterator[bytes]
    content_type: str = JSON
    warnings: tuple[str, ...] = ()


def json_answer(obj: Obj, status: int = 200, warnings: tuple[str, ...] = ()) -> Answer:
    """An answer that is one object."""
    return Answer(status, encoded(obj), JSON, warnings)


def encoded(obj: Obj) -> bytes:
    """An object as JSON, with a line's end."""
    return json.dumps(obj, separators=(",", ":")).encode() + b"\n"
