# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who a run is, in its lock: a name that no other run has, and what a person reads of it."""

from __future__ import annotations

import re

_STARTED = re.compile(r" started \w+ for ")


def make_run_id(*, user: str, machine: str, what: str, pid: int, started: str, host: str) -> str:
    """The name of a run. started: the process's start in clock ticks, which tells it from an older
    one of that pid."""
    return f"{user}@{machine} {what} pid {pid} started {started} for {host}"


def introduction(run_id: str) -> str:
    """The same for a person."""
    return _STARTED.sub(" for ", run_id)
