# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a PATCH asks to be other than it is (facts 4.5)."""

from __future__ import annotations

from typing import Any

from tests.rmd.answers import RefusedError
from tests.rmd.faults import Dialect
from tests.rmd.machine import MBPS_MAX
from tests.rmd.node import Node, Settings
from tests.rmd.validation import check_plugin, fill_by_policy
from tests.rmd.workload import Workload


def same_targets(record: Workload, wanted: Workload) -> bool:
    """Whether the cores and tasks are the same, in the same order."""
    return record.core_ids == wanted.core_ids and record.task_ids == wanted.task_ids


def changes(record: Workload, wanted: Workload, node: Node, settings: Settings) -> bool:
    """Write what differs into the record, unless the body names a policy; whether it has to be
    enforced anew.

    RefusedError for values that cannot be.
    """
    if record.policy:
        try:
            fill_by_policy(record, node, settings)
        except RefusedError:
            """The daemon does not look."""
    again = False
    for name in ("max", "min"):
        again |= _take(record, name, getattr(wanted, name))
    if settings.dialect is Dialect.V02:
        return _flat_changes(record, wanted) or again
    return _nested_changes(record, wanted, node, settings) or again


def _flat_changes(record: Workload, wanted: Workload) -> bool:
    """0.2: P-state."""
    again = False
    for key, value in wanted.pstate.items():
        record.policy = ""
        if record.pstate.get(key) != value:
            record.pstate[key] = value
            again = True
    return again


def _nested_changes(record: Workload, wanted: Workload, node: Node, settings: Settings) -> bool:
    """0.3: MBA and plugins."""
    again = False
    if node.machine.mba_closids and node.machine.mba_mbps and wanted.percentage is not None:
        raise RefusedError("Please provide MBA in Mbps", to_blame=True)
    if node.machine.mba_closids and not node.machine.mba_mbps and wanted.mbps is not None:
        raise RefusedError("Please provide MBA in Percentage", to_blame=True)
    for name, limit in (("percentage", 100), ("mbps", MBPS_MAX)):
        value = getattr(wanted, name)
        if value is not None and not 0 < value <= limit:
            raise RefusedError(f"MBA values range only from 1 to {limit}", to_blame=True)
        again |= _take(record, name, value)
    for plugin, values in wanted.plugins.items():
        if plugin == "cache" or _same_values(record.plugins.get(plugin), values):
            continue
        check_plugin(plugin, values, record, settings)
        again = True
    return again


def _take(record: Workload, name: str, value: int | None) -> bool:
    if value is None:
        return False
    record.policy = ""
    if getattr(record, name) == value:
        return False
    setattr(record, name, value)
    return True


def _same_values(old: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Numbers never compare equal: the daemon's database gives them another type than the request
    does."""
    return old == new and not any(isinstance(value, (int, float)) for value in new.values())
