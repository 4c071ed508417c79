# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The walk against a scripted API server: nodes leave and come while it waits, and one of them is
refused something."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    LockHeld,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.strays import (
    Strays,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.answers import (
    Answers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.label_writer import (
    LabelWriter,
    MarkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.loop import (
    Loop,
    ProofScope,
    WriteAccess,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.node_marks import (
    NodeMarks,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.progress import (
    Progress,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

CARD, GPU = "example.com/card", "example.com/gpu"
SELECTOR = [{CARD: None}]
READY, WAITING = {GPU: "1"}, {GPU: "0"}
GRACE_S = 20.0


def gpu_node(name: str, offered: dict[str, str], **given: Any) -> Obj:
    """A node with the hardware, which offers devices or does not yet."""
    node = world.node_object(name, allocatable=offered, capacity=READY, **given)
    node["metadata"]["labels"][CARD] = ""
    return node


def plan_of(*proofs: Proof, name: str = "plugin", **given: Any) -> StatePlan:
    """A state that nothing is deployed for, which is proven on the nodes of these tests."""
    group = Grouping().id_of(world.node())
    plan = world.plan(name, proofs=proofs, deployed=False, **given)
    return world.with_groups(plan, hashes={group: f"hash-{name}"})


OFFERS = Proof("allocatable", {"resource": GPU})
CHECK = Proof(
    "workload", {"pod": "p.yaml.j2", "sampling": "per_group", "parallel": 1, "timeout": 60}
)


class Bed:
    """A loop over a scripted cluster; its clock goes on by a second with each look at it."""

    def __init__(
        self, fake: FakeServer, *nodes: Obj, plans: Sequence[StatePlan] = (), withdraw: bool = False
    ) -> None:
        self.cluster = ScriptedCluster(fake, *nodes)
        self.client = fake.client()
        self.held: list[str] = []
        self.lines: list[str] = []
        self.plans = list(plans) or [plan_of(OFFERS)]
        ticks = itertools.count(world.NOW)
        context = RunContext(progress=self.lines.append, clock=lambda: next(ticks))
        self.loop = Loop(
            self.client,
            ProofScope(
                plans=self.plans,
                members=Strays(SELECTOR),
                settings=WalkSettings("demo", "demo", GRACE_S),
                grouping=Grouping(),
                complete=True,
            ),
            WriteAccess(
                allowed=True,
                guard=lambda: None,
                before_write=lambda: self.held.append("pod"),
                withdraw=lambda _node: withdraw,
            ),
            answers=Answers(
                self.client,
                lambda start: world.validator(start.name, start.state, start.node, "Pending"),
            ),
            writer=LabelWriter(
                self.client,
                self.plans,
                MarkSettings("demo"),
                lambda: self.held.append("label"),
                dry=False,
            ),
            progress=Progress(context, "demo"),
            clock=context.clock,
        )
        self.loop.mirror.take_nodes([NodeFacts.from_object(node) for node in nodes])

    def run(self, wait: bool = True) -> dict[str, Phase]:
        """The phase of each node's first state."""
        self.loop.run(wait=wait)
        return {
            node: result.phase
            for (node, state), result in self.loop.results.items()
            if state == self.plans[0].name
        }

    def once_proven(self, name: str, happens: Callable[[], None]) -> None:
        """Call this at the first patch of a node."""
        waiting = [happens]

        def observation(asked: Asked) -> None:
            if (
                waiting
                and asked.method == "PATCH"
                and asked.path.split("?")[0].endswith(f"/{name}")
            ):
                waiting.pop()()

        self.cluster.refuse = observation

    def refuse(self, name: str, *answers: Answer) -> None:
        """Give these answers to the patches of a node, then none any more; the last one for ever
        where it is alone."""
        left = list(answers)

        def answer(asked: Asked) -> Answer | None:
            if asked.method != "PATCH" or not asked.path.split("?")[0].endswith(f"/{name}"):
                return None
            return left[0] if len(answers) == 1 else left.pop(0) if left else None

        self.cluster.refuse = answer


def test_a_node_that_is_deleted_while_the_run_waits_for_it_is_forgotten_and_named(
    fake: FakeServer,
) -> None:
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", WAITING))
    bed.cluster.on_watch = lambda: bed.cluster.remove("nodes", "n2")
    assert bed.run() == {"n1": Phase.READY}
    assert bed.loop.left == ["n2"]
    assert bed.cluster.labels("n1")["demo"] == "ready"


def test_a_node_that_leaves_with_something_to_be_written_is_not_written_to(
    fake: FakeServer,
) -> None:
    # Its second state keeps it from being final, so that what is known of the first waits to be
    # written.
    plans = [
        plan_of(OFFERS, gated=False, unlocks=False),
        plan_of(CHECK, name="check", gated=False, unlocks=False),
    ]
    bed = Bed(fake, gpu_node("n1", READY), plans=plans)
    bed.cluster.start_pod = lambda _pod: bed.cluster.remove("nodes", "n1")
    assert bed.run() == {}
    assert (bed.loop.left, bed.cluster.patched) == (["n1"], [])


def test_a_node_that_left_before_the_watch_began_is_forgotten_and_named(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", WAITING))
    bed.loop.check_quickly([])
    bed.cluster.remove("nodes", "n2")
    assert bed.run() == {"n1": Phase.READY}
    assert bed.loop.left == ["n2"]
    assert {name for name, _patch in bed.cluster.patched} == {"n1"}


def test_a_node_that_answers_404_to_its_patch_has_left(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", READY))
    bed.refuse("n2", refusal(404, "NotFound", 'nodes "n2" not found'))
    assert bed.run() == {"n1": Phase.READY}
    assert bed.loop.left == ["n2"]


def test_another_node_of_the_same_name_is_taken_in_and_has_nothing_of_the_first_one(
    fake: FakeServer,
) -> None:
    # The run waits for the second node until the first is proven: its leaving and its coming may be
    # seen one by one.
    bed = Bed(
        fake,
        gpu_node("n1", WAITING, labels={"hardware-enablement.io/demo.plugin": "stale"}),
        gpu_node("n2", WAITING),
    )
    new = gpu_node("n1", READY, boot="boot-2")
    new["metadata"]["uid"] = "uid-of-another"

    def replace_it() -> None:
        bed.cluster.remove("nodes", "n1")
        bed.cluster.put("nodes", new)

    bed.cluster.on_watch = replace_it
    bed.once_proven("n1", lambda: bed.cluster.put("nodes", gpu_node("n2", READY)))
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.READY}
    assert bed.loop.left == []
    assert bed.cluster.labels("n1") == {"demo": "ready", "demo.plugin": "ready"}


def test_a_node_that_comes_is_proven_too(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", WAITING))
    bed.cluster.on_watch = lambda: bed.cluster.put("nodes", gpu_node("n2", READY))
    bed.once_proven("n2", lambda: bed.cluster.put("nodes", gpu_node("n1", READY)))
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.READY}
    assert bed.cluster.labels("n2")["demo"] == "ready"


def test_where_the_sample_of_a_group_leaves_another_node_is_sampled(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", READY), plans=[plan_of(CHECK)])
    started: list[str] = []

    def play(pod: Obj) -> None:
        started.append(pod["spec"]["nodeName"])
        if "n1" in bed.cluster.objects["nodes"]:
            bed.cluster.put("pods", pod)
            bed.cluster.remove("nodes", "n1")
        elif started[-1] == "n2":
            bed.cluster.put("pods", {**pod, "status": {"phase": "Succeeded"}})

    bed.cluster.start_pod = play
    assert bed.run() == {"n2": Phase.READY}
    assert (started[0], started[-1]) == ("n1", "n2")


def test_a_node_of_which_nothing_can_be_told_is_not_sampled(fake: FakeServer) -> None:
    bed = Bed(
        fake, gpu_node("n1", READY, ready=False), gpu_node("n2", READY), plans=[plan_of(CHECK)]
    )
    bed.cluster.start_pod = lambda pod: bed.cluster.put(
        "pods", {**pod, "status": {"phase": "Succeeded"}}
    )
    assert bed.run() == {"n1": Phase.UNKNOWN, "n2": Phase.READY}


@pytest.mark.parametrize(
    "said",
    [(403, "Forbidden"), (409, "Conflict"), (422, "Invalid"), (500, "InternalError")],
    ids=lambda said: said[1],
)
def test_a_refused_label_is_the_result_of_its_node_alone(
    fake: FakeServer, said: tuple[int, str]
) -> None:
    proven = {"hardware-enablement.io/demo.plugin": "ready"}
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", READY, labels=proven))
    bed.refuse("n2", refusal(*said))
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.UNKNOWN}
    result = bed.loop.results[("n2", "plugin")]
    assert (result.reason, result.proven) == ("LabelsRefused", False)
    assert "no, says a webhook" in result.message
    assert bed.cluster.labels("n1")["demo"] == "ready"
    assert bed.loop.writer.changed.keys() == {"n1"}
    # What could not be written says nothing against the node.
    assert not any(b"stale" in asked.body for asked in fake.asked)


def test_a_label_that_is_refused_for_a_while_is_sent_again(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY))
    bed.refuse("n1", refusal(403, "Forbidden"), refusal(403, "Forbidden"))
    assert bed.run() == {"n1": Phase.READY}
    assert bed.cluster.labels("n1") == {"demo": "ready", "demo.plugin": "ready"}


def test_without_waiting_a_refused_label_is_final_at_once(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY))
    bed.refuse("n1", refusal(403, "Forbidden"))
    assert bed.run(wait=False) == {"n1": Phase.UNKNOWN}


def test_a_quick_look_whose_labels_are_refused_is_not_the_last_one(fake: FakeServer) -> None:
    bed = Bed(fake, gpu_node("n1", READY))
    bed.refuse("n1", refusal(403, "Forbidden"))
    assert not bed.loop.check_quickly([])
    assert bed.run() == {"n1": Phase.UNKNOWN}


def test_a_validation_pod_that_is_refused_makes_its_node_unknown(fake: FakeServer) -> None:
    bed = Bed(
        fake,
        gpu_node("n1", READY),
        gpu_node("n2", READY),
        plans=[plan_of(OFFERS), plan_of(CHECK, name="check")],
    )
    bed.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "exceeded quota") if asked.method == "POST" else None
    )
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.READY}
    sampled, other = (bed.loop.results[(node, "check")] for node in ("n1", "n2"))
    assert (sampled.phase, sampled.reason) == (Phase.UNKNOWN, "ValidatorRefused")
    assert "exceeded quota" in sampled.message
    assert (other.phase, other.reason) == (Phase.UNKNOWN, "SampleNotProven")


class LateEvents:
    """A hook of the loop: pods succeed, and are told of, half a minute after they were made."""

    def __init__(self, bed: Bed) -> None:
        self._bed = bed
        self._late: list[tuple[float, Obj]] = []
        self.at_once = 0
        bed.cluster.start_pod = lambda pod: self._late.append((bed.loop.clock(), pod))
        bed.loop.hook = self

    def announce(self, walker: Walker) -> None:
        """Nothing."""

    def act(self, _walker: Walker) -> set[str]:
        """Tell of those whose time has come."""
        self.at_once = max(self.at_once, len(self._late))
        told = self._bed.loop.clock() - 30
        for _at, pod in [each for each in self._late if each[0] < told]:
            self._bed.cluster.put("pods", {**pod, "status": {"phase": "Succeeded"}})
        self._late = [each for each in self._late if each[0] >= told]
        return set()

    def marks_of(self, _node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """What it has."""
        return before

    def is_over(self) -> bool | None:
        """That is for the results to say."""
        return None


def test_a_validation_pod_that_is_told_of_late_is_made_once_and_keeps_its_place(
    fake: FakeServer,
) -> None:
    settings = {"pod": "p.yaml.j2", "sampling": "all", "parallel": 1, "timeout": 60}
    plans = [plan_of(Proof("workload", settings))]
    bed = Bed(fake, gpu_node("n1", READY), gpu_node("n2", READY), plans=plans)
    late = LateEvents(bed)
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.READY}
    posted = [write for write in bed.cluster.writes if write.startswith("POST pods/")]
    assert len(posted) == len(set(posted)) == 2
    assert late.at_once == 1


def test_no_label_is_written_and_no_pod_is_started_without_the_lock(fake: FakeServer) -> None:
    def lost() -> None:
        raise LockHeld("This run has lost its lock", holder="x", since="", until="")

    for plan in (plan_of(OFFERS), plan_of(CHECK)):
        bed = Bed(fake, gpu_node("n1", READY), plans=[plan])
        bed.loop.access = replace(bed.loop.access, before_write=lost)
        bed.loop.writer = LabelWriter(bed.client, bed.plans, MarkSettings("demo"), lost, dry=False)
        with pytest.raises(LockHeld):
            bed.run()
        assert bed.cluster.writes == []


@pytest.mark.parametrize(("withdraw", "gate"), [(False, "degraded"), (True, None)])
def test_a_gate_says_what_became_of_its_state(
    fake: FakeServer, withdraw: bool, gate: str | None
) -> None:
    node = gpu_node("n1", WAITING, labels={"hardware-enablement.io/demo.plugin": "ready"})
    bed = Bed(fake, node, withdraw=withdraw)
    assert bed.run() == {"n1": Phase.DEGRADED}
    assert bed.cluster.labels("n1").get("demo.plugin") == gate


def test_the_sample_of_one_kernel_proves_no_other_one(fake: FakeServer) -> None:
    other = gpu_node("n2", READY, kernel="6.1.0-2")
    plan = plan_of(CHECK)
    group = Grouping().id_of(world.NodeFacts.from_object(other))
    plan = world.with_groups(plan, hashes={**plan.groups.hashes, group: "hash-2"})
    bed = Bed(fake, gpu_node("n1", READY), other, plans=[plan])

    def play(pod: Obj) -> None:
        succeeds = pod["spec"]["nodeName"] == "n1"
        bed.cluster.put(
            "pods", {**pod, "status": {"phase": "Succeeded" if succeeds else "Running"}}
        )

    bed.cluster.start_pod = play
    bed.loop.walker.settings = WalkSettings("demo", "demo", GRACE_S, timeout=20.0)
    assert bed.run() == {"n1": Phase.READY, "n2": Phase.FAILED}


def test_a_log_that_is_refused_at_first_is_asked_for_again_before_the_run_ends(
    fake: FakeServer,
) -> None:
    """The crash was long ago, so that the first look is final but for the log, which a node that has
    just booted refuses."""
    group = Grouping().id_of(world.node())
    plan = world.with_groups(world.plan("driver"), hashes={"": "hash", group: "hash"})
    bed = Bed(fake, gpu_node("n1", READY), plans=[plan])
    crashed = world.pod(
        "driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=2, exit_code=1
    )
    crashed["status"]["conditions"][0]["lastTransitionTime"] = timestamp(world.NOW - 600)
    daemonset = world.daemonset("driver")
    daemonset["spec"] |= {"selector": {}, "template": {"spec": {"containers": []}}}
    for plural, obj in (("daemonsets", daemonset), ("pods", crashed)):
        obj["metadata"].setdefault("labels", {})[RECIPE_LABEL] = "demo"
        bed.cluster.put(plural, obj)
    answers = [refusal(500, "InternalError", "dial tcp"), (200, {}, "Secure Boot is on\n")]

    def answer(asked: Asked) -> Answer | None:
        asks = asked.path.split("?")[0].endswith("/log")
        return (answers.pop(0) if len(answers) > 1 else answers[0]) if asks else None

    bed.cluster.refuse = answer
    ticks = itertools.count(10 * world.NOW)
    bed.loop.clock = lambda: next(ticks) / 10
    assert bed.run() == {"n1": Phase.FAILED}
    assert "Secure Boot is on" in bed.loop.results["n1", "driver"].message
