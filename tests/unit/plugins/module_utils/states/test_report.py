# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report, its table and the record's status: one truth, told three times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    GroupSystem,
    NodeGroup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_status import (
    make_status,
    with_last_check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation import table
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.record_memory import (
    RecordMemory,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.report import (
    summarize,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import seconds, timestamp
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

GROUPS = (
    NodeGroup("old", ("kernel",), GroupSystem("5.15"), nodes=("n1",)),
    NodeGroup("new", ("kernel",), GroupSystem("6.1"), nodes=("n2",)),
)
PLANS = [
    replace(plan, rows=GROUPS)
    for plan in (world.plan("driver"), world.plan("plugin", requires=("driver",)))
]
NODES = {"n1": "old", "n2": "new"}


def ready(state: str) -> Result:
    """A ready result."""
    return Result(state, Phase.READY, "Proven", since=NOW, final=True)


def report(n2_driver: Result | None = None, n2_plugin: Result | None = None) -> dict[str, Any]:
    """Node n1 is ready; n2 as given."""
    results = {
        ("n1", "driver"): ready("driver"),
        ("n1", "plugin"): ready("plugin"),
        ("n2", "driver"): n2_driver or ready("driver"),
        ("n2", "plugin"): n2_plugin or ready("plugin"),
    }
    return summarize(PLANS, results, GROUPS, NODES, all_nodes=True)


CRASH = Result(
    "driver", Phase.FAILED, "CrashLoopBackOff", "pod x: no such device", since=NOW - 240, final=True
)
BLOCKED = Result(
    "plugin", Phase.BLOCKED, "BlockedBy.driver", "stands on driver", "driver", NOW, final=True
)


def test_all_ready() -> None:
    found = report()
    assert (found["phase"], found["ready"], found["nodes_ready"]) == ("ready", True, 2)
    assert found["message"] == "all 2 nodes are ready"
    assert found["problems"] == []


def test_nodes_that_are_not_wanted_are_told_and_ready() -> None:
    text = "DaemonSet demo/plugin is not for the node: it wants card=new, and the node has no card"
    unwanted = Result("plugin", Phase.READY, "NotWanted", text, final=True, unwanted=True)
    found = report(n2_plugin=unwanted)
    assert found["ready"]
    row = {"state": "plugin", "nodes": 1, "total": 2, "message": text}
    assert found["unwanted"] == [row]
    assert f"~ plugin, 1 of 2 nodes: {text}" in table.render("demo", found, NOW, seconds)
    assert [state["reason"] for state in found["states"]] == ["", ""]
    # Where that is all of them, nobody may have meant it.
    results = {(node, "plugin"): unwanted for node in NODES}
    whole = summarize(PLANS[1:], results, GROUPS, NODES, all_nodes=False)
    assert [state["reason"] for state in whole["states"]] == ["NotWanted"]
    found["unwanted"] = [{**row, "nodes": 2}]
    assert f"! plugin, all 2 nodes: {text}" in table.render("demo", found, NOW, seconds)


LEAVES = Result("driver", Phase.LEAVING, "NodeLeaves", "the node leaves: x", since=NOW - 60)
STARTS = Result("driver", Phase.STARTING, "NodeStarts", "the node starts: x", since=NOW - 60)


def test_a_node_that_leaves_counts_nowhere_and_is_named() -> None:
    found = report(
        LEAVES, replace(LEAVES, state="plugin", reason="Requires.driver", cause="driver")
    )
    assert (found["phase"], found["ready"], found["acceptable"]) == ("ready", True, True)
    assert (found["nodes_ready"], found["nodes_total"], found["leaving"]) == (1, 1, ["n2"])
    assert found["message"] == "all 1 nodes are ready; n2 leaves"
    assert [(row["name"], row["ready"], row["total"]) for row in found["states"]] == [
        ("driver", 1, 1),
        ("plugin", 1, 1),
    ]
    assert [(row["node"], row["phase"]) for row in found["problems"]] == [("n2", "leaving")]
    assert found["nodes"]["n2"]["phase"] == "leaving"
    lines = table.render("demo", found, NOW, seconds)
    assert lines[0] == "demo: ready, 1/1 nodes, 2 kernels"
    assert "~ node n2, driver leaving for 60 s: the node leaves: x" in lines
    conditions = make_status(found, {}, 1, timestamp(NOW))["conditions"]
    assert {each["type"]: each["status"] for each in conditions} == {
        "Ready": "True",
        "Progressing": "False",
        "Degraded": "False",
    }


def test_where_every_node_leaves_that_is_the_phase_and_no_failure() -> None:
    results = {(node, "driver"): LEAVES for node in NODES}
    found = summarize(PLANS[:1], results, GROUPS, NODES, all_nodes=False)
    assert (found["phase"], found["ready"], found["acceptable"]) == ("leaving", False, True)
    assert (found["nodes_ready"], found["nodes_total"]) == (0, 2)


def test_what_else_a_node_that_leaves_fails_at_counts() -> None:
    found = report(LEAVES, CRASH)
    assert (found["phase"], found["acceptable"], found["leaving"]) == ("failed", False, [])


@pytest.mark.parametrize("proven", [True, False])
def test_a_node_that_starts_is_not_ready_and_no_trouble_where_it_was_proven(proven: bool) -> None:
    found = report(replace(STARTS, proven=proven))
    assert (found["phase"], found["ready"], found["acceptable"]) == ("starting", False, proven)
    assert "~ node n2, driver starting for 60 s: the node starts: x" in table.render(
        "demo", found, NOW, seconds
    )
    status = make_status(found, {}, 1, timestamp(NOW))
    assert [each["reason"] for each in status["conditions"]] == [
        "NodesStarting",
        "NodesStarting",
        "AsExpected",
    ]
    late = report(replace(STARTS, reason="StillStarting", final=True))
    assert late["causes"][0]["todo"].startswith("see what the one that the message names waits for")
    assert "! node n2, driver starting for 60 s: the node starts: x" in table.render(
        "demo", late, NOW, seconds
    )


def test_the_record_says_on_how_many_nodes_a_restart_is_pending() -> None:
    assert make_status(report(), {}, 1, timestamp(NOW))["nodes"]["restartsPending"] == 0
    waits = Result("driver", Phase.READY, since=NOW, final=True, restart_pending=True)
    found = make_status(report(waits), {}, 1, timestamp(NOW))["nodes"]
    assert (found["ready"], found["restartsPending"]) == (2, 1)


def test_no_nodes_is_a_result_of_its_own() -> None:
    found = summarize(PLANS, {}, [], {}, all_nodes=False)
    assert (found["phase"], found["ready"], found["acceptable"]) == ("empty", False, True)
    assert {row["phase"] for row in found["states"]} == {"empty"}
    lines = table.render("demo", {**found, "message": "what helps"}, NOW, seconds)
    assert lines[-1] == "! what helps"
    assert not any("ready" in line for line in lines)


def test_a_failure_names_node_state_why_and_what_to_do() -> None:
    found = report(CRASH, BLOCKED)
    assert (found["phase"], found["ready"], found["acceptable"]) == ("failed", False, False)
    assert found["message"].startswith(
        "1 of 2 nodes are ready; node n2, state driver failed: pod x: no such device; read"
    )
    assert [problem["state"] for problem in found["problems"]] == ["driver"]
    assert found["nodes"]["n2"] == {
        "group": "6.1",
        "phase": "failed",
        "since": "2027-01-15T07:56:00Z",
        "states": {"driver": "failed", "plugin": "blocked"},
    }


@pytest.mark.parametrize("proven", [True, False])
def test_unknown_is_acceptable_only_where_it_was_proven(proven: bool) -> None:
    found = report(
        n2_plugin=Result(
            "plugin", Phase.UNKNOWN, "DevicesBusy", "all in use", "", NOW, True, proven=proven
        )
    )
    assert (found["ready"], found["acceptable"]) == (False, proven)


def test_table_tells_kernels_apart_where_they_differ() -> None:
    lines = table.render("demo", report(CRASH, BLOCKED), NOW, seconds)
    assert lines[0] == "demo: failed, 1/2 nodes, 2 kernels"
    assert [line.split()[:4] for line in lines[2:6]] == [
        ["driver", "5.15", "1/1", "ready"],
        ["driver", "6.1", "0/1", "failed"],
        ["plugin", "5.15", "1/1", "ready"],
        ["plugin", "6.1", "0/1", "blocked"],
    ]
    assert lines[6] == "! node n2, driver failed for 4 min: pod x: no such device"
    assert lines[8] == "  behind it: plugin"


def test_who_merely_looks_sees_first_what_is_wrong_and_what_is_ready_in_one_line() -> None:
    lines = table.render("demo", report(CRASH), NOW, seconds, brief=True)
    assert lines[:2] == [
        "demo: failed, 1/2 nodes, 2 kernels",
        "! node n2, driver failed for 4 min: pod x: no such device",
    ]
    assert [line.split()[0] for line in lines[3:]] == ["STATE", "driver", "driver", "ready:"]
    assert lines[-1] == "  ready: plugin"
    well = table.render("demo", report(), NOW, seconds, brief=True)
    assert well == ["demo: ready, 2/2 nodes, 2 kernels", "  ready: driver, plugin"]


@pytest.mark.parametrize(
    ("nodes", "record", "said"),
    [
        (["a"], "", "the labels of node a are older"),
        (
            ["a", "b", "c", "d"],
            "ready",
            "the labels of 4 nodes (a, b, c and 1 more) and the record, which says ready, are older",
        ),
        ([], "ready", "the record, which says ready, is older"),
    ],
)
def test_labels_and_record_that_are_older_than_a_look_say_so(
    nodes: list[str], record: str, said: str
) -> None:
    found = {"nodes": nodes, "record": record, "seen": "2027-01-15T05:00:00Z"}
    lines = table.render("demo", {**report(), "outdated": found}, NOW, seconds, brief=True)
    assert lines[1:3] == [
        f"~ {said} than this look, of a run 3 h ago",
        "  -> run the playbook that enables it, which writes what is seen now",
    ]
    assert table.outdated(found, NOW, seconds) == lines[1:3]
    assert table.outdated({}, NOW, seconds) == []


def test_nodes_that_are_not_named_are_counted() -> None:
    pending = {**report(), "restarts_pending": ["a", "b", "c", "d", "e"]}
    told = "5 nodes run the driver version before, until the playbook upgrade exchanges it: a, b, c and 2 more"
    assert f"~ {told}" in table.render("demo", pending, NOW, seconds)
    one = table.render("demo", {**pending, "restarts_pending": ["a"]}, NOW, seconds)
    assert "~ 1 node runs the driver version before, until the playbook" in one[-1]


def test_what_serves_devices_is_said_where_it_differs_or_waits() -> None:
    def said(*rows: tuple[str, str, list[str]]) -> list[str]:
        told = [{"way": way, "wanted": wanted, "nodes": nodes} for way, wanted, nodes in rows]
        lines = table.render("demo", {**report(), "allocation": told}, NOW, seconds)
        return [line for line in lines if "served by" in line]

    assert said(("plugin", "plugin", ["a"])) == []
    assert said(("plugin", "dra", ["a"])) == [
        "~ 1 node is served by plugin, until the playbook upgrade brings it to dra: a"
    ]
    assert said(("dra", "dra", ["c"]), ("plugin", "dra", ["a", "b"])) == [
        "~ 1 node is served by dra: c",
        "~ 2 nodes are served by plugin, until the playbook upgrade brings them to dra: a, b",
    ]


def test_one_cause_on_many_nodes_is_told_once() -> None:
    names = [f"n{number}" for number in range(5)]
    results = {(name, plan.name): ready(plan.name) for name in names for plan in PLANS}
    for number, name in enumerate(names[1:]):
        results[name, "driver"] = replace(
            CRASH, message=f"pod x-{number}: no such device", since=NOW - number
        )
        results[name, "plugin"] = BLOCKED
    results["n0", "plugin"] = Result(
        "plugin", Phase.FAILED, "Timeout", "slow", since=NOW, final=True
    )
    found = summarize(PLANS, results, [], dict.fromkeys(names, "old"), all_nodes=False)
    assert [(cause["state"], cause["reason"], cause["nodes"]) for cause in found["causes"]] == [
        ("driver", "CrashLoopBackOff", 4),
        ("plugin", "Timeout", 1),
    ]
    driver = found["causes"][0]
    assert (driver["examples"], driver["message"]) == (
        ["n1", "n2", "n3"],
        "pod x-3: no such device",
    )
    assert driver["blocked"] == [{"state": "plugin", "nodes": 4}]
    assert "4 nodes (n1, n2, n3, ...), state driver failed" in found["message"]
    assert "  behind it: plugin on 4 nodes" in table.render("demo", found, NOW, seconds)


def test_what_serves_the_cluster_is_behind_what_fails_on_its_nodes() -> None:
    dashboard = Result(
        "plugin", Phase.BLOCKED, "BlockedBy.driver", "stands on driver", "driver", NOW, final=True
    )
    found = summarize(
        PLANS,
        {("n1", "driver"): CRASH, ("", "plugin"): dashboard},
        [],
        {"n1": "old"},
        all_nodes=False,
    )
    assert found["causes"][0]["blocked"] == [{"state": "plugin", "nodes": 1}]


def test_a_report_of_some_states_names_the_cause_that_lies_in_another() -> None:
    results = {("n1", "driver"): CRASH, ("n1", "plugin"): BLOCKED}
    found = summarize(PLANS[1:], results, [], {"n1": "old"}, all_nodes=False)
    assert (found["phase"], [row["name"] for row in found["states"]]) == ("blocked", ["plugin"])
    assert [cause["state"] for cause in found["causes"]] == ["driver"]


def test_status_is_stable_while_nothing_changes() -> None:
    first = make_status(report(CRASH, BLOCKED), {}, 1, timestamp(NOW))
    later = make_status(report(CRASH, BLOCKED), first, 1, timestamp(NOW + 60))
    assert later == first


def test_status_keeps_since_but_not_the_transition_of_a_condition_that_changed() -> None:
    first = make_status(report(CRASH, BLOCKED), {}, 1, timestamp(NOW))
    same = Result(
        "driver", Phase.FAILED, "CrashLoopBackOff", "pod x: again", since=NOW + 30, final=True
    )
    second = make_status(report(same, BLOCKED), first, 1, timestamp(NOW + 60))
    assert second["problems"][0]["since"] == first["problems"][0]["since"]
    third = make_status(report(), second, 1, timestamp(NOW + 90))
    conditions = {row["type"]: row for row in third["conditions"]}
    assert conditions["Ready"]["status"] == "True"
    assert conditions["Ready"]["lastTransitionTime"] == timestamp(NOW + 90)
    assert conditions["Progressing"]["lastTransitionTime"] == timestamp(NOW)


def test_the_last_look_is_noted_with_what_is_new_and_else_once_an_hour() -> None:
    first = with_last_check(
        make_status(report(CRASH, BLOCKED), {}, 1, timestamp(NOW)), {}, timestamp(NOW)
    )
    assert first["lastChecked"] == timestamp(NOW)

    def again(after: float, *changed: Result) -> dict[str, Any]:
        moment = timestamp(NOW + after)
        return with_last_check(
            make_status(report(*(changed or (CRASH, BLOCKED))), first, 1, moment), first, moment
        )

    assert again(3599) == first
    assert again(3600) == {**first, "lastChecked": timestamp(NOW + 3600)}
    assert again(60, CRASH, ready("plugin"))["lastChecked"] == timestamp(NOW + 60)


def test_how_long_a_run_took_is_noted_with_when_it_looked() -> None:
    def noted(before: dict[str, Any], now: float, took_s: float | None) -> dict[str, Any]:
        status = make_status(report(), before, 1, timestamp(now))
        return with_last_check(status, before, timestamp(now), took_s)

    first = noted({}, NOW, 12.6)
    assert first["lastRunSeconds"] == 12
    # Each run takes a little longer or less: that is nothing to write.
    assert noted(first, NOW + 60, 99.0) == first
    later = noted(first, NOW + 3600, 2.2)
    assert later == {**first, "lastChecked": timestamp(NOW + 3600), "lastRunSeconds": 2}
    # So it is for one that took no time worth telling.
    quick = noted({}, NOW, 0.3)
    assert quick["lastRunSeconds"] == 1
    assert noted(quick, NOW + 60, 0.3) == quick
    # What is not known is not that of a run before.
    assert "lastRunSeconds" not in noted(later, NOW + 7200, None)


def test_status_says_since_when_the_phase_is_what_it_is() -> None:
    first = make_status(report(CRASH, BLOCKED), {}, 1, timestamp(NOW))
    second = make_status(report(CRASH, ready("plugin")), first, 1, timestamp(NOW + 60))
    third = make_status(report(), second, 1, timestamp(NOW + 90))
    found = [(status["phase"], status["phaseSince"]) for status in (first, second, third)]
    assert found == [
        ("failed", timestamp(NOW)),
        ("failed", timestamp(NOW)),
        ("ready", timestamp(NOW + 90)),
    ]


def test_status_keeps_ten_causes_and_their_since() -> None:
    results = {
        (f"n{number}", "driver"): Result(
            "driver", Phase.FAILED, f"Reason{number}", "why", since=NOW, final=True
        )
        for number in range(12)
    }
    groups = [
        NodeGroup(
            "old", ("kernel",), GroupSystem("5.15"), nodes=tuple(name for name, _state in results)
        )
    ]
    found = summarize(
        PLANS[:1], results, groups, {name: "old" for name, _state in results}, all_nodes=False
    )
    first = make_status(found, {}, 1, timestamp(NOW))
    assert len(first["causes"]) == 10
    later = [{**cause, "since": timestamp(NOW + 9)} for cause in found["causes"]]
    assert (
        make_status({**found, "causes": later}, first, 1, timestamp(NOW + 9))["causes"]
        == first["causes"]
    )


QUOTA = "DaemonSet demo/driver has no pod on the node yet: exceeded quota: few, pod driver-x7k2p"


def remembered(**cause: Any) -> RecordMemory:
    """A run 200 s ago that found a cause on n2."""
    found = {
        "state": "driver",
        "phase": "failed",
        "reason": "NoPod",
        "message": QUOTA,
        "since": timestamp(NOW - 900),
        "nodes": 1,
        "examples": ["n2"],
        **cause,
    }
    return RecordMemory.of(
        "demo", {"status": {"causes": [found], "lastChecked": timestamp(NOW - 200)}}
    )


@pytest.mark.parametrize(
    ("known", "now", "line"),
    [
        (
            {},
            "DaemonSet demo/driver has no pod on the node yet, and no event says why",
            f"  seen 3 min ago by the last run, failed: {QUOTA}",
        ),
        # Names and numbers are others each time.
        ({}, QUOTA.replace("x7k2p", "lm4qz"), None),
        (
            {"reason": "Timeout", "nodes": 2, "examples": ["n2", "n3"]},
            "it waits",
            f"  seen 3 min ago by the last run on 2 nodes (n2, n3), failed: {QUOTA}",
        ),
        ({"state": "plugin"}, "it waits", None),
    ],
)
def test_what_the_last_run_saw_stands_beside_what_is_seen_now(
    known: dict[str, Any], now: str, line: str | None
) -> None:
    before = remembered(**known)
    found = report(n2_driver=replace(CRASH, reason="NoPod", message=now))
    found["causes"] = [before.beside(cause) for cause in found["causes"]]
    said = [line for line in table.render("demo", found, NOW, seconds) if "seen" in line]
    assert said == ([line] if line else [])


@pytest.mark.parametrize(
    ("known", "age"), [({}, 900), ({"phase": "degraded"}, 240), ({"reason": "Timeout"}, 240)]
)
def test_a_cause_that_stays_is_as_old_as_the_record_says(known: dict[str, Any], age: int) -> None:
    (cause,) = report(n2_driver=replace(CRASH, reason="NoPod"))["causes"]
    assert remembered(**known).lasting(cause)["since"] == timestamp(NOW - age)


def test_a_record_without_all_of_a_cause_tells_nothing_of_it() -> None:
    odd = {"status": {"causes": [{"state": "driver", "phase": "failed"}]}}
    assert RecordMemory.of("demo", odd).causes == []


@pytest.mark.parametrize(
    ("phase", "playbook"), [("upgrading", "upgrade"), ("remedy", "remedy"), ("quarantined", "")]
)
def test_what_a_run_has_begun_only_a_run_goes_on_with(phase: str, playbook: str) -> None:
    row = {"node": "n1", "phase": phase, "since": timestamp(NOW - 600), "message": "a pod stays"}
    lines = table.render("demo", {**report(), "upgrades": [row]}, NOW, seconds)
    said = [line for line in lines if "goes on with it" in line]
    assert [f"a run of the playbook {playbook} " in line for line in said] == [True] * bool(
        playbook
    )


def test_nothing_is_said_to_last_that_was_not_seen_before() -> None:
    found = report(n2_driver=replace(CRASH, since=NOW))
    assert "! node n2, driver failed: pod x: no such device" in table.render(
        "demo", found, NOW, seconds
    )


def test_status_lists_ten_problems_at_most() -> None:
    results = {(f"n{number}", "driver"): CRASH for number in range(30)}
    groups = [
        NodeGroup(
            "old", ("kernel",), GroupSystem("5.15"), nodes=tuple(name for name, _state in results)
        )
    ]
    found = summarize(
        PLANS[:1], results, groups, {name: "old" for name, _state in results}, all_nodes=False
    )
    assert len(make_status(found, {}, 1, timestamp(NOW))["problems"]) == 10
