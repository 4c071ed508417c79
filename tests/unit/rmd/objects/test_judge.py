# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one workload may not, does not hold up the others."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.actions import Action, plan
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.dialect import Dialect
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.judge import (
    Refused,
    RuleMachine,
    judge,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_state import (
    WorkloadOutcome,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Mba,
    RunningWorkload,
    Workload,
)
from tests.unit.rmd.bodies import running, topology, workload

MACHINE = RuleMachine(topology("4-9"), {}, Dialect.V03)


def judged(
    present: list[Workload],
    there: list[RunningWorkload],
    absent: tuple[str, ...] = (),
    machine: RuleMachine = MACHINE,
) -> tuple[list[Action], dict[str, Refused]]:
    return judge(plan(present, absent, there), there, machine)


def test_what_rmd_would_refuse_is_not_sent_and_the_rest_is() -> None:
    wrong, right = workload("wrong", 0, most=1, least=2), workload("right", 1)
    sent, refused = judged([wrong, right], [])
    assert [action.workload.uuid for action in sent] == ["right"]  # type: ignore[union-attr]
    assert refused["wrong"].outcome is WorkloadOutcome.INVALID
    assert refused["wrong"].why.startswith(
        "workload wrong asks for at most 1 and at least 2 ways; make max and min"
    )


def test_without_knowing_the_machine_the_rest_is_looked_at() -> None:
    _sent, refused = judged([workload("w", 1, mba=Mba(percentage=0))], [], machine=RuleMachine())
    assert "mba 0" in refused["w"].why


def test_of_two_that_want_one_core_the_older_gets_it() -> None:
    _sent, refused = judged([workload("old", 1), workload("new", 1)], [])
    assert set(refused) == {"new"}
    assert refused["new"].outcome is WorkloadOutcome.REFUSED
    assert "core 1 of workload new belongs to workload old" in refused["new"].why


def test_a_core_that_is_freed_may_be_taken() -> None:
    _sent, refused = judged([workload("new", 1)], [running("gone", "1")], ("gone",))
    assert refused == {}


def test_what_a_refused_change_leaves_is_in_others_way() -> None:
    there = [running("a", "1", id="1")]
    moved = workload("a", 99)
    sent, refused = judged([workload("b", 1), moved], there)
    assert set(refused) == {"a", "b"}
    assert refused["a"].outcome is WorkloadOutcome.INVALID
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
