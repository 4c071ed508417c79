# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module's way: run a core in the module's process, wherever Ansible has put it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from .._runs.context import RunContext
from .._runs.task import Task
from .bundle import read_bundle
from .outcome import masked, outcome_of
from .run_id import introduction


def run_module(module: AnsibleModule, task: Task[Any]) -> None:
    """Run a core with a module's parameters, and end the process with its result."""
    params = dict(module.params)
    secrets: set[str] = set()
    notices: list[str] = []
    warnings: list[str] = []
    context = RunContext(
        check_mode=bool(module.check_mode),
        diff=bool(getattr(module, "_diff", False)),
        verbosity=int(getattr(module, "_verbosity", 0)),
        run_id=params.get("run_id") or "",
        run_info=introduction(params.get("run_id") or ""),
        notice=notices.append,
        warning=warnings.append,
        secrets=secrets,
    )

    def work() -> dict[str, Any]:
        if params.get("recipe_dir") and not params.get("bundle"):
            params["bundle"] = read_bundle(Path(params["recipe_dir"]) / params["recipe"])
        return task.run(params, context)

    found = outcome_of(work, secrets=secrets, verbosity=context.verbosity)
    for text in masked(warnings, secrets):
        module.warn(text)
    if notices:
        # The action plugin shows them.
        found["notices"] = masked(notices, secrets)
    if found.get("failed"):
        module.fail_json(**found)
    module.exit_json(**found)
