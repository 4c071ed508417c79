# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which triggers become events, when, and how often."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._events.debounce import (
    ClusterEvent,
    Debounce,
)
from ansible_collections.hardware.enablement.plugins.module_utils._events.event_types import (
    MEANINGS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._events.triggers import Trigger


def a(type_: str, subject: str, cause: str = "", recipe: str = "toy") -> Trigger:
    """A trigger."""
    return Trigger(type_, recipe, recipe, subject, cause)


def made(resync_s: float = 0, types: frozenset[str] = frozenset(MEANINGS)) -> Debounce:
    """Ten seconds of quiet."""
    return Debounce(10, resync_s, types)


def told(debounce: Debounce, now: float) -> list[tuple[str, str, tuple[str, ...]]]:
    """The events that are due."""
    return [(event.type, event.recipe, event.subjects) for event in debounce.due(now)]


def test_what_comes_together_is_one_event_for_each_type_and_recipe() -> None:
    debounce = made()
    assert debounce.wait_s(0) is None
    debounce.see("n2", {a("node_joined", "n2")}, 0)
    debounce.see("n1", {a("node_joined", "n1"), a("node_joined", "n1", recipe="other")}, 4)
    debounce.see("n3", {a("node_left", "n3")}, 5)
    assert debounce.wait_s(6) == 4
    assert told(debounce, 9.9) == []
    assert told(debounce, 10) == [("node_joined", "toy", ("n1", "n2"))]
    assert told(debounce, 15) == [
        ("node_joined", "other", ("n1",)),
        ("node_left", "toy", ("n3",)),
    ]
    assert told(debounce, 99) == []


def test_a_stream_of_news_does_not_put_the_event_off() -> None:
    debounce = made()
    for second in range(11):
        debounce.see(f"n{second}", {a("node_joined", f"n{second}")}, second)
    assert len(told(debounce, 10)[0][2]) == 11


def test_what_is_over_is_not_told() -> None:
    debounce = made()
    debounce.see("n1", {a("node_joined", "n1")}, 0)
    debounce.see("n1", set(), 5)
    assert told(debounce, 10) == []


def test_what_still_holds_is_told_once_and_another_cause_is_news() -> None:
    debounce = made()
    debounce.see("n1", {a("node_rebooted", "n1", "boot-1")}, 0)
    assert told(debounce, 10)
    debounce.see("n1", {a("node_rebooted", "n1", "boot-1")}, 11)
    assert told(debounce, 30) == []
    debounce.see("n1", {a("node_rebooted", "n1", "boot-2")}, 31)
    assert told(debounce, 41)
    debounce.see("n1", set(), 42)
    debounce.see("n1", {a("node_rebooted", "n1", "boot-2")}, 43)
    assert told(debounce, 53)


def test_what_holds_for_long_is_told_again_but_for_good_news() -> None:
    debounce = made(resync_s=100)
    debounce.see("n1", set(), 0)
    debounce.see("n1", {a("node_joined", "n1"), a("node_ready", "n1")}, 0)
    assert len(told(debounce, 10)) == 2
    assert told(debounce, 109) == []
    assert told(debounce, 110) == [("node_joined", "toy", ("n1",))]
    assert told(debounce, 111) == []


def test_a_pod_that_crashes_again_and_again_is_told_once_an_hour() -> None:
    debounce, crash = made(), {a("pod_crashed", "n1", "driver")}
    told_at = []
    for second in range(0, 7300, 50):
        debounce.see("pods on n1", crash, second)
        told_at += [second + 20] * len(told(debounce, second + 20))
        # It is ready for a while, and the source forgets it.
        debounce.see("pods on n1", set(), second + 30, is_gone=True)
    assert told_at == [20, 3670]
    # That of another state is another one.
    debounce.see("pods on n1", {a("pod_crashed", "n1", "plugin")}, 7300)
    assert told(debounce, 7310)
    debounce.see("pods on n1", set(), 7311, is_gone=True)
    assert told(debounce, 99_999) == []
    assert (debounce._held, debounce._sent, debounce._over) == ({}, {}, {})


def test_a_crash_that_goes_on_after_it_came_back_is_told_again_like_all_else() -> None:
    debounce, crash = made(resync_s=100), {a("pod_crashed", "n1", "driver")}
    debounce.see("pods on n1", crash, 0)
    assert told(debounce, 10)
    debounce.see("pods on n1", set(), 20)
    debounce.see("pods on n1", crash, 30)
    assert told(debounce, 60) == []
    assert told(debounce, 110)


def test_a_node_that_is_ready_when_it_is_first_seen_is_no_news() -> None:
    debounce = made()
    debounce.see("n1", {a("node_ready", "n1")}, 0)
    assert told(debounce, 10) == []
    debounce.see("n1", set(), 11)
    debounce.see("n1", {a("node_ready", "n1")}, 12)
    assert told(debounce, 22)


def test_of_what_is_gone_the_last_is_told_and_nothing_kept() -> None:
    debounce = made(resync_s=100)
    debounce.see("n1", {a("gate_degraded", "n1")}, 0)
    debounce.see("n1", {a("node_left", "n1")}, 1, is_gone=True)
    assert told(debounce, 11) == [("node_left", "toy", ("n1",))]
    assert told(debounce, 999) == []
    assert (debounce._held, debounce._sent) == ({}, {})


def test_a_node_that_is_back_at_once_has_not_left() -> None:
    debounce = made()
    debounce.see("n1", {a("node_left", "n1")}, 1, is_gone=True)
    debounce.see("n1", {a("node_joined", "n1", "another")}, 2)
    assert told(debounce, 20) == [("node_joined", "toy", ("n1",))]


def test_types_that_nobody_asked_for_are_not_told() -> None:
    debounce = made(types=frozenset(("node_left",)))
    debounce.see("n1", {a("node_joined", "n1")}, 0)
    assert debounce.wait_s(0) is None


def test_an_event_has_names_and_since_when() -> None:
    event = ClusterEvent("node_joined", "toy", "toy-a", ("n1", "n2"), 30.0)
    assert event.to_object("uid", 1_800_000_030.0) == {
        "type": "node_joined",
        "recipe": "toy",
        "instance": "toy-a",
        "cluster": "uid",
        "nodes": ["n1", "n2"],
        "workloads": [],
        "since": "2027-01-15T08:00:00Z",
    }
    workload = ClusterEvent("workload_changed", "intel-rmd", "intel-rmd", ("a/b",), 0.0)
    assert workload.to_object("", 0.0)["workloads"] == ["a/b"]
    record = ClusterEvent("resource_changed", "toy", "toy", ("",), 0.0)
    assert record.to_object("", 0.0)["nodes"] == []
