# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small things that all readers share: files of one line, and sets of CPUs as Linux writes them
("0-3,8")."""

from __future__ import annotations

from pathlib import Path


def line(path: Path) -> str:
    """A file's text without blanks around it. Raises OSError."""
    return path.read_text(encoding="utf-8", errors="replace").strip()


def parse(text: str) -> frozenset[int]:
    """The CPUs of a list such as "0-3,8"; none for "". Raises ValueError for anything else."""
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, dash, last = part.partition("-")
        found.update(range(int(first), int(last if dash else first) + 1))
    return frozenset(found)
