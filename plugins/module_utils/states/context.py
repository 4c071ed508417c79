# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a face (module or action plugin) gives to a core: the task's modes, who runs, and a way to show progress."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


def _silent(text: str) -> None:
    """Show nothing: the progress of a face that has no screen."""


@dataclass(frozen=True)
class RunContext:
    """The surroundings of one task.

    holder names the run in the run's lock: it is the same for every task of one ansible-playbook process and differs
    between processes. progress receives one short line of text at a time, which somebody sees where has_screen is
    true. notice receives what a person has to see in any case, also where there is no screen. clock gives seconds since
    the epoch. secrets collects texts that neither result nor progress may show.
    """

    check_mode: bool = False
    diff: bool = False
    holder: str = ""
    holder_info: str = ""
    has_screen: bool = False
    progress: Callable[[str], None] = field(default=_silent)
    notice: Callable[[str], None] = field(default=_silent)
    clock: Callable[[], float] = field(default=time.time)
    secrets: set[str] = field(default_factory=set)
