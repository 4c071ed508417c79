# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An action that shows progress as a core does, without a cluster: three steps of one state, and a
cause."""

from __future__ import annotations

import time
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    PlannedGroups,
    Result,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.progress import (
    Progress,
)
from ansible_collections.hardware.enablement.plugins.plugin_utils._screen import Screen

STEPS = 3
NO_WORDS = "\x1b[31m\x1b[9A\rthe pod's words " * 9


class ActionModule(ActionBase):  # type: ignore[misc]
    """The seconds between two steps pass on a clock of its own."""

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """Show a line, then progress."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        screen, now = Screen(task_vars or {}, lambda text: text.replace("SECRET", "*")), time.time()
        screen.line("a line of a SECRET")
        context = RunContext(
            host=screen.host,
            progress=screen.line,
            terminal=screen.terminal(),
            has_screen=True,
            clock=lambda: now,
        )
        progress = Progress(context, "demo")
        plan = StatePlan(
            name="driver",
            requires=(),
            proofs=(),
            timeout=60,
            groups=PlannedGroups(),
            workloads=(),
            gated=False,
            unlocks=False,
            per_node=True,
        )
        crash = Result("driver", Phase.WAITING, "CrashLoopBackOff", NO_WORDS, since=now)
        results = {(f"n{number}", "driver"): crash for number in range(STEPS)}
        for step in range(STEPS):
            progress.show([plan], results, now + 10 * (step + 1))
            results[f"n{step}", "driver"] = Result("driver", Phase.READY, "Proven", final=True)
        progress.close([plan], results, now + 40)
        screen.line("the end")
        return result
