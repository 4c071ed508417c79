# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a module or action plugin gives to a core: the task's modes, who runs, and a way to
show progress."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .._cluster.api_objects.change_report import report_changes
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.diff import Diff, render_diff, report_diffs
from .._json import Obj

MOST_SHOWN = 10


def _silent(text: str) -> None:
    """Show nothing: the progress of a module, which has no screen."""


def before_line(host: str) -> str:
    """What stands before each line of a task: which host says so; host: "" where there is one alone."""
    return f"[{host}] " if host else "  "


@dataclass(frozen=True)
class Terminal:
    """A terminal that one run has for itself, so that what was written may be written over.

    write takes text with control sequences as it is. size gives columns and lines as they are now.
    log takes one line for Ansible's log file alone. clean gives a text without secrets and without
    control characters.
    """

    write: Callable[[str], None]
    size: Callable[[], tuple[int, int]]
    log: Callable[[str], None]
    clean: Callable[[str], str]


@dataclass(frozen=True)
class RunContext:
    """The surroundings of one task.

    run_id names the run in the run's lock: it is the same for every task of one ansible-playbook
    process and differs between processes. verbosity is the number of -v. host is the inventory's
    name of the cluster, "" where a play has no other. progress receives one short line of text
    at a time, which somebody sees where has_screen is true. notice receives what a person has
    to see in any case, also where there is no screen; warning what is odd about what was given.
    terminal is there where more than lines can be shown. clock gives seconds since the epoch, and
    began is when the run began, None where nobody knows. secrets collects texts
    that neither result nor progress may show.
    """

    check_mode: bool = False
    diff: bool = False
    verbosity: int = 0
    run_id: str = ""
    run_info: str = ""
    host: str = ""
    has_screen: bool = False
    progress: Callable[[str], None] = field(default=_silent)
    terminal: Terminal | None = None
    notice: Callable[[str], None] = field(default=_silent)
    warning: Callable[[str], None] = field(default=_silent)
    clock: Callable[[], float] = field(default=time.time)
    began: float | None = None
    secrets: set[str] = field(default_factory=set)

    def tell_changes(self, changes: Sequence[Change]) -> None:
        """Say which objects changed, unless the task's diff does."""
        lines = report_changes(changes, self.secrets, would=self.check_mode, most=self._most)
        for line in () if self.diff else lines:
            self.notice(line)

    def tell(self, text: str) -> Obj:
        """Say a line; where the task has a diff, as the result's diff."""
        if self.diff:
            return {"diff": [{"prepared": f"{text}\n"}]}
        self.notice(text)
        return {}

    def show(self, diffs: Sequence[Diff]) -> Obj:
        """Diffs that were made by make_diff, as the task's diff; where it has none, in lines."""
        if self.diff:
            return {"diff": list(diffs)}
        for line in report_diffs(diffs, would=self.check_mode, most=self._most):
            self.notice(line)
        return {}

    def diff_of(self, changes: Sequence[Change]) -> list[Diff]:
        """The changes for the task's diff."""
        full = self.verbosity > 0
        return render_diff(changes, self.secrets, would=self.check_mode, full=full)

    @property
    def took_s(self) -> float | None:
        """For how many seconds the run has been going on, None where nobody knows."""
        return None if self.began is None else max(self.clock() - self.began, 0.0)

    @property
    def _most(self) -> int | None:
        """How many changes are named in lines; None for all."""
        return None if self.verbosity else MOST_SHOWN

    def masked(self, text: str) -> str:
        """The text with asterisks where it shows a secret."""
        for secret in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(secret, "********") if secret else text
        return text
