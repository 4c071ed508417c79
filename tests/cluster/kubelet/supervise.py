# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A parent that stands for its one child in another PID namespace: signals go through, the exit
code comes back."""

from __future__ import annotations

import os
import signal

_PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def pass_signals_to(child: int) -> None:
    """From now on the signals that stop or reload a daemon go to the child."""

    def send(number: int, _frame: object) -> None:
        os.kill(child, number)

    for number in _PASSED_ON:
        signal.signal(number, send)


def exit_like(child: int) -> None:
    """Wait for the child and end with its exit code, 128 + N after signal N."""
    _pid, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)
