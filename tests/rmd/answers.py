# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the daemon answers, and how it refuses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

TEXT = "text/plain"
# What Go's server makes of a text without a content type.
SNIFFED = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes = b""
    content_type: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class CrashError(Exception):
    """The handler crashed: the connection ends without an answer."""


class StartError(Exception):
    """The daemon ends at its start; the text is what its log says last."""


class RefusedError(Exception):
    """The daemon says no in these words. to_blame: the request is (a 400 that the daemon means to
    give)."""

    def __init__(self, text: str, *, to_blame: bool = False) -> None:
        super().__init__(text)
        self.text = text
        self.to_blame = to_blame


def with_details(message: str, details: str) -> str:
    """The daemon's way to wrap an error: a sentence, its details, the end of a line."""
    return f"{message}. Details: {details}\n"


def entity(content: object, status: int = 200) -> Answer:
    """A JSON answer, pretty-printed with one space."""
    return Answer(status, json.dumps(content, indent=1).encode(), "application/json")


def text(
    status: int, message: str, *, sniffed: bool = False, headers: Mapping[str, str] | None = None
) -> Answer:
    """An answer in words; sniffed: the handler named no content type, so an empty one has none."""
    kind = (SNIFFED if message else "") if sniffed else TEXT
    return Answer(status, message.encode(), kind, headers or {})
