# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one workload may not, does not hold up the others."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.actions import (
    Action,
    plan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
    Machine,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.report_fields import (
    Report,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.rules import (
    check,
    rounding,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import Refusal
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Mba,
    RunningWorkload,
    Workload,
)
from tests.unit.rmd.bodies import running, topology, workload

MACHINE = Machine(topology("4-9"), {}, Dialect.V03)
# The operating system has core 0, and bandwidth is a multiple of 10 from 10 on.
REPORT = {"pools": {"os_cpus": "0"}, "resctrl": {"bandwidth": {"least": 10, "step": 10}}}


def judged(
    present: list[Workload],
    there: list[RunningWorkload],
    absent: tuple[str, ...] = (),
    machine: Machine = MACHINE,
    report: Report | None = None,
) -> tuple[list[Action], dict[str, Refusal]]:
    return check(plan(present, absent, there), there, machine, report or {})


def test_what_rmd_would_refuse_is_not_sent_and_the_rest_is() -> None:
    wrong, right = workload("wrong", 0, most=1, least=2), workload("right", 1)
    sent, refused = judged([wrong, right], [])
    assert [action.workload.uuid for action in sent] == ["right"]  # type: ignore[union-attr]
    assert refused["wrong"].kind == "bad_range"
    assert refused["wrong"].why == "workload wrong asks for at most 1 and at least 2 ways"


def test_without_knowing_the_machine_the_rest_is_looked_at() -> None:
    _sent, refused = judged([workload("w", 1, mba=Mba(percentage=0))], [], machine=Machine())
    assert "mba 0" in refused["w"].why


def test_of_two_that_want_one_core_the_older_gets_it() -> None:
    _sent, refused = judged([workload("old", 1), workload("new", 1)], [])
    assert set(refused) == {"new"}
    assert refused["new"].kind == "conflict_core"
    assert "core 1 of workload new belongs to workload old" in refused["new"].why


def test_a_core_that_is_freed_may_be_taken() -> None:
    _sent, refused = judged([workload("new", 1)], [running("gone", "1")], ("gone",))
    assert refused == {}


def test_what_a_refused_change_leaves_is_in_others_way() -> None:
    there = [running("a", "1", id="1")]
    moved = workload("a", 99)
    sent, refused = judged([workload("b", 1), moved], there)
    assert set(refused) == {"a", "b"}
    assert refused["a"].kind == "unknown_core"
    assert sent == []


def test_ways_go_to_the_older() -> None:
    _sent, refused = judged(
        [workload("old", 1, most=4, least=4), workload("new", 2, most=3, least=3)], []
    )
    assert set(refused) == {"new"}
    assert "cache 0 has 6 guaranteed ways to give" in refused["new"].why


def test_what_rest_may_not_change_stays() -> None:
    there = [running("w", "1", origin="OPENSTACK"), running("x", "2", origin="OPENSTACK", id="2")]
    sent, refused = judged([workload("w", 1, most=3, least=3)], there, ("x",))
    assert sent == []
    assert all('is of origin "OPENSTACK"' in entry.why for entry in refused.values())


def test_what_is_kept_is_never_judged() -> None:
    kept = [running("w", "1")]
    sent, refused = judged([workload("w", 1)], kept)
    assert (len(sent), refused) == (1, {})


def of_node(dialect: Dialect) -> Machine:
    """A machine with memory bandwidth allocation."""
    return Machine(topology("4-9", {"mba": True}), {}, dialect)


def test_a_core_of_the_operating_system_is_taken_back_by_the_older_rmd() -> None:
    _sent, refused = judged([workload("w", 0, 1)], [], machine=of_node(Dialect.V02), report=REPORT)
    assert (refused["w"].kind, "core 0 of workload w" in refused["w"].why) == ("os_core", True)
    assert judged([workload("w", 0, 1)], [], machine=of_node(Dialect.V03), report=REPORT)[1] == {}


def test_less_bandwidth_than_the_kernel_gives_is_not_sent() -> None:
    little, some = workload("a", 1, mba=Mba(percentage=5)), workload("b", 2, mba=Mba(percentage=25))
    _sent, refused = judged([little, some], [], machine=of_node(Dialect.V03), report=REPORT)
    assert set(refused) == {"a"}
    assert "the kernel gives 10 at least" in refused["a"].why
    assert "makes 30: its step is 10" in rounding(some, REPORT)
    assert rounding(workload("c", 1, mba=Mba(percentage=30)), REPORT) == ""
