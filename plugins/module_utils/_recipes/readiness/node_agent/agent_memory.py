# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the node agent has seen, and the file that keeps it: the one that NFD's worker reads."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .configuration import DOMAIN

# NFD drops the labels when nobody has renewed the file for so long.
EXPIRY_S = 3600
# So long they hold after an agent that could not tell whether another one follows.
SOON_S = 300
_EXPIRY = "# +expiry-time="


@dataclass
class AgentMemory:
    """What was seen since a boot. published: the states that were ready. failing: since when they
    are not, in seconds since the epoch. proven: validator -> what it proved the state on; used: the
    uid of the pod that did."""

    boot: str = ""
    published: list[str] = field(default_factory=list)
    failing: dict[str, float] = field(default_factory=dict)
    proven: dict[str, str] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)

    @classmethod
    def from_text(cls, text: str) -> AgentMemory:
        """Of a comment in the file of features; of any other text, none."""
        empty = cls()
        try:
            found = cls(**json.loads(text))
        except (ValueError, TypeError, RecursionError):
            return empty
        fits = all(type(value) is type(getattr(empty, name)) for name, value in vars(found).items())
        return found if fits else empty

    def begin(self, boot: str) -> None:
        """Forget what was seen before this boot, but not whose word has been taken."""
        if boot != self.boot:
            self.boot, self.published, self.failing, self.proven = boot, [], {}, {}


class FeatureFile:
    """The file that NFD's worker reads."""

    def __init__(self, folder: Path, instance: str) -> None:
        """folder: NFD's own, in which the folder features.d is."""
        self._path = folder / "features.d" / f"{DOMAIN}-{instance}"
        # Beside features.d: NFD's worker would take it for another change.
        self._draft = folder / f".{DOMAIN}-{instance}"

    def memory(self) -> AgentMemory:
        """What was written last; none where there is no such file."""
        try:
            first = self._path.read_text("utf-8").partition("\n")[0]
        except (OSError, ValueError):
            return AgentMemory()
        return AgentMemory.from_text(first.lstrip("# "))

    def write(self, labels: Mapping[str, str], memory: AgentMemory, now: float) -> None:
        """Replace the file at once. now: seconds since the epoch."""
        lines = [f"# {json.dumps(asdict(memory))}", _expiry(now + EXPIRY_S)]
        lines += [f"{name}={value}" for name, value in sorted(labels.items())]
        self._replace(lines)

    def expire_soon(self, now: float) -> None:
        """Let what was written hold for SOON_S at most, whoever wrote it. now: see write."""
        try:
            lines = self._path.read_text("utf-8").splitlines()
        except (OSError, ValueError):
            return
        soon = _expiry(now + SOON_S)
        self._replace([min(line, soon) if line.startswith(_EXPIRY) else line for line in lines])

    def remove(self) -> None:
        """Leave nothing behind."""
        for path in (self._path, self._draft):
            path.unlink(missing_ok=True)

    def _replace(self, lines: Iterable[str]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._draft.write_text("\n".join(lines) + "\n", "utf-8")
        self._draft.replace(self._path)


def _expiry(moment: float) -> str:
    """The line for NFD's worker; of two the later one sorts last. moment: seconds since the epoch."""
    return time.strftime(f"{_EXPIRY}%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
