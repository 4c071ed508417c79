# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long what comes by itself is waited for, in a process or a thread of its own.

Unit tests give way to all that runs beside them (tests/gates/runner.py): a start that takes two
seconds took two minutes beside a virtual machine. What a test says is ended must not end by itself
within this time.
"""

from __future__ import annotations

from typing import Final

PATIENCE_S: Final = 240.0
