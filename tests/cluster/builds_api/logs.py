# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Logs of builds: one file for each, appended to as the build goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path


class Logs:
    """The logs of one server, by the builds' uids."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = threading.Condition()
        folder.mkdir(parents=True, exist_ok=True)

    def uids(self) -> set[str]:
        """Which builds have a log."""
        return {file.stem for file in self._folder.glob("*.log")}

    def lines(self, uid: str) -> list[str]:
        """All lines so far."""
        file = self._file(uid)
        return file.read_text().splitlines() if file.exists() else []

    def append(self, uid: str, line: str) -> None:
        """Add a line."""
        with self._changed:
            with self._file(uid).open("a") as file:
                file.write(f"{line}\n")
            self._changed.notify_all()

    def wake(self) -> None:
        """Let those who follow a log look whether its build has ended."""
        with self._changed:
            self._changed.notify_all()

    def remove(self, uid: str) -> None:
        """Forget a log."""
        self._file(uid).unlink(missing_ok=True)

    def read(
        self, uid: str, *, tail: int | None, follow: Callable[[], bool] | None
    ) -> Iterator[bytes]:
        """The log's last (or all) lines, and further ones as they come while follow() says that
        there may be more."""
        shown = self.lines(uid)
        count = len(shown)
        yield from (
            f"{line}\n".encode()
            for line in (shown if tail is None else shown[-tail:] if tail else [])
        )
        while follow is not None:
            with self._changed:
                more = follow()
                fresh = self.lines(uid)[count:]
                if more and not fresh:
                    self._changed.wait(5)
            yield from (f"{line}\n".encode() for line in fresh)
            count += len(fresh)
            if not more:
                return

    def _file(self, uid: str) -> Path:
        return self._folder / f"{uid}.log"
