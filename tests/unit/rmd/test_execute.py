# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A transaction over two nodes: our RMD server on each, their Leases behind a scripted API server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.daemon_client import (
    Daemon,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.https import (
    Address,
    RmdConnection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.actions import (
    RELEASING_UUID,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.agents import Agent
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.execute import (
    each,
    execute,
    node_runs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_lease import (
    SAVED_ANNOTATION,
    lock_name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_results import (
    CHANGED,
    FAILED,
    ROLLED_BACK,
    WITHHELD,
    WOULD_CHANGE,
    NodeJob,
    NodeReport,
    WriteSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_writer import (
    Fleet,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.report_fields import (
    Report,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import RmdError
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import Workload
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import workload
from tests.rmd import Injection, RmdServer
from tests.rmd.reports import report_of

__all__ = ["fake"]

NODES = ("n1", "n2")
OLD, OTHER, NEW = workload("w", 1, 2), workload("v", 3), workload("w", 1, 2, most=1, least=1)
NO_CLASS = Injection("POST", status=500, text="No free CLOS available")


class Watcher(Agent):
    """An agent that sees a server's tree."""

    def __init__(self, server: RmdServer, *, mute: bool = False) -> None:
        self._server = server
        self._mute = mute

    def report(self) -> Report:
        """What it sees now."""
        if self._mute:
            raise RmdError("There is no report of the agent", kind="unverified")
        return {**report_of(self._server), "interval": 0.0}


def converge(
    client: Client, fleet: Fleet, job: NodeJob, settings: WriteSettings, context: RunContext
) -> list[NodeReport]:
    """The same job on all nodes, as the module rmd_workload has it."""
    runs = node_runs(client, fleet, fleet.writers, settings, context)
    each(runs, lambda run: run.observe(required=bool(job.present)), settings)
    for run in runs:
        run.decide(job)
    execute(runs, settings)
    return [run.report for run in runs]


class Bed:
    """Two nodes, each with a daemon that runs OLD and OTHER."""

    def __init__(self, fake: FakeServer, folder: Path) -> None:
        self.cluster = ScriptedCluster(fake)
        self.mute: set[str] = set()
        self.client = fake.client()
        self.servers = {name: RmdServer(resctrl=folder / name).start() for name in NODES}
        self.daemons = {name: self._daemon(name) for name in NODES}
        assert [report.fate.outcome for report in self.run(OLD, OTHER)] == [CHANGED] * 2
        self.cluster.writes.clear()
        self.marks = {name: server.mark() for name, server in self.servers.items()}

    def _daemon(self, name: str) -> Daemon:
        port = self.servers[name].port
        address = Address("127.0.0.1", port, False, "", f"node {name}, 127.0.0.1:{port}")
        return Daemon(
            name,
            RmdConnection(address, None, shows_certificate=False, timeout_s=5.0),
            sleep=lambda _seconds: None,
        )

    def close(self) -> None:
        """End the daemons."""
        for name in NODES:
            self.daemons[name].close()
            self.servers[name].stop()

    def run(
        self, *present: Workload, absent: tuple[str, ...] = (), check: bool = False, **given: Any
    ) -> list[NodeReport]:
        """Have these workloads on both nodes; one node at a time, in their order."""
        settings = WriteSettings(parallel=1, lock_wait_s=0.0, check_mode=check, **given)
        context = RunContext(check_mode=check, run_id="run-1")
        agents: dict[str, Agent] = {
            name: Watcher(self.servers[name], mute=name in self.mute) for name in NODES
        }
        fleet = Fleet(dict(self.daemons), agents)
        return converge(self.client, fleet, NodeJob(present, absent), settings, context)

    def run_on(self, name: str) -> list[Any]:
        """What a daemon says that it runs, in its order."""
        return [(found.uuid, found.workload.cache) for found in self.daemons[name].workloads()]

    def sent(self, name: str) -> list[str]:
        """The requests of this test to a daemon that change something."""
        seen = self.servers[name].requests(self.marks[name])
        return [
            entry.method
            for entry in seen
            if entry.method == "DELETE" or (entry.method == "POST" and "uuid" in entry.json)
        ]

    def lease(self, name: str) -> dict[str, Any]:
        return self.cluster.objects["leases"][lock_name(name)]

    def saved(self, name: str) -> list[str]:
        """The uuids that a node's Lease keeps."""
        text = self.lease(name)["metadata"]["annotations"].get(SAVED_ANNOTATION)
        return [body["uuid"] for body in json.loads(text or "[]")]


@pytest.fixture
def bed(fake: FakeServer, tmp_path: Path) -> Iterator[Bed]:
    found = Bed(fake, tmp_path)
    yield found
    found.close()


def outcomes(reports: list[NodeReport]) -> list[str]:
    return [report.fate.outcome for report in reports]


def test_a_failure_undoes_what_was_done_on_all_nodes(bed: Bed) -> None:
    before = [bed.run_on(name) for name in NODES]
    bed.servers["n2"].faults.inject(NO_CLASS)
    assert outcomes(bed.run(NEW)) == [ROLLED_BACK, ROLLED_BACK]
    assert [sorted(bed.run_on(name), key=str) for name in NODES] == [
        sorted(found, key=str) for found in before
    ]
    assert [bed.saved(name) for name in NODES] == [[], []]


def test_a_node_is_given_back_whatever_became_of_it(bed: Bed) -> None:
    assert [bed.lease(name)["spec"]["holderIdentity"] for name in NODES] == ["", ""]
    bed.servers["n2"].faults.inject(NO_CLASS)
    bed.run(NEW)
    assert [bed.lease(name)["spec"]["holderIdentity"] for name in NODES] == ["", ""]


def test_what_is_saved_stays_until_it_is_back_and_not_where_it_may_be_gone(bed: Bed) -> None:
    old = dict(bed.daemons["n1"].workloads()[0].body)
    gone = [{**old, "uuid": name} for name in ("x", "y")]
    annotations = bed.lease("n1")["metadata"].setdefault("annotations", {})
    # RMD has no such class, so neither comes back; y is not wanted any more.
    bed.servers["n1"].faults.inject(NO_CLASS)
    annotations[SAVED_ANNOTATION] = json.dumps([*gone, old])
    (first, _second) = bed.run(OLD, OTHER, absent=("y",))
    assert "workload x, which a killed run has deleted, is not back" in first.warnings[0]
    # What runs is not posted again.
    assert len(bed.sent("n1")) == 1
    assert bed.saved("n1") == ["x"]


def test_workloads_come_back_in_the_order_in_which_they_were_there(bed: Bed) -> None:
    bed.servers["n2"].faults.inject(NO_CLASS)
    bed.run(workload("x", 0), absent=("v", "w"))
    posts = [
        seen.json["uuid"]
        for seen in bed.servers["n1"].requests(bed.marks["n1"])
        if seen.method == "POST"
    ]
    assert posts == ["x", "w", "v"]


def test_nothing_is_written_where_one_node_would_refuse(bed: Bed) -> None:
    bed.servers["n2"].faults.inject(Injection("GET", status=500, text="no"))
    reports = bed.run(NEW)
    assert outcomes(reports) == [WITHHELD, FAILED]
    assert bed.sent("n1") == []


def test_what_rmd_would_refuse_is_never_sent(bed: Bed) -> None:
    reports = bed.run(workload("x", 3))
    assert outcomes(reports) == [FAILED, FAILED]
    assert "core 3 of workload x belongs to workload v" in str(reports[0].fate.error)
    assert [bed.sent(name) for name in NODES] == [[], []]


def test_a_node_that_another_run_holds_is_not_written_to(bed: Bed) -> None:
    bed.lease("n1")["spec"].update(
        holderIdentity="another", renewTime="2999-01-01T00:00:00.000000Z"
    )
    reports = bed.run(NEW)
    assert reports[0].fate.error is not None
    assert reports[0].fate.error.kind == "locked"
    assert [bed.sent(name) for name in NODES] == [[], []]


def test_a_lease_that_was_lost_is_noticed_before_the_next_request(bed: Bed) -> None:
    save = bed.cluster._patch

    def lose(request: Any) -> Any:
        answer = save(request)
        if SAVED_ANNOTATION in (request.body["metadata"].get("annotations") or {}):
            bed.lease("n1")["spec"].update(holderIdentity="another")
        return answer

    bed.cluster._patch = lose  # type: ignore[method-assign]
    reports = bed.run(NEW)
    assert reports[0].fate.error is not None
    assert reports[0].fate.error.kind == "locked"
    assert bed.sent("n1") == []


def test_what_is_replaced_is_saved_before_it_is_deleted_and_put_back_by_the_next_run(
    bed: Bed,
) -> None:
    bed.servers["n1"].faults.inject(Injection("POST", die=True))
    bed.run(NEW)
    assert bed.saved("n1") == ["w"]
    bed.servers["n1"].faults.clear()
    bed.servers["n1"].start()
    bed.daemons["n1"] = bed._daemon("n1")
    (first, _second) = bed.run(OTHER)
    assert [(write.uuid, write.action) for write in first.writes] == [
        ("w", "restore"),
        ("v", "keep"),
    ]
    assert bed.saved("n1") == []


def test_check_mode_holds_nothing_and_sends_nothing(bed: Bed) -> None:
    assert outcomes(bed.run(NEW, check=True)) == [WOULD_CHANGE] * 2
    assert [bed.sent(name) for name in NODES] == [[], []]
    assert bed.cluster.writes == []


def test_what_rmd_only_says_is_looked_at_again(bed: Bed) -> None:
    bed.servers["n1"].faults.inject(Injection("DELETE", status=200))
    (first, second) = bed.run(absent=("w",))
    assert first.fate.error is not None
    assert first.fate.error.kind == "no_effect"
    assert second.fate.outcome == WITHHELD


def test_what_the_kernel_does_not_do_is_posted_again_and_nothing_else(bed: Bed) -> None:
    bed.servers["n1"].node.resctrl.take_back("COS2", ())
    (first, second) = bed.run(OLD, OTHER)
    assert (first.fate.outcome, second.fate.outcome) == (CHANGED, "unchanged")
    assert [(write.uuid, write.action) for write in first.writes] == [
        ("w", "replace"),
        ("v", "keep"),
    ]
    assert (bed.sent("n1"), bed.sent("n2")) == (["DELETE", "POST"], [])
    assert first.seen.after is not None
    assert first.seen.after.broken == {}


def test_a_wrong_socket_is_posted_until_it_is_the_right_one(bed: Bed) -> None:
    server = bed.servers["n1"]
    server.faults.wrong_socket = 1.0
    posts = iter([1.0, 0.0])
    server.node.faults.mistakes_sockets = lambda: bool(next(posts, 0.0))  # type: ignore[method-assign]
    (first, _second) = bed.run(OLD, OTHER, workload("x", 5))
    assert (first.fate.outcome, first.fate.error) == (CHANGED, None)
    assert bed.sent("n1") == ["POST", "DELETE", "POST"]


def test_what_never_comes_to_be_in_force_is_said_and_left_or_undone(bed: Bed) -> None:
    bed.servers["n1"].faults.wrong_socket = 1.0
    (first, second) = bed.run(OLD, OTHER, workload("x", 5), on_partial_failure="keep")
    assert first.fate.error is not None
    assert first.fate.error.kind == "not_in_force"
    assert "it has all 11 ways of its cache 1 instead of 2" in first.fate.error.why
    assert bed.sent("n1") == ["POST", *["DELETE", "POST"] * 2]
    assert (first.fate.outcome, second.fate.outcome) == (FAILED, CHANGED)
    assert outcomes(bed.run(OLD, OTHER, workload("y", 6))) == [ROLLED_BACK, WITHHELD]
    assert "y" not in {uuid for uuid, _cache in bed.run_on("n1") + bed.run_on("n2")}


def test_cores_that_a_lost_database_has_left_are_freed(bed: Bed) -> None:
    for name in NODES:
        bed.servers[name].restart(empty_database=True)
    bed.daemons = {name: bed._daemon(name) for name in NODES}
    (first, _second) = bed.run(OLD)
    assert [(write.uuid, write.action) for write in first.writes] == [
        (RELEASING_UUID, "free"),
        ("w", "post"),
    ]
    groups = bed.servers["n1"].dump()["resctrl"]
    assert {name: found["cpus_list"] for name, found in groups.items() if found["cpus_list"]} == {
        ".": "0,3-7",
        "COS3": "1-2",
    }
    assert [uuid for uuid, _cache in bed.run_on("n1")] == ["w"]
    assert bed.run(OLD)[0].fate.outcome == "unchanged"


def test_nothing_counts_after_a_boot(bed: Bed) -> None:
    job = NodeJob((OLD, OTHER), is_fresh=True)
    agents: dict[str, Agent] = {"n1": Watcher(bed.servers["n1"])}
    settings = WriteSettings(parallel=1, lock_wait_s=0.0)
    fleet = Fleet({"n1": bed.daemons["n1"]}, agents)
    (report,) = converge(bed.client, fleet, job, settings, RunContext(run_id="run-1"))
    assert [write.action for write in report.writes] == ["replace", "replace"]
    assert report.fate.outcome == CHANGED


def test_without_a_word_of_the_agent_nothing_is_sent_but_workloads_can_go(bed: Bed) -> None:
    bed.mute = {"n1"}
    (first, second) = bed.run(NEW, on_partial_failure="keep")
    assert first.fate.error is not None
    assert (first.fate.error.kind, bed.sent("n1")) == ("unverified", [])
    assert second.fate.outcome == CHANGED
    assert outcomes(bed.run(absent=("w", "v"))) == [CHANGED, CHANGED]
    assert bed.run_on("n1") == []
