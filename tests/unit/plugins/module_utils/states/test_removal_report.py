# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says of what it changed: nothing, a few lines, or its diff; and what a removal leaves."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.removal_report import (
    KeepReason,
    report_removal,
)

KEYS = [ObjectKey("v1", "ConfigMap", "gpu", f"c{number}") for number in range(12)]
CHANGES = [Change(key, "create", None, {"metadata": {}}) for key in KEYS]
KEPT = [KeepReason(ObjectKey("v1", "Namespace", "", "gpu"), "which was there before", "ask")]


def told(*changes: Change, **modes: Any) -> list[str]:
    """What is said of changes in a run of these modes."""
    lines: list[str] = []
    RunContext(notice=lines.append, **modes).tell_changes(changes)
    return lines


def test_a_run_says_what_it_changed_in_a_few_lines() -> None:
    assert told(*CHANGES)[:2] == ["created 12 objects:", "  + create ConfigMap gpu/c0"]
    assert told(*CHANGES)[-1] == "  and 2 more; --diff shows them"
    assert told(*CHANGES, verbosity=1)[-1] == "  + create ConfigMap gpu/c11"
    assert told(*CHANGES, check_mode=True)[0] == "would create 12 objects:"


def test_nothing_is_said_where_nothing_changed_or_the_diff_says_it() -> None:
    assert told(Change(KEYS[0], "unchanged", {}, {})) == []
    assert told(*CHANGES, diff=True) == []
    assert RunContext(diff=True).diff_of(CHANGES)[0]["prepared"].startswith("created 12 objects")


def test_a_line_of_its_own_is_in_the_diff_or_is_said() -> None:
    lines: list[str] = []
    assert RunContext(notice=lines.append).tell("changed x") == {}
    assert lines == ["changed x"]
    assert RunContext(notice=lines.append, diff=True).tell("changed x") == {
        "diff": [{"prepared": "changed x\n"}]
    }
    assert lines == ["changed x"]


def test_a_removal_says_what_went_what_was_put_back_and_what_stays() -> None:
    lines = report_removal(KEYS, KEYS[:1], ["n2", "n1"], KEPT, would=False, named=False)
    assert lines == [
        "removed 12 ConfigMaps",
        "removed our labels and annotations of 2 nodes: n1, n2",
        "put back as it was before: ConfigMap gpu/c0",
        "stays: Namespace gpu, which was there before; to remove it: ask",
        "stays: the labels of Node Feature Discovery on nodes, which are not ours",
    ]
    assert report_removal(KEYS[:2], [], would=True, named=False) == [
        "would remove ConfigMap gpu/c0, ConfigMap gpu/c1"
    ]
    assert len(report_removal(KEYS, [], would=True, named=True)) == 13


def test_where_nothing_was_removed_nothing_is_said() -> None:
    assert report_removal([], [], kept=KEPT, would=False, named=True) == []
