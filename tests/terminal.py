# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command on a pseudo-terminal, and what a person would see there: text, wrapped lines, and the
two sequences that progress is drawn with. Colours are left out, any other sequence is an error."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_PART = re.compile(r"\x1b\[(?P<number>\d*)(?P<verb>[A-Za-z])|(?P<text>[^\x1b])", re.DOTALL)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Picture:
    """The rows of an endless terminal of some columns. highest: the most rows that were ever
    cleared to be redrawn."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.rows = [""]
        self.row = 0
        self.drawn = 0
        self.highest = 0

    def feed(self, text: str) -> Picture:
        """Show a text; returns itself."""
        text = _COLOUR.sub("", text)
        at = 0
        while at < len(text):
            found = _PART.match(text, at)
            assert found, f"a sequence that no terminal was asked for: {text[at : at + 20]!r}"
            at = found.end()
            if found["text"]:
                self._put(found["text"])
            else:
                self._obey(found["verb"], int(found["number"] or 0))
        return self

    def _put(self, character: str) -> None:
        if character == "\r":
            return
        if character == "\n" or len(self.rows[self.row]) == self.columns:
            self.row += 1
            if self.row == len(self.rows):
                self.rows.append("")
        if character != "\n":
            self.rows[self.row] += character

    def _obey(self, verb: str, number: int) -> None:
        if verb == "A":
            self.row -= number
            self.highest = max(self.highest, number)
        elif verb == "J":
            self.drawn += 1
            del self.rows[self.row + 1 :]
            self.rows[self.row] = ""
        else:
            raise AssertionError(f"a sequence that no terminal was asked for: {number}{verb}")


def run_on_terminal(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    columns: int,
    lines: int,
    watch: Callable[[bytes], object] = lambda _written: None,
) -> tuple[int, str]:
    """Exit code and everything that was written to a terminal of this size. watch is called with all
    that was written so far, each time something is."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={"TERM": "xterm", **environment},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    written = bytearray()
    try:
        # Linux says EIO once nobody has the other end any more.
        while chunk := os.read(ours, 65536):
            written += chunk
            watch(written)
    except OSError:
        pass
    finally:
        os.close(ours)
    return process.wait(), written.decode()
