# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a run's progress is shown: lines that name their host, or a terminal that one host has for
itself.

Workers are forked, and newer ones are cut off from the terminal: what they show goes through
Ansible's Display, which hands it to the main process. Only the terminal's size is asked of the
terminal itself, by its name."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ansible import constants as C  # noqa: N812 - as everywhere in Ansible
from ansible.utils.display import Display

from ..module_utils._runs.context import Terminal, before_line

display = Display()

# Others (AWX's, JSON) turn what is displayed into something else, also where they run on a
# pseudo-terminal.
DRAWING_CALLBACKS = frozenset({"default", "minimal", "oneline", "yaml"})
# Ansible says more than results from here on, between two drawings.
TALKING_VERBOSITY = 2
USUAL_SIZE = (80, 24)


def _name_of_stdout() -> str:
    try:
        return os.ttyname(1)
    except OSError:
        return ""


# Ansible loads action plugins before it forks, while file descriptor 1 is still what the main
# process writes to.
STDOUT = _name_of_stdout()


class Screen:
    """What one task shows. masked takes secrets out of a text. host: whose lines they are, where there are
    several."""

    def __init__(self, task_vars: Mapping[str, Any], masked: Callable[[str], str]) -> None:
        host = str(task_vars.get("inventory_hostname", "localhost"))
        self._alone = len(task_vars.get("ansible_play_hosts_all") or [host]) == 1
        self.host = "" if self._alone else host
        self._masked = masked

    def clean(self, text: str) -> str:
        """A text without secrets, and without what could move a terminal's cursor: some of it comes
        from pods' logs."""
        return printable(self._masked(text))

    def line(self, text: str) -> None:
        """Show a text, with the host's name before each of its lines where there are several."""
        for line in text.splitlines() or [""]:
            display.display(f"{before_line(self.host)}{self.clean(line)}")

    def plain(self, text: str) -> None:
        """Show a line that is about no single host."""
        display.display(f"  {self.clean(text)}")

    def terminal(self) -> Terminal | None:
        """The terminal, where it can be drawn on and nobody else writes to it meanwhile."""
        callback = str(C.DEFAULT_STDOUT_CALLBACK).rpartition(".")[2]
        if not (
            STDOUT
            and self._alone
            and callback in DRAWING_CALLBACKS
            and display.verbosity < TALKING_VERBOSITY
        ):
            return None
        if os.environ.get("TERM", "dumb") == "dumb" or os.environ.get("CI"):
            return None
        return Terminal(
            write=lambda text: display.display(text, screen_only=True, newline=False),
            size=lambda: size_of(STDOUT),
            log=lambda text: display.display(f"  {self.clean(text)}", log_only=True),
            clean=self.clean,
        )


def printable(text: str) -> str:
    """The text on one line, with a space for each character that is none to print."""
    return "".join(character if character.isprintable() else " " for character in text)


def size_of(terminal: str) -> tuple[int, int]:
    """Columns and lines of a terminal as they are now, by the name of its device."""
    try:
        handle = os.open(terminal, os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return USUAL_SIZE
    try:
        columns, lines = os.get_terminal_size(handle)
    except OSError:
        return USUAL_SIZE
    finally:
        os.close(handle)
    return (columns, lines) if columns and lines else USUAL_SIZE
