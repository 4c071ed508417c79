# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each of RMD's rules, looked at before anything is sent."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.actions import (
    Delete,
    Keep,
    Post,
    Replace,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
    Machine,
    RmdPolicy,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.rules import (
    capacity,
    leftover_warning,
    problems,
    senseless,
    unchangeable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import ADVICE
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    Mba,
    Pstate,
    Workload,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import (
    running,
    topology,
    workload,
)

POLICIES = {"gold": RmdPolicy(Cache(4, 4)), "bronze": RmdPolicy(None)}
MACHINE = Machine(topology(), POLICIES)
ALONE = Workload("w", (1,), mba=Mba(percentage=50))


@pytest.mark.parametrize(
    ("wanted", "kind", "words"),
    [
        (workload(""), "bad_request", "cannot name"),
        (workload("a b"), "bad_request", "without spaces"),
        (workload("u" * 254), "bad_request", "253"),
        (Workload("w", (), cache=Cache(2, 2)), "no_cores", "names no core"),
        (Workload("w", (1,)), "no_parameters", "asks for nothing"),
        (workload(most=1, least=2), "bad_range", "at most 1 and at least 2"),
        (workload(most=2, least=0), "bad_range", "at most 2 and at least 0"),
        (workload(most=-1, least=-1), "bad_range", "at most -1"),
        (workload(pstate=Pstate(monitoring="maybe")), "plugin_refused", '"maybe"'),
        (Workload("w", (1,), mba=Mba(50)), "mba_unsupported", "without cache"),
        (workload(most=4, least=2, mba=Mba(50)), "mba_unsupported", "besteffort"),
        (workload(most=0, least=0, mba=Mba(100)), "mba_unsupported", "shared"),
        (workload(mba=Mba(0)), "mba_range", "mba 0"),
        (workload(mba=Mba(101)), "mba_range", "to 100"),
        (workload(mba=Mba(mbps=4294967291)), "mba_range", "to 4294967290"),
        (workload(mba=Mba(50, 500)), "mba_mode", "both units"),
        (workload("w", 1, 8), "unknown_core", "names core 8, and the node has 0-7"),
        (workload(most=12, least=12), "no_cache", "asks for 12 ways, and cache 0 has 11"),
        (workload(policy="p"), "policy_unknown", 'no policy "p" (it has: bronze, gold)'),
    ],
)
def test_each_rule(wanted: Workload, kind: str, words: str) -> None:
    (found,) = problems(wanted, MACHINE)
    assert (found.kind, found.todo) == (kind, ADVICE[kind])
    assert words in found.why


@pytest.mark.parametrize(
    "wanted",
    [
        workload(),
        workload(most=4, least=2),
        workload(most=0, least=0),
        workload(most=4, least=2, mba=Mba(100)),
        workload(mba=Mba(mbps=500)),
        workload("w", 0),
        workload("w", 3, 4),
        workload(policy="gold"),
        workload(policy="bronze", most=1, least=2, mba=Mba(0)),
        Workload("w", (1,), pstate=Pstate(3.0, "off")),
    ],
)
def test_what_rmd_takes_is_no_problem(wanted: Workload) -> None:
    assert problems(wanted, MACHINE) == []


def test_the_older_dialect_has_no_mba() -> None:
    assert [
        found.kind for found in problems(workload(mba=Mba(50)), Machine(dialect=Dialect.V02))
    ] == ["mba_unsupported"]
    assert problems(workload(mba=Mba(50)), Machine(dialect=Dialect.V03)) == []


def test_a_machine_without_mba() -> None:
    without = topology(mba={"mba": False})
    assert [found.kind for found in problems(workload(mba=Mba(50)), Machine(without))] == [
        "mba_unsupported"
    ]
    assert problems(workload(), Machine(without)) == []


def test_cores_of_others() -> None:
    (found,) = problems(workload("w", 1, 2, 3), others=[workload("x", 3, 4), workload("y", 5)])
    assert found.kind == "conflict_core"
    assert found.why == "core 3 of workload w belongs to workload x"


def test_what_is_not_known_is_not_judged() -> None:
    assert problems(workload("w", 99, policy="p")) == []


@pytest.mark.parametrize(
    ("actions", "missing"),
    [
        ([Post(workload("a", 1, most=6, least=6))], ""),
        (
            [Post(workload("a", 1, most=7, least=7))],
            "cache 0 has 6 guaranteed ways to give, and a would take 7",
        ),
        ([Post(workload("a", 5, most=7, least=7))], "cache 1"),
        (
            [Post(workload("a", 1, most=3, least=3)), Post(workload("b", 2, most=4, least=4))],
            "a, b would take 7",
        ),
        ([Post(workload("a", 1, most=3, least=3)), Post(workload("b", 5, most=4, least=4))], ""),
        ([Replace(running("a", "1", cache=(2, 2)), workload("a", 1, most=8, least=8))], ""),
        ([Replace(running("a", "1", cache=(2, 2)), workload("a", 1, most=9, least=9))], "has 8"),
        ([Replace(running("a", "1", status="Failed"), workload("a", 1, most=7, least=7))], "has 6"),
        ([Delete(running("b", "2", cache=(4, 4))), Post(workload("a", 1, most=10, least=10))], ""),
        (
            [Delete(running("b", "5", cache=(4, 4))), Post(workload("a", 1, most=10, least=10))],
            "cache 0",
        ),
        ([Keep(running("a", "1", cache=(9, 9)), workload("a", 1, most=9, least=9))], ""),
        ([Post(workload("a", 1, most=9, least=2))], ""),
        (
            [Post(workload("a", 1, most=3, least=3)), Post(workload("b", 2, policy="gold"))],
            "would take 7",
        ),
    ],
)
def test_the_guaranteed_pool(actions: list[Any], missing: str) -> None:
    found = capacity(actions, MACHINE)
    assert [problem.kind for problem in found] == (["no_cache"] if missing else [])
    assert missing in "".join(problem.why for problem in found)


def test_what_openstack_made_stays() -> None:
    foreign = running("o", origin="OPENSTACK")
    assert [
        found.kind for found in unchangeable([Delete(foreign), Replace(foreign, workload("o"))])
    ] == [
        "foreign_origin",
        "foreign_origin",
    ]
    assert unchangeable([Keep(foreign, workload("o")), Delete(running())]) == []


def test_a_range_cannot_be_deleted_cleanly() -> None:
    warning = leftover_warning(running("old", "4-5"), Dialect.V03)
    assert "cores 4-5 stay in COS2" in warning
    assert leftover_warning(running("old", "4-5"), Dialect.V02) == ""
    assert leftover_warning(running("old", "4 5"), Dialect.V03) == ""


def test_where_no_rmd_is_the_kernels_rules_hold_alone() -> None:
    machine = Machine(topology(), None, Dialect.RESCTRL)

    def kinds(wanted: Workload) -> list[str]:
        return [found.kind for found in problems(wanted, machine)]

    assert kinds(Workload("w", (1,), policy="gold")) == ["rmd_alone"]
    assert kinds(workload(pstate=Pstate(ratio=3.0))) == ["rmd_alone"]
    assert kinds(workload(most=3, least=1, mba=Mba(percentage=50))) == []
    assert kinds(ALONE) == []
    assert kinds(workload("w", 99)) == ["unknown_core"]


def test_who_divides_the_node_is_not_known_before_it_is_looked_at() -> None:
    assert senseless(ALONE) == []
    assert [found.kind for found in senseless(workload(mba=Mba(101)))] == ["mba_range"]
    for dialect in (None, Dialect.V02, Dialect.V03):
        kinds = {found.kind for found in problems(ALONE, Machine(dialect=dialect))}
        assert kinds == {"mba_unsupported"}


def test_what_the_other_back_end_would_take_is_told_so() -> None:
    """After a change of the back end, objects of pods are still there."""
    (found,) = problems(ALONE, Machine(dialect=Dialect.V03))
    assert "choose the back end resctrl" in found.todo
    assert problems(ALONE, Machine(dialect=Dialect.RESCTRL)) == []
    wanted = workload(policy="gold")
    (found,) = problems(wanted, Machine(dialect=Dialect.RESCTRL))
    assert "choose the back end rmd" in found.todo
