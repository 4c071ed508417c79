# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the API server refuses in its turn is never lost, also of a state that proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    UnknownKind,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    check_recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.switches import (
    enabled_states,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.later_changes import (
    LaterChanges,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.staging import (
    ProvenOn,
    Stage,
    Staged,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.state_plans import (
    make_plans,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    FILES,
    NODES,
    Bench,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import NOW

# A fixture.
__all__ = ["fake"]

RECIPE = FILES["recipe.yml"] + "    requires: [hook]\n    per: runtime\n"
NODE = "crio"


def plans_of(bench: Bench) -> list[StatePlan]:
    """The plans, with one for the state report, which proves nothing."""
    rendered = check_recipe(bench.recipe, bench.facts)
    return make_plans(
        bench.recipe,
        enabled_states(bench.recipe, bench.facts),
        rendered,
        {},
        unproven=frozenset({"report"}),
    )


def nothing() -> None:
    """A lock that nobody else wants."""


def changes(
    staged: Staged,
    plan_again: Callable[[Stage], Sequence[Change]],
    client: Client | None = None,
    take_lock: Callable[[], None] = nothing,
    guard: Callable[[], None] = nothing,
    clock: Callable[[], float] = lambda: NOW,
) -> LaterChanges:
    """The stages of a run that has nobody beside it."""
    return LaterChanges(
        cast(Client, client),
        staged,
        plan_again=plan_again,
        take_lock=take_lock,
        guard=guard,
        clock=clock,
    )


def refuse(_stage: Stage) -> Sequence[Change]:
    """The API server's answer, after a part was made."""
    error = EnablementError("Report x was refused", why="a webhook says so")
    error.result["changed"] = True
    raise error


def test_a_refusal_is_the_result_of_a_state_that_proves_nothing() -> None:
    bench = Bench({**FILES, "recipe.yml": RECIPE})
    plans = plans_of(bench)
    walker = Walker(plans, WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    node = next(node for node in NODES if node.name == NODE)
    finest = bench.of(NODE).id
    walker.snapshot.nodes[NODE], walker.snapshot.groups[NODE] = node, finest
    # Its group is the one by runtime, of which the node's finest group is a part.
    group = next(plan.own[finest] for plan in plans if plan.name == "report")
    assert group != finest

    walker.results[(NODE, "hook")] = Result("hook", Phase.READY)
    staged = Staged((), (Stage("report", group, ("hook",), ()),))
    later = changes(staged, refuse)
    later.announce(walker)
    assert later.act(walker)

    assert [state for state, _error in later.refused] == ["report"]
    assert (later.left, later.partly) == ([], True)
    verdict = walker.unapplied[("report", group)]
    assert (verdict.reason, verdict.heals) == ("ApplyRefused", False)


def test_a_change_is_planned_again_under_the_lock() -> None:
    order: list[str] = []

    def plan(_stage: Stage) -> Sequence[Change]:
        order.append("plan")
        return ()

    staged = Staged((), (Stage("server", "", (), ()),))
    later = changes(
        staged,
        plan,
        take_lock=lambda: order.append("lock"),
        guard=lambda: order.append("look"),
    )
    assert order == []
    later.act(Walker([], WalkSettings("toy", "toy"), ClusterSnapshot(), NOW))
    # Nothing is to be written, so that nobody asks whether the lock is still held.
    assert order == ["lock", "plan"]


def test_what_has_no_answer_now_is_tried_again_and_not_refused() -> None:
    now = NOW
    answers: list[object] = [
        Unreachable("No answer", where="x"),
        UnknownKind("no such kind", where="x"),
        (),
    ]

    def plan(_stage: Stage) -> Sequence[Change]:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return ()

    walker = Walker([], WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    staged = Staged((), (Stage("server", "", (), ()),))
    later = changes(staged, plan, clock=lambda: now)
    reasons = []
    for after in (0.0, 0.5, 2.0, 4.0):
        now = NOW + after
        later.act(walker)
        reasons.append(walker.unapplied["server", ""].reason if walker.unapplied else "")
    assert reasons == ["Applying", "Applying", "KindNotServed", ""]
    assert (later.left, later.refused, answers) == ([], [], [])


def test_a_state_with_something_else_to_come_goes_on_waiting() -> None:
    walker = Walker([], WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    staged = Staged(
        (), (Stage("plugin", "", (), ()), Stage("plugin", "", ("host",), (), on=ProvenOn.ALL))
    )
    later = changes(staged, lambda _stage: ())
    later.announce(walker)
    reasons = [walker.unapplied["plugin", ""].reason]
    for proven in (False, True):
        if proven:
            walker.results["", "host"] = Result("host", Phase.READY)
        later.act(walker)
        reasons += [verdict.reason for verdict in walker.unapplied.values()]
    assert reasons == ["Applying", "HeldBack"]
    assert later.left == []


def test_nothing_waits_for_a_group_of_which_no_node_is_left() -> None:
    walker = Walker([], WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    walker.snapshot.groups["n1"] = "left-over"
    stages = [Stage("server", group, ("hook",), ()) for group in ("left-over", "deserted", "")]
    later = changes(Staged((), tuple(stages)), refuse)
    later.drop_departed(walker)
    assert [stage.group for stage in later.left] == ["left-over", ""]


def test_what_was_made_is_known_before_the_watch_tells_of_it(fake: FakeServer) -> None:
    bench = Bench({**FILES, "recipe.yml": RECIPE})
    plans = plans_of(bench)
    name, daemonset = next(iter(bench.made("driver").items()))
    daemonset["metadata"]["namespace"] = "toy"
    ScriptedCluster(fake).put("namespaces", {"metadata": {"name": "toy"}})
    change = Change(key_of(daemonset), "create", None, None, desired=daemonset)
    walker = Walker(plans, WalkSettings("toy", "toy"), ClusterSnapshot(), NOW)
    later = changes(
        Staged((), (Stage("driver", "", (), ()),)), lambda _stage: (change,), fake.client()
    )
    later.act(walker)
    assert [key.name for key in walker.snapshot.workloads] == [name]
