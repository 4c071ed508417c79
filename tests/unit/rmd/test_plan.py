# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens on a node, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.actions import (
    RELEASING_UUID,
    Delete,
    Keep,
    Post,
    Release,
    Replace,
    Step,
    changes,
    plan,
    steps,
    uuid_of,
)
from ansible_collections.hardware.enablement.tests.unit.rmd.bodies import running, workload


def test_nothing_to_do() -> None:
    live = running("w", "1-2")
    actions = plan([workload()], ["gone"], [live])
    assert actions == (Keep(live, workload()),)
    assert changes(actions) == []
    assert steps(actions) == ()


def test_each_kind() -> None:
    old, extra, other = (
        running("changed", "1", id="1"),
        running("extra", "2", id="2"),
        running("other", "3", id="3"),
    )
    actions = plan([workload("new", 5), workload("changed", 4)], ["extra"], [old, extra, other])
    assert actions == (
        Delete(extra),
        Post(workload("new", 5)),
        Replace(old, workload("changed", 4)),
    )


@pytest.mark.parametrize(
    "differs",
    [
        {"status": "Failed"},
        {"cos_name": ""},
        {"task_ids": ["1"]},
        {"plugins": {"other": {}}},
        {"cache": (3, 3)},
    ],
)
def test_what_is_not_in_force_is_replaced(differs: dict[str, Any]) -> None:
    (action,) = plan([workload()], [], [running(**differs)])
    assert isinstance(action, Replace)


def test_what_the_kernel_does_not_do_is_replaced_and_nothing_else() -> None:
    there = [running(), running("x", "3", id="2")]
    actions = plan([workload(), workload("x", 3)], [], there, broken={"2"})
    assert [type(action) for action in actions] == [Keep, Replace]


def test_cores_that_were_left_behind_are_freed_unless_somebody_gets_them() -> None:
    actions = plan([workload("w", 1)], [], [], strays=(1, 4, 5))
    assert actions == (Release((4, 5)), Post(workload("w", 1)))
    assert [step.action for step in steps(actions)] == list(actions)
    assert plan([workload("w", 1)], [], [], strays=(1,)) == (Post(workload("w", 1)),)


def test_what_a_killed_run_made_to_free_cores_goes() -> None:
    left = running(RELEASING_UUID, "4")
    assert plan([], [], [left]) == (Delete(left),)


def test_doubles_are_all_removed_and_one_is_made() -> None:
    first, second = running(id="1"), running(id="2")
    assert plan([workload()], [], [first, second]) == (Delete(second), Replace(first, workload()))
    assert plan([], ["w"], [first, second]) == (Delete(first), Delete(second))


def test_a_name_of_before_is_adopted() -> None:
    legacy = running("web")
    adopted = {"shop.web": ["web"]}
    assert plan([workload("shop.web")], [], [legacy], adopted=adopted) == (
        Keep(legacy, workload("shop.web")),
    )
    changed = workload("shop.web", 7)
    assert plan([changed], [], [legacy], adopted=adopted) == (Replace(legacy, changed),)
    both = [running("shop.web", id="2"), legacy]
    assert Delete(legacy) in plan([workload("shop.web")], [], both, adopted=adopted)


def test_workloads_without_a_uuid_are_nobodys() -> None:
    assert plan([], [""], [running("")]) == ()


def test_deletions_go_first_and_what_is_new_goes_last() -> None:
    old, extra = running("changed", "1"), running("extra", "2")
    actions = plan([workload("new", 5), workload("changed", 4)], ["extra"], [old, extra])
    assert steps(actions) == (
        Step(Delete(extra), is_post=False),
        Step(Replace(old, workload("changed", 4)), is_post=False),
        Step(Replace(old, workload("changed", 4)), is_post=True),
        Step(Post(workload("new", 5)), is_post=True),
    )


def test_what_shrinks_makes_room_for_what_grows() -> None:
    grows, shrinks = running("grows", "1", cache=(2, 2)), running("shrinks", "2", cache=(4, 4))
    wanted = [workload("grows", 1, most=4, least=4), workload("shrinks", 2, most=2, least=2)]
    found = steps(plan(wanted, [], [grows, shrinks]))
    assert [uuid_of(step.action) for step in found] == ["shrinks", "shrinks", "grows", "grows"]


def test_cores_that_change_places_are_all_freed_first() -> None:
    one, two, three = running("one", "1"), running("two", "2"), running("three", "3")
    wanted = [workload("one", 2), workload("two", 1), workload("three", 4)]
    found = steps(plan(wanted, [], [one, two, three]))
    assert [f"{'' if step.is_post else '-'}{uuid_of(step.action)}" for step in found] == [
        "-three",
        "three",
        "-one",
        "-two",
        "one",
        "two",
    ]
