# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are begun, how many at a time, when no other one is, what is held, and which are left
alone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import time, timezone
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    ApiError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    UPGRADING,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.node_marks import (
    NodeMarks,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    ProofRecord,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    Reboot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.faulty_nodes import (
    FaultyNodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.fleet_exchange import (
    FleetExchange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.maintenance_window import (
    MaintenanceWindow,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.outdated_drivers import (
    OutdatedDrivers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedies import (
    RemedyRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_survey import (
    UpgradeSurvey,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    refusal,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
    NOW,
    node,
    node_object,
    plan,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.fleet_bed import (
    EXCHANGE,
    REMEDY,
    Fleet,
)

__all__ = ["fake"]

NAME = "hardware-enablement.io/toy.upgrade"
BEGUN = '{"phase": "%s", "target": "v2", "since": "2026-01-01T00:00:00Z"}'


@pytest.mark.parametrize(("check_mode", "held"), [(False, {"begun"}), (True, set())])
def test_what_an_earlier_run_has_begun_is_held_from_the_first_look(
    check_mode: bool, held: set[str]
) -> None:
    snapshot = ClusterSnapshot()
    for name, phase in (("begun", UPGRADING), ("ended", "done"), ("other", "")):
        said = {NAME: BEGUN % phase} if phase else {}
        snapshot.nodes[name] = node(name, annotations=said)
    desired: Any = SimpleNamespace(
        client=cast(Client, None),
        plans=[],
        recipe=SimpleNamespace(name="toy"),
        prepared=SimpleNamespace(namespace="toy"),
    )
    choice: Any = SimpleNamespace(reason="Upgrading", phase=UPGRADING)
    exchange = FleetExchange(
        desired,
        cast(Any, None),
        None,
        lambda _survey: choice,
        cast(Guard, SimpleNamespace(before_write=lambda: None)),
        RunContext(check_mode=check_mode),
    )
    walker = Walker([], WalkSettings("toy", "toy"), snapshot, NOW)
    exchange.announce(walker)
    assert walker.held.keys() == held


# Open at NOW, and not.
OPEN = MaintenanceWindow(time(0), time(23, 59), frozenset(range(7)), timezone.utc)
CLOSED = MaintenanceWindow(time(8), time(8, 1), frozenset({5}), timezone.utc)
BEGUN_BEFORE = {"phase": "upgrading", "target": "v2", "since": "2026-01-01T00:00:00Z"}
FAILED_BEFORE = {"phase": "quarantined", "target": "v2", "since": "2026-01-01T00:00:00Z"}


def test_all_nodes_are_led_to_the_new_driver(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade()
    assert fleet.go(exchange) == ["n1", "n2", "n3"]
    assert sorted(fleet.cluster.deleted) == ["driver-n1-v1", "driver-n2-v1", "driver-n3-v1"]
    for name in ("n1", "n2", "n3"):
        assert name in fleet.walker.held
        fleet.exchange_driver(exchange, name)
        assert name not in fleet.walker.held
        fleet.prove(name)
    fleet.go(exchange)
    assert fleet.go(exchange) == []
    assert (exchange.outcome.done, exchange.is_over()) == (["n1", "n2", "n3"], True)


def test_check_mode_plans_and_touches_no_node(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade(context=RunContext(check_mode=True))
    assert fleet.go(exchange) == []
    assert exchange.plan is not None
    assert [row.wave for row in exchange.plan.nodes] == [1, 1, 1]
    assert fleet.cluster.writes == []


def test_no_node_is_begun_outside_the_maintenance_window(fake: FakeServer) -> None:
    fleet = Fleet(fake, said={"n2": BEGUN_BEFORE})
    exchange = fleet.upgrade(window=CLOSED)
    # What a run before this one has begun is not left half done.
    assert fleet.go(exchange) == ["n2"]
    assert exchange.outcome.stopped == "the maintenance window is 08:00 to 08:01 UTC (sat)"
    assert fleet.go(fleet.upgrade(window=OPEN)) == ["n1", "n2", "n3"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"paused": True}, "MachineConfigPool gpu is paused"),
        ({"updating": True}, "MachineConfigPool gpu is updating, 2 of 5 machines are done"),
    ],
)
def test_no_node_of_a_pool_that_is_paused_or_updating_is_begun(
    fake: FakeServer, said: dict[str, bool], why: str
) -> None:
    fleet = Fleet(fake, said={"n2": BEGUN_BEFORE})
    fleet.put_pool("gpu", ["n1", "n2"], **said)
    fleet.put_pool("worker", ["n3"])
    exchange = fleet.upgrade()
    # What a run before this one has begun is not left half done.
    assert fleet.go(exchange) == ["n2", "n3"]
    assert exchange.plan is not None
    assert [row.held_by for row in exchange.plan.nodes if row.node == "n1"] == [why]
    for name in ("n2", "n3"):
        fleet.exchange_driver(exchange, name)
        fleet.prove(name)
        fleet.go(exchange)
    fleet.go(exchange)
    assert (exchange.is_over(), exchange.outcome.stopped) == (True, why)
    assert fleet.cordoned() == []


def test_a_pool_that_begins_to_update_holds_who_is_not_begun_until_it_is_done(
    fake: FakeServer,
) -> None:
    fleet = Fleet(fake, 3)
    fleet.put_pool("worker", ["n1", "n2", "n3"])
    exchange = fleet.upgrade(max_unavailable="1")
    assert fleet.go(exchange) == ["n1"]
    fleet.put_pool("worker", ["n1", "n2", "n3"], updating=True)
    fleet.exchange_driver(exchange, "n1")
    fleet.put_pool("worker", ["n1", "n2", "n3"])
    fleet.prove("n1")
    fleet.go(exchange)
    assert fleet.go(exchange, 30) == ["n2"]
    fleet.put_pool("worker", ["n1", "n2", "n3"], updating=True)
    fleet.exchange_driver(exchange, "n2")
    fleet.prove("n2")
    fleet.go(exchange, 30)
    assert fleet.go(exchange) == []
    assert "is updating" in exchange.outcome.stopped
    assert exchange.outcome.done == ["n1", "n2"]


@pytest.mark.parametrize("why", ["cordoned", "not ready"])
def test_a_node_that_nobody_can_use_anyhow_counts_as_unavailable(
    fake: FakeServer, why: str
) -> None:
    fleet = Fleet(fake)
    # One of another kind of trouble, whose driver is of the newest version.
    found = {**node_object("n3", ready=why == "cordoned"), "spec": {}}
    if why == "cordoned":
        found["spec"]["unschedulable"] = True
    fleet.cluster.put("nodes", found)
    fleet.run_driver("n3", "v2")
    fleet.see()
    held_up = fleet.upgrade(max_unavailable="1")
    fleet.go(held_up)
    assert held_up.outcome.stopped == "n3 cannot be used as it is, and max_unavailable allows 1"
    begun = fleet.go(fleet.upgrade(max_unavailable="2"))
    assert [name for name in begun if name != "n3"] == ["n1"]


def test_one_that_nobody_can_use_takes_no_place_of_its_own(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    fleet.cluster.objects["nodes"]["n1"]["spec"]["unschedulable"] = True
    fleet.see()
    exchange = fleet.upgrade(max_unavailable="1")
    assert fleet.go(exchange) == ["n1"]
    assert exchange.outcome.stopped == ""
    # It was cordoned before, and stays so.
    assert not fleet.noted("n1").get("cordoned")


def test_nodes_on_their_way_and_resumed_ones_count_as_unavailable(fake: FakeServer) -> None:
    fleet = Fleet(fake, 4, said={"n4": BEGUN_BEFORE})
    exchange = fleet.upgrade(max_unavailable="2")
    # Also before the watch has told that they are cordoned.
    for _look in range(2):
        exchange.act(fleet.walker)
    assert fleet.cordoned() == ["n1", "n4"]
    assert fleet.go(exchange, 5) == ["n1", "n4"]


def test_a_node_that_could_not_be_freed_is_left_alone_for_the_rest_of_the_run(
    fake: FakeServer,
) -> None:
    fleet = Fleet(fake, 2)
    exchange = fleet.upgrade()

    def come(asked: Asked) -> None:
        """Somebody's pod, after the plan was made."""
        if asked.method == "PATCH":
            fleet.run_user("n1", volumes=[{"emptyDir": {}}])

    fleet.cluster.refuse = come
    fleet.go(exchange)
    assert list(exchange.outcome.postponed) == ["n1"]
    assert fleet.go(exchange) == ["n2"]
    # Cordoned, and given back.
    assert sum(name == "n1" for name, _patch in fleet.cluster.patched) == 2
    assert fleet.cluster.deleted == ["driver-n2-v1"]


def test_quarantine_holds_up_no_other_node(fake: FakeServer) -> None:
    fleet = Fleet(fake, said={"n3": FAILED_BEFORE})
    fleet.cluster.put(
        "nodes",
        {
            **node_object("n3", ready=False),
            "spec": {},
        },
    )
    fleet.cluster.objects["nodes"]["n3"]["metadata"]["annotations"] = {
        NAME.replace("toy", "demo"): json.dumps(FAILED_BEFORE)
    }
    fleet.run_driver("n3", "v2")
    fleet.prove("n3", Phase.FAILED)
    fleet.see()
    # It has failed, and is one of three.
    assert fleet.go(fleet.upgrade(max_unavailable="1")) == ["n1"]


def test_a_wave_that_is_full_begins_nobody(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade(waves=("1", "100%"), soak_s=60.0)
    assert fleet.go(exchange) == ["n1"]
    fleet.exchange_driver(exchange, "n1")
    fleet.prove("n1")
    fleet.go(exchange)
    fleet.go(exchange)
    assert exchange.outcome.done == ["n1"]
    # It has to stay proven for a while.
    assert fleet.go(exchange, 59) == []
    assert fleet.go(exchange, 2) == ["n2", "n3"]


def test_too_many_that_failed_end_it(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade(max_unavailable="1", max_failures="0")
    fleet.go(exchange)
    fleet.exchange_driver(exchange, "n1")
    fleet.prove("n1", Phase.FAILED, final=False)
    # It may yet come up.
    fleet.go(exchange)
    assert fleet.go(exchange) == ["n1"]
    fleet.prove("n1", Phase.FAILED)
    fleet.go(exchange)
    assert fleet.go(exchange) == []
    assert list(exchange.outcome.quarantined) == ["n1"]
    assert exchange.outcome.stopped == "1 node failed, and max_failures allows 0"
    assert (exchange.outcome.failed, exchange.outcome.changed) == (True, frozenset({"n1"}))
    assert exchange.is_over()


def test_nodes_that_ended_before_this_run_count(fake: FakeServer) -> None:
    done = {**FAILED_BEFORE, "phase": "done"}
    fleet = Fleet(fake, 4, said={"n1": FAILED_BEFORE, "n2": done})
    for name in ("n1", "n2"):
        fleet.run_driver(name, "v2")
    exchange = fleet.upgrade(max_failures="0")
    # Whether it has recovered is yet to be seen.
    assert fleet.go(exchange) == []
    assert not exchange.is_over()
    fleet.prove("n1", Phase.FAILED)
    assert fleet.go(exchange) == []
    assert exchange.outcome.stopped == "1 node failed, and max_failures allows 0"
    assert exchange.outcome.changed == {"n1", "n2"}
    assert exchange.plan is not None
    assert exchange.plan.done == 1


def test_a_node_that_fails_after_it_was_proven_is_none_that_is_done(fake: FakeServer) -> None:
    fleet = Fleet(fake, 2)
    exchange = fleet.upgrade(max_unavailable="1")
    fleet.go(exchange)
    fleet.exchange_driver(exchange, "n1")
    fleet.prove("n1")
    fleet.go(exchange)
    fleet.go(exchange)
    assert exchange.outcome.done == ["n1"]
    fleet.prove("n1", Phase.DEGRADED)
    fleet.go(exchange)
    fleet.go(exchange)
    assert exchange.outcome.done == []
    assert fleet.noted("n1")["phase"] == "quarantined"


def test_what_a_plan_leaves_out_is_not_begun(fake: FakeServer) -> None:
    fleet = Fleet(fake, said={"n2": {**BEGUN_BEFORE, "phase": "remedy"}})
    fleet.run_user("n1", volumes=[{"emptyDir": {}}])
    assert fleet.go(fleet.upgrade()) == ["n3"]


def test_no_node_is_touched_before_it_is_known_what_is_deployed(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    changed = next(each for key, each in fleet.snapshot.workloads.items() if key.name == "driver")
    changed["metadata"]["generation"] = 2
    exchange = fleet.upgrade()
    assert fleet.go(exchange) == []
    assert exchange.plan is None
    changed["status"]["observedGeneration"] = 2
    assert fleet.go(exchange) == ["n1", "n2", "n3"]


def test_a_driver_that_is_exchanged_meanwhile_is_begun_again(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    exchange = fleet.upgrade()
    fleet.go(exchange)
    fleet.run_driver("n1", "v1")
    fleet.prove("n1")
    fleet.go(exchange)
    assert exchange.outcome.done == []
    assert fleet.cordoned() == ["n1"]


def test_the_lock_is_looked_at_once_for_all_that_is_written_at_once(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade()
    fleet.go(exchange)
    assert fleet.looked == 1
    for name in ("n1", "n2", "n3"):
        fleet.exchange_driver(exchange, name)
        fleet.prove(name)
    fleet.go(exchange)
    before = fleet.looked
    fleet.go(exchange)
    assert fleet.looked == before + 1


def test_a_run_that_has_lost_its_lock_touches_no_node(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    exchange = fleet.upgrade()

    def lost() -> None:
        raise EnablementError("another run has the lock")

    exchange._batch._before_write = lost
    with pytest.raises(EnablementError, match="another run has the lock"):
        fleet.go(exchange)
    assert fleet.cluster.writes == []


def test_what_another_try_does_not_mend_ends_the_run(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if asked.method == "DELETE" else None
    )
    with pytest.raises(ApiError, match="no, says a webhook"):
        fleet.go(fleet.upgrade())


def test_a_node_that_leaves_is_no_failure(fake: FakeServer) -> None:
    fleet = Fleet(fake, 2)
    exchange = fleet.upgrade()
    fleet.go(exchange)
    fleet.cluster.remove("nodes", "n1")
    fleet.snapshot.forget_node("n1")
    fleet.go(exchange)
    fleet.exchange_driver(exchange, "n2")
    fleet.prove("n2")
    fleet.go(exchange)
    fleet.go(exchange)
    assert (exchange.outcome.done, exchange.outcome.quarantined) == (["n2"], {})
    assert exchange.is_over()


def test_everybody_may_read_why_a_node_failed_and_no_secret(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    exchange = fleet.upgrade(context=RunContext(secrets={"t0ken"}))
    fleet.go(exchange)
    fleet.exchange_driver(exchange, "n1")
    failed = Result("driver", Phase.FAILED, "CrashLoopBackOff", "t0ken is refused", final=True)
    fleet.walker.results["n1", "driver"] = failed
    fleet.go(exchange)
    fleet.go(exchange)
    assert fleet.noted("n1")["reason"] == "driver, CrashLoopBackOff: ******** is refused"


def test_a_node_on_its_way_says_no_longer_that_it_is_proven(fake: FakeServer) -> None:
    fleet = Fleet(fake, 1)
    fleet.run_own("n1")
    exchange = fleet.upgrade()
    states = ("driver", "plugin", "other")
    proof = ProofRecord("h", "k", "b", "t")
    before = NodeMarks(
        gates=dict.fromkeys(states, "ready"), proofs=dict.fromkeys(states, proof), summary="ready"
    )
    facts = fleet.snapshot.nodes["n1"]
    assert exchange.marks_of(facts, before) == before
    fleet.go(exchange)
    found = exchange.marks_of(facts, before)
    assert (found.gates, found.proofs) == ({"other": "ready"}, {"other": proof})
    assert found.summary == "driver.upgrading"


def test_a_run_ends_where_all_nodes_wait_for_whoever_called(fake: FakeServer) -> None:
    fleet = Fleet(fake, 2)
    exchange = fleet.upgrade(exchange=replace(EXCHANGE, reboot=Reboot(None, 60)))
    fleet.go(exchange)
    assert exchange.outcome.reboot == ["n1", "n2"]
    assert exchange.is_over()


def test_a_node_is_mended_by_what_its_proofs_say_in_the_end(fake: FakeServer) -> None:
    fleet = Fleet(fake)
    rules = RemedyRules(("restart",), attempts=1)
    for name in ("n1", "n2"):
        labels = fleet.cluster.objects["nodes"][name]["metadata"]["labels"]
        labels["hardware-enablement.io/demo.driver"] = "degraded"
    fleet.see()
    exchange = fleet.mend(exchange=replace(EXCHANGE, remedies=rules))
    fleet.prove("n1", Phase.DEGRADED, final=False)
    fleet.prove("n2")
    assert fleet.go(exchange) == []
    fleet.prove("n1", Phase.DEGRADED)
    assert fleet.go(exchange) == ["n1"]


def test_what_has_not_helped_often_enough_is_not_tried_again(fake: FakeServer) -> None:
    tried = ["2027-01-15T08:00:00Z"]
    said = {"n1": {**FAILED_BEFORE, "phase": "done", "tried": tried}}
    fleet = Fleet(fake, 1, said=said)
    rules = RemedyRules(("restart",), attempts=1)
    settings = replace(EXCHANGE, remedies=rules)
    exchange = fleet.mend(REMEDY, exchange=settings, faults={"n1": "XID 79"})
    fleet.go(exchange)
    fleet.go(exchange)
    assert fleet.cluster.deleted == []
    assert exchange.outcome.quarantined == {"n1": "XID 79; 1 remedies within a day did not help"}


TAINTS = {
    "stays": "example.com/team",
    "starts": "node.cilium.io/agent-not-ready",
    "leaves": "ToBeDeletedByClusterAutoscaler",
}
PLAN = plan("driver")


def survey_of(*, phase: str = "", **marks: Any) -> UpgradeSurvey:
    """A node of each kind of TAINTS, by the name of its kind. phase: what their annotation says;
    marks: what else they have."""
    snapshot = ClusterSnapshot()
    for name, key in TAINTS.items():
        snapshot.nodes[name] = node(
            name,
            annotations={NAME: BEGUN % phase} if phase else {},
            taints=({"key": key, "effect": "NoSchedule"},),
            **marks,
        )
        snapshot.groups[name] = GROUP
    desired: Any = SimpleNamespace(
        client=None,
        plans=[PLAN],
        recipe=SimpleNamespace(name="toy", remedies=SimpleNamespace(states=("driver",))),
        prepared=SimpleNamespace(namespace="toy"),
        discovery=SimpleNamespace(grouping=Grouping()),
    )
    return UpgradeSurvey(desired, cast(Any, None), snapshot)


def test_a_node_that_leaves_is_not_exchanged_and_one_that_starts_is_said_to_do_so() -> None:
    survey = survey_of(phase=UPGRADING)
    choice = OutdatedDrivers(survey, cast(Any, SimpleNamespace(only=None)))
    assert choice.candidates() == ["starts", "stays"]
    assert survey.leaving().keys() == {"leaves"}
    assert survey._unusable("stays") == ""
    assert survey._unusable("starts").startswith(
        "the node starts: it has the taint node.cilium.io/"
    )


@pytest.mark.parametrize(
    ("reported", "faulty"), [((), ["stays"]), (tuple(TAINTS), ["starts", "stays"])]
)
def test_what_fails_on_a_node_on_its_way_is_no_fault_of_it(
    reported: tuple[str, ...], faulty: list[str]
) -> None:
    survey = survey_of(labels={"hardware-enablement.io/toy.driver": "degraded"})
    settings: Any = SimpleNamespace(
        faults=dict.fromkeys(reported, "XID 79"),
        exchange=SimpleNamespace(remedies=RemedyRules()),
    )
    assert sorted(FaultyNodes(survey, settings, lambda: NOW).candidates()) == faulty


def test_a_node_that_leaves_on_its_way_is_let_go() -> None:
    survey, ended = survey_of(), []
    desired: Any = SimpleNamespace(client=None)
    fleet = FleetExchange(
        desired,
        cast(Any, None),
        None,
        cast(Any, None),
        cast(Any, SimpleNamespace(before_write=None)),
        RunContext(),
    )
    walker = Walker([PLAN], WalkSettings("toy", "toy"), survey.snapshot, NOW)
    exchange: Any = SimpleNamespace(
        node="leaves",
        remedy=None,
        tell=lambda _text: ended.append("told"),
        drop=lambda: ended.append("dropped"),
        fail=lambda _text: ended.append("failed"),
    )
    result = Result("driver", Phase.LEAVING, "NodeLeaves", "it leaves")
    walker.results["leaves", "driver"] = result
    fleet._judge(exchange, walker, survey)
    walker.results["leaves", "driver"] = replace(result, final=True)
    fleet._judge(exchange, walker, survey)
    assert ended == ["told", "dropped"]
