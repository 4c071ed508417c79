# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The registry's access log, read into requests. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

# Apache's "combined" format; other lines of the same file are the program's own log.
_LINE = re.compile(
    r'^\S+ \S+ \S+ \[[^\]]+\] "(?P<method>[A-Z]+) (?P<path>\S+) HTTP/[\d.]+" (?P<status>\d{3}) \S+'
    r' "[^"]*" "(?P<agent>[^"]*)"$'
)


@dataclass(frozen=True)
class Logged:
    """One request. path: with its query. agent: the client's name and version."""

    method: str
    path: str
    status: int
    agent: str

    def __str__(self) -> str:
        return f"{self.method} {self.path} {self.status}"


def parse(text: str) -> list[Logged]:
    """The requests in a log, in the order in which they were done."""
    found = [_LINE.match(line) for line in text.splitlines()]
    return [
        Logged(line["method"], line["path"], int(line["status"]), line["agent"])
        for line in found
        if line
    ]
