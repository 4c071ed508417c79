# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table about one node: each state, only what is wrong by itself with what to do, its events."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._states.validation import (
    node_table,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import seconds, timestamp
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

RESULTS = [
    Result("driver", Phase.READY, "Proven", since=NOW - 7200),
    Result("hook", Phase.DEGRADED, "CrashLoopBackOff", "pod x: no device", since=NOW - 240),
    Result("plugin", Phase.BLOCKED, "BlockedBy.hook", "stands on hook", "hook", NOW),
]
EVENT = {
    "type": "Warning",
    "reason": "Rebooted",
    "message": "Node n1 has\n been rebooted",
    "eventTime": timestamp(NOW - 180),
}


def test_a_node_with_trouble() -> None:
    assert node_table.render("demo", "n1", RESULTS, [EVENT], NOW, seconds) == [
        "demo: node n1, 1 of 3 states are ready",
        "! hook degraded: pod x: no device",
        "  -> read the pod's log (kubectl logs --previous), mend the cause, run again",
        "STATE   PHASE     FOR    REASON",
        "driver  ready     2 h    Proven",
        "hook    degraded  4 min  CrashLoopBackOff",
        "plugin  blocked   0 s    BlockedBy.hook",
        "events of the node:",
        "  3 min ago Warning Rebooted: Node n1 has been rebooted",
    ]


def test_a_node_of_others() -> None:
    assert node_table.render("demo", "n9", [], [EVENT], NOW, seconds) == [
        "demo: node n9 is none of its nodes"
    ]


def test_when_an_event_was_depends_on_who_wrote_it() -> None:
    of_series = {**EVENT, "series": {"lastObservedTime": "2"}}
    assert node_table.moment_of(of_series) == "2"
    assert node_table.moment_of({"lastTimestamp": "1", "eventTime": None}) == "1"
    assert node_table.moment_of({}) == ""
