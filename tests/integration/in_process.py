# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module's work in this process, as its action plugin does it: for tests whose subject is that
work, and not the playbook around it. A start of ansible-playbook takes a second of CPU time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from ansible_collections.hardware.enablement.plugins.module_utils._interface.outcome import (
    outcome_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.task import Task

Obj = dict[str, Any]


@dataclass(frozen=True)
class Module:
    """A module's task, its argument specification, and the user as whom it reaches the cluster."""

    task: Task[Any]
    spec: Mapping[str, Mapping[str, Any]]
    kubeconfig: Path

    def result(
        self, *, check: bool = False, diff: bool = False, run_id: str = "a test", **params: Any
    ) -> Obj:
        """What it returns; a failure is a result, too."""
        specification = {name: dict(argument) for name, argument in self.spec.items()}
        # As in plays.py: what a test gives is all.
        whole = {"options_replace": True} if "options_replace" in self.spec else {}
        given = {"kubeconfig": str(self.kubeconfig), **whole, **params}
        checked = ArgumentSpecValidator(specification).validate(given)
        assert not checked.error_messages, checked.error_messages
        context = RunContext(check_mode=check, diff=diff, run_id=run_id, run_info=run_id)
        return outcome_of(
            lambda: self.task.run(checked.validated_parameters, context), secrets=set(), verbosity=0
        )

    def done(self, **params: Any) -> Obj:
        """What it returns, unless it fails."""
        result = self.result(**params)
        assert not result.get("failed"), result
        return result

    def unchanged(self, **params: Any) -> None:
        """It changes nothing."""
        result = self.done(**params)
        assert not result["changed"], result

    def failed(self, **params: Any) -> str:
        """How it says that it failed."""
        result = self.result(**params)
        assert result.get("failed"), result
        return str(result["msg"])
