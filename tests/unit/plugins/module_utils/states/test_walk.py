# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node through the states: what is ready, what waits, when patience ends, and what is never
believed."""

from __future__ import annotations

import copy
from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    DRIVER_ANNOTATION,
    summary_label,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.node_affinity import (
    NodeAffinity,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.advice import advice
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.feeds import Watched
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.queries import (
    Query,
    QueryResult,
    ReadEvents,
    ReadLogs,
    ReadRevision,
    RemovePod,
    StartPod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.staging import ProvenOn
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Memory,
    Phase,
    ProofRecord,
    Result,
    StatePlan,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.record_memory import (
    RecordMemory,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk_step import (
    Walk,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import (
    Outcome,
    Verdict,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
    NOW,
)

NONE: frozenset[str] = frozenset()
RESOURCE = {
    "api_version": "v1",
    "kind": "ConfigMap",
    "name": "x",
    "namespace": None,
    "condition": None,
    "field": None,
}
WORKLOAD = Proof(
    "workload",
    {"pod": "p.yaml.j2", "resource": None, "sampling": "all", "parallel": 5, "timeout": 60},
)

SAMPLED = replace(WORKLOAD, spec={**WORKLOAD.spec, "sampling": "per_group"})

CRASHING = world.pod(
    "driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=1, exit_code=3
)


class Rig:
    """A walker over one node, and the clock."""

    def __init__(
        self, *plans: StatePlan, settings: WalkSettings | None = None, **node: object
    ) -> None:
        self.snapshot = ClusterSnapshot(pods_known=True)
        self.node = world.node(**node)  # type: ignore[arg-type]
        settings = settings or WalkSettings("demo", "demo")
        self.walker = Walker(plans, settings, self.snapshot, NOW)
        self.walker.slots = {plan.name: 5 for plan in plans}
        for plan in plans:
            self.snapshot.put_workload(world.daemonset(plan.name))
        self.snapshot.nodes[self.node.name] = self.node
        self.snapshot.groups[self.node.name] = GROUP
        self.records: dict[str, ProofRecord] = {}
        self.gates = NONE
        self.walk = Walk()

    def observation(self, after: float = 0.0) -> dict[str, Result]:
        """The results by state, so many seconds after the start."""
        self.walk = self.walker.walk(self.node, GROUP, self.records, self.gates, NOW + after)
        return {state: result for (_node, state), result in self.walker.results.items()}

    def wants(self, after: float = 0.0) -> list[object]:
        """What is asked for, so many seconds after the start."""
        self.observation(after)
        return list(self.walk.wants)

    def answer(self, query: Query, value: object, error: str = "", at: float = 0.0) -> None:
        """Put in an answer."""
        answers = self.snapshot.answers
        answers[query] = QueryResult(value, NOW + at, error).after(answers.get(query))


def test_a_run_waits_until_the_nodes_own_agent_has_left() -> None:
    mark = {"hardware-enablement.io/demo.agent-configuration": "h"}
    rig = Rig(world.plan("driver"), labels=mark)
    rig.snapshot.put_pod(world.pod("driver"))

    result = rig.observation()["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "NodeAgentLeaves")
    rig.walker.settings = replace(rig.walker.settings, by_nodes=True)
    assert rig.observation()["driver"].phase is Phase.READY


def test_a_proof_about_nodes_is_not_asked_for_the_cluster() -> None:
    gpu = Proof("allocatable", {"resource": "acme.example/gpu"})
    plan = replace(world.plan("settings", proofs=(gpu,), deployed=False), per_node=False)
    rig = Rig(plan)
    rig.walker.walk_cluster(plan, NOW)
    assert rig.walker.results[("", "settings")].phase is Phase.READY


def taint(key: str, **more: str) -> dict[str, str]:
    """As in a node's spec."""
    return {"key": key, "effect": "NoSchedule", **more}


CILIUM, REMOVAL = taint("node.cilium.io/agent-not-ready"), taint("ToBeDeletedByClusterAutoscaler")


def tainted(rig: Rig, *taints: dict[str, str]) -> None:
    """The node has these taints from now on."""
    rig.node = rig.snapshot.nodes["n1"] = world.node(taints=taints)


def test_a_node_that_starts_is_no_failure_and_has_all_its_time_afterwards() -> None:
    plan = world.plan("driver")
    rig = Rig(plan, world.plan("plugin", requires=("driver",)), taints=(CILIUM,))
    for after in (0, 45, plan.timeout - 1):
        results = rig.observation(after)
        assert [
            (each.phase, each.reason, each.final, each.proven) for each in results.values()
        ] == [
            (Phase.STARTING, "NodeStarts", False, False),
            (Phase.STARTING, "Requires.driver", False, False),
        ]
    assert results["driver"].message.startswith(
        "the node starts: it has the taint node.cilium.io/agent-not-ready, which the agent on the node"
    )
    assert (results["driver"].since, rig.walk.again_at) == (NOW, NOW + plan.timeout)

    tainted(rig)
    assert rig.observation(plan.timeout)["driver"].reason == "NoPod"
    assert not rig.observation(plan.timeout + 29)["driver"].final
    rig.snapshot.put_pod(world.pod("driver"))
    assert rig.observation(plan.timeout + 30)["driver"].phase is Phase.READY


def test_a_node_that_does_not_get_there_says_so_when_the_states_time_is_over() -> None:
    plan = world.plan("driver")
    rig = Rig(plan, taints=(CILIUM,))
    rig.observation()
    result = rig.observation(plan.timeout)["driver"]
    assert (result.phase, result.reason, result.final) == (Phase.STARTING, "StillStarting", True)
    assert result.message.endswith(f"; that has lasted for more than {plan.timeout:.0f} s")


def test_what_holds_on_a_node_on_its_way_is_ready() -> None:
    rig = Rig(world.plan("driver"), taints=(REMOVAL,))
    rig.snapshot.put_pod(world.pod("driver"))
    assert rig.observation()["driver"].phase is Phase.READY


def test_a_crash_on_a_node_on_its_way_counts_only_once_it_is_there() -> None:
    rig = Rig(world.plan("driver"), taints=(CILIUM,))
    rig.snapshot.put_pod(CRASHING)
    assert rig.observation()["driver"].phase is Phase.STARTING
    assert rig.observation(60)["driver"].phase is Phase.STARTING
    tainted(rig)
    assert not rig.observation(61)["driver"].final
    assert rig.observation(92)["driver"].phase is Phase.FAILED


@pytest.mark.parametrize("ready", [True, False])
def test_a_node_that_leaves_is_no_failure_and_proves_nothing(ready: bool) -> None:
    plan = world.plan("driver", proofs=(Proof("rollout"), WORKLOAD))
    rig = Rig(plan, taints=(REMOVAL,), ready=ready)
    rig.snapshot.put_pod(world.pod("driver"))
    result = rig.observation()["driver"]
    assert (result.phase, result.reason, result.final) == (Phase.LEAVING, "NodeLeaves", False)
    # No validation pod, which would keep it from going.
    assert rig.walk.wants == []
    late = rig.observation(plan.timeout)["driver"]
    assert (late.phase, late.reason, late.final) == (Phase.LEAVING, "StillLeaving", True)
    # The autoscaler has taken its word back.
    tainted(rig)
    rig.observation(plan.timeout + 1)
    assert [type(query) for query in rig.walk.wants] == [StartPod]


def test_a_mark_that_says_since_when_is_believed() -> None:
    plan = world.plan("driver")
    long_ago = f"{NOW - plan.timeout:.0f}"
    rig = Rig(plan, taints=(taint("ToBeDeletedByClusterAutoscaler", value=long_ago),))
    result = rig.observation()["driver"]
    assert (result.reason, result.since) == ("StillLeaving", NOW - plan.timeout)
    # Not where it is yet to come.
    later = f"{NOW + 10**6:.0f}"
    rig = Rig(plan, taints=(taint("ToBeDeletedByClusterAutoscaler", value=later),))
    assert rig.observation()["driver"].since == NOW


def test_what_is_wrong_with_the_cluster_is_no_nodes_fault_on_its_way_either() -> None:
    rig = Rig(world.plan("driver"), taints=(CILIUM,))
    rig.walker.unapplied["driver", GROUP] = Verdict(
        Outcome.TROUBLE, "ApplyRefused", "no", heals=False
    )
    assert rig.observation()["driver"].phase is Phase.FAILED


def test_nobody_waits_for_the_proofs_of_a_node_that_leaves() -> None:
    rig = Rig(world.plan("check", proofs=(SAMPLED,), deployed=False), taints=(REMOVAL,))
    rig.snapshot.nodes["n2"] = other = world.node("n2")
    rig.snapshot.groups["n2"] = GROUP
    rig.observation()
    walk = rig.walker.walk(other, GROUP, {}, NONE, NOW)
    assert [type(query) for query in walk.wants] == [StartPod]
    assert not rig.walker.is_proven(["check"], "", on=ProvenOn.ALL)
    rig.walker.results["n2", "check"] = Result("check", Phase.READY)
    assert rig.walker.is_proven(["check"], "", on=ProvenOn.ALL)


def test_a_node_that_starts_is_sampled_last() -> None:
    rig = Rig(world.plan("check", proofs=(SAMPLED,), deployed=False), taints=(CILIUM,))
    rig.snapshot.nodes["n2"] = other = world.node("n2")
    rig.snapshot.groups["n2"] = GROUP
    rig.observation()
    walk = rig.walker.walk(other, GROUP, {}, NONE, NOW)
    assert [type(query) for query in walk.wants] == [StartPod]


@pytest.mark.parametrize(
    ("key", "reason", "said"),
    [
        ("example.com/team", "NotTolerated", "taint example.com/team=:NoSchedule"),
        (
            "feature.node.kubernetes.io/x",
            "TaintedByController",
            "taint feature.node.kubernetes.io/x=:NoSchedule, of Node Feature Discovery, by a NodeFeatureRule",
        ),
    ],
)
def test_only_a_taint_that_a_person_decides_about_is_to_be_taken_off(
    key: str, reason: str, said: str
) -> None:
    rig = Rig(world.plan("driver"), taints=(taint(key),))
    rig.observation()
    result = rig.observation(40)["driver"]
    assert (result.phase, result.reason) == (Phase.FAILED, reason)
    assert result.message == f"DaemonSet demo/driver does not tolerate the node's {said}"
    assert ("take the taint off" in advice(result.reason)) is (reason == "NotTolerated")


def test_a_ready_pod_makes_ready_and_opens_the_way() -> None:
    rig = Rig(world.plan("driver"), world.plan("plugin", requires=("driver",)))
    rig.snapshot.put_pod(world.pod("driver"))
    results = rig.observation()
    assert results["driver"].phase is Phase.READY
    assert results["plugin"].phase is Phase.WAITING
    assert results["plugin"].reason != "Requires.driver"


def test_no_pod_is_never_ready() -> None:
    rig = Rig(world.plan("driver"))
    result = rig.observation()["driver"]
    assert (result.phase, result.reason, result.final) == (Phase.WAITING, "NoPod", False)


def wanting(plan: StatePlan, *states: str, **labels: str) -> StatePlan:
    """The plan with DaemonSets, its own one or those of these names, that want these labels."""
    keys = [world.daemonset_key(state) for state in states or (plan.name,)]
    affinity = NodeAffinity.of({"nodeSelector": labels})
    return world.with_groups(plan, affinities=dict.fromkeys(keys, affinity))


def test_a_node_that_a_daemonsets_author_does_not_want_is_ready_and_says_why() -> None:
    rig = Rig(wanting(world.plan("driver"), card="new"), labels={"card": "old"})
    result = rig.observation()["driver"]
    assert (result.phase, result.reason, result.unwanted) == (Phase.READY, "NotWanted", True)
    assert result.message == (
        "DaemonSet demo/driver is not for the node: it wants card=new, and the node has card=old"
    )
    # The quick look says the same.
    rig.snapshot.pods_known = False
    assert rig.observation()["driver"].message == result.message


def test_a_label_that_a_new_daemonset_wants_may_still_come() -> None:
    rig = Rig(wanting(world.plan("driver"), card="new"))
    made = world.daemonset("driver")
    made["metadata"]["creationTimestamp"] = timestamp(NOW)
    rig.snapshot.put_workload(made)
    result = rig.observation()["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "NoPod")
    assert "it wants card=new, and the node has no card" in result.message
    assert rig.observation(after=11)["driver"].phase is Phase.READY


def test_a_node_that_is_wanted_and_has_no_pod_is_not_ready() -> None:
    rig = Rig(wanting(world.plan("driver"), card="new"), labels={"card": "new"})
    assert rig.observation(after=60)["driver"].reason == "NoPod"


def test_the_label_of_the_kernel_before_keeps_no_daemonset_off_a_node() -> None:
    kernel = "feature.node.kubernetes.io/kernel-version.full"
    rig = Rig(
        wanting(world.plan("driver"), **{kernel: "6.2"}), kernel="6.2", labels={kernel: "6.1"}
    )
    result = rig.observation(after=60)["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "KernelLabelStale")


class TestNodesThatWaitForAnotherOfTheirGroup:
    def walk_all(self, rig: Rig, after: float, but: str = "") -> set[str]:
        """Look at each node but one, in order; returns those that wait for another one."""
        nodes = sorted(rig.snapshot.nodes.keys() - {but})
        for name in nodes:
            rig.walker.walk(rig.snapshot.nodes[name], GROUP, {}, NONE, NOW + after)
        return {name for name in nodes if rig.walker.memory[(name, "check")].waits == "Sampled"}

    def fleet(self, size: int, **workload: object) -> Rig:
        proof = replace(SAMPLED, spec={**SAMPLED.spec, **workload})
        rig = Rig(world.plan("check", proofs=(proof,), deployed=False))
        for number in range(2, size + 1):
            rig.snapshot.put_node(world.node(f"n{number}"), GROUP)
        return rig

    def proven(self, rig: Rig, node: str) -> None:
        """Its validation pod has succeeded."""
        walk = rig.walker.walk(rig.snapshot.nodes[node], GROUP, {}, NONE, NOW)
        (start,) = walk.wants
        assert isinstance(start, StartPod)
        rig.snapshot.put_pod(world.validator(start.name, "check", node, phase="Succeeded"))

    def test_the_group_is_looked_through_once_for_all_of_them(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rig, looks = self.fleet(50), []
        find = rig.walker._find_siblings
        monkeypatch.setattr(
            rig.walker, "_find_siblings", lambda *given: looks.append(given) or find(*given)
        )
        assert len(self.walk_all(rig, 0)) == 49
        assert rig.walker.take_other_siblings() == set()
        assert len(looks) == 2

    def test_those_that_were_looked_at_before_it_was_proven_are_looked_at_again(self) -> None:
        rig = self.fleet(3)
        self.proven(rig, "n1")
        # It is looked at last, as if others had sorted before it.
        assert self.walk_all(rig, 1, but="n1") == {"n2", "n3"}
        assert rig.walker.take_other_siblings() == set()
        rig.observation(2)
        assert rig.walker.results[("n1", "check")].phase is Phase.READY
        # What has asked meanwhile, and knows it, takes it from nobody.
        rig.walker.walk(rig.snapshot.nodes["n3"], GROUP, {}, NONE, NOW + 2)
        assert rig.walker.take_other_siblings() == {("check", GROUP)}
        assert self.walk_all(rig, 3) == set()

    def test_another_one_is_chosen_when_the_first_one_leaves(self) -> None:
        rig = self.fleet(3)
        assert self.walk_all(rig, 0) == {"n2", "n3"}
        rig.walker.forget("n1")
        rig.snapshot.forget_node("n1")
        assert rig.walker.take_other_siblings() == {("check", GROUP)}
        assert self.walk_all(rig, 1) == {"n3"}

    def test_as_many_are_chosen_as_the_recipe_says(self) -> None:
        rig = self.fleet(4, sampling=2)
        assert self.walk_all(rig, 0) == {"n3", "n4"}


def test_what_is_wanted_counts_beside_what_is_not() -> None:
    keys = tuple(map(world.daemonset_key, ("driver", "other")))
    plan = world.with_groups(world.plan("driver"), daemonsets={"": keys})
    rig = Rig(wanting(plan, "other", card="new"))
    rig.snapshot.put_workload(world.daemonset("other"))
    assert rig.observation(after=60)["driver"].reason == "NoPod"
    rig.snapshot.put_pod(world.pod("driver"))
    result = rig.observation(after=61)["driver"]
    assert (result.phase, result.unwanted) == (Phase.READY, False)
    assert result.message.startswith("DaemonSet demo/other is not for the node: it wants card=new")


def test_nothing_is_asked_of_a_node_on_which_nothing_is_wanted() -> None:
    proofs = (Proof("rollout"), Proof("allocatable", {"resource": "acme.example/gpu"}), WORKLOAD)
    plan = world.plan("driver", proofs=proofs)
    rig = Rig(wanting(plan, card="new"))
    assert rig.observation()["driver"].phase is Phase.READY
    assert rig.walk.wants == []
    assert (
        Rig(wanting(plan, card="new"), labels={"card": "new"}).observation()["driver"].phase
        is Phase.WAITING
    )


def test_a_node_on_which_nothing_is_wanted_proves_nothing_for_others() -> None:
    plan = wanting(world.plan("driver", proofs=(Proof("rollout"), SAMPLED)), card="new")
    rig = Rig(plan)
    rig.snapshot.nodes["n2"] = other = world.node("n2", labels={"card": "new"})
    rig.snapshot.groups["n2"] = GROUP
    rig.observation()
    assert not rig.walker.is_proven(["driver"], "")
    # What serves the cluster waits for the other one as well, whose pod is still to come.
    later = replace(world.plan("report", ("driver",), deployed=False), per_node=False)
    rig.walker.plans = (plan, later)
    rig.walker.walk(other, GROUP, {}, NONE, NOW)
    rig.walker.walk_cluster(later, NOW)
    assert rig.walker.results["", "report"].phase is Phase.WAITING
    # One of a group is enough for the proof, but it has to be one that the state serves.
    rig.snapshot.put_pod(world.pod("driver", node_name="n2"))
    walk = rig.walker.walk(other, GROUP, {}, NONE, NOW)
    assert [type(query) for query in walk.wants] == [StartPod]
    # Where none of the nodes has anything of it, there is nothing to wait for.
    rig.walker.forget("n2")
    rig.snapshot.forget_node("n2")
    assert rig.walker.is_proven(["driver"], "")


def test_counts_are_compared_with_the_nodes_that_are_wanted() -> None:
    rig = Rig(wanting(world.plan("driver"), card="new"), labels={"card": "new"})
    rig.snapshot.nodes["n2"] = world.node("n2")
    rig.snapshot.groups["n2"] = GROUP
    rig.snapshot.pods_known = False
    assert rig.observation()["driver"].phase is Phase.READY


def test_no_pod_fails_after_the_grace_with_the_event() -> None:
    rig = Rig(world.plan("driver"))
    events = ReadEvents("demo", "DaemonSet", "driver")
    rig.observation()
    assert rig.observation(9)["driver"].final is False
    assert rig.walk.wants == []
    rig.observation(11)
    assert rig.walk.wants == [events]
    rig.answer(events, "FailedCreate: exceeded quota: few", at=11)
    assert rig.observation(12)["driver"].phase is Phase.WAITING
    rig.answer(events, "FailedCreate: exceeded quota: few", at=30)
    result = rig.observation(31)["driver"]
    assert (result.phase, result.reason) == (Phase.FAILED, "QuotaExceeded")
    assert "exceeded quota: few" in result.message
    assert "raise the ResourceQuota" in advice(result.reason)


def test_no_pod_of_another_cause_is_not_put_down_to_a_quota() -> None:
    rig = Rig(world.plan("driver"))
    rig.observation()
    rig.observation(11)
    rig.answer(rig.walk.wants[0], "FailedCreate: denied by a webhook", at=30)
    assert rig.observation(31)["driver"].reason == "NoPod"


@pytest.mark.parametrize("state", ["driver", "plugin"])
def test_no_pod_is_no_trouble_while_the_controller_makes_those_of_others(state: str) -> None:
    rig = Rig(world.plan("driver"))
    for after in range(0, 300, 9):
        another = world.pod(state, node_name=f"n{after + 2}")
        another["metadata"]["creationTimestamp"] = timestamp(NOW + after)
        rig.snapshot.put_pod(another)
        assert rig.observation(after + 8)["driver"].phase is Phase.WAITING
        assert rig.walk.wants == []
    rig.observation(after + 11)
    assert rig.walk.wants == [ReadEvents("demo", "DaemonSet", "driver")]


def test_pods_that_another_controller_makes_say_nothing_of_a_daemonset() -> None:
    rig = Rig(world.plan("driver"))
    another = world.pod("operator", node_name="n2")
    another["metadata"]["creationTimestamp"] = timestamp(NOW + 8)
    another["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
    rig.snapshot.put_pod(another)
    rig.observation()
    rig.observation(after=11)
    assert rig.walk.wants == [ReadEvents("demo", "DaemonSet", "driver")]


def look(*plans: StatePlan, **causes: str) -> Rig:
    """Somebody looks after a run that has found a cause (NoPod, 240 s ago) in each state with its
    phase; the first of them is in the node's summary label."""
    found = [
        {
            "state": state,
            "phase": phase,
            "reason": "NoPod",
            "message": "exceeded quota",
            "since": timestamp(NOW - 240),
            "nodes": 1,
            "examples": ["n1"],
        }
        for state, phase in causes.items()
    ]
    before = RecordMemory.of(
        "demo", {"status": {"causes": found, "lastChecked": timestamp(NOW - 200)}}
    )
    settings = WalkSettings("demo", "demo", acts=False, record_memory=before)
    summary = next((f"{state}.{phase}" for state, phase in causes.items()), "ready")
    return Rig(*plans, settings=settings, labels={summary_label("demo"): summary})


def test_who_looks_after_a_run_goes_on_where_that_ended() -> None:
    rig = look(world.plan("driver"), driver="failed")
    rig.observation()
    assert rig.walk.wants == [ReadEvents("demo", "DaemonSet", "driver")]
    rig.answer(rig.walk.wants[0], "FailedCreate: exceeded quota: few")
    result = rig.observation()["driver"]
    assert (result.phase, result.since) == (Phase.FAILED, NOW - 240)
    assert "exceeded quota" in result.message


def test_a_node_that_the_last_run_did_not_blame_has_all_of_the_patience() -> None:
    rig = look(world.plan("driver"), runtime="failed", driver="failed")
    result = rig.observation()["driver"]
    assert (result.phase, result.since) == (Phase.WAITING, NOW)


def test_who_looks_does_not_promise_what_a_run_alone_does() -> None:
    rig = look(world.plan("driver", proofs=(WORKLOAD,), deployed=False))
    result = rig.observation()["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "NeedsRun")
    assert rig.walk.wants == []


def test_who_looks_sees_the_validation_pod_that_has_failed_in_the_last_run() -> None:
    rig = look(world.plan("driver", proofs=(WORKLOAD,), deployed=False))
    rig.walker.settings = WalkSettings("demo", "demo")
    start = rig.wants()[0]
    assert isinstance(start, StartPod)
    end = {"exitCode": 3, "finishedAt": timestamp(NOW - 240)}
    statuses = [{"name": "main", "state": {"terminated": end}}]
    rig.snapshot.put_pod(
        world.validator(start.name, "driver", phase="Failed", containerStatuses=statuses)
    )
    rig.walker.settings = WalkSettings("demo", "demo", acts=False)
    result = rig.observation()["driver"]
    assert (result.phase, result.reason) == (Phase.FAILED, "ValidationFailed")
    assert "exit code 3" in result.message
    assert [type(query) for query in rig.walk.wants] == [ReadLogs]


def test_a_validation_that_failed_before_what_it_stands_on_came_back_is_tried_again() -> None:
    """A toolkit whose pod goes takes the GPUs from whoever starts meanwhile."""
    rig = Rig(
        world.plan("toolkit"),
        world.plan("driver", requires=("toolkit",), proofs=(WORKLOAD,), deployed=False),
    )
    rig.snapshot.put_pod(world.pod("toolkit"))
    (start,) = rig.wants()
    assert isinstance(start, StartPod)
    end = {"exitCode": 3, "finishedAt": timestamp(NOW + 10)}
    statuses = [{"name": "main", "state": {"terminated": end}}]
    failed = world.validator(start.name, "driver", phase="Failed", containerStatuses=statuses)
    rig.snapshot.put_pod(failed)
    rig.snapshot.put_pod(world.pod("toolkit", ready=False))
    assert rig.observation(12)["driver"].phase is Phase.WAITING
    rig.snapshot.put_pod(world.pod("toolkit"))
    result = rig.observation(60)["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "Starting")
    assert [type(query) for query in rig.walk.wants] == [RemovePod]


@pytest.mark.parametrize(
    ("gates", "by_nodes", "reason"),
    [
        ({}, False, "NeedsRun"),
        ({}, True, "NoPod"),
        ({"hardware-enablement.io/demo.driver": "ready"}, False, "NoPod"),
    ],
)
def test_a_pod_that_waits_for_a_gate_waits_for_a_run(
    gates: dict[str, str], by_nodes: bool, reason: str
) -> None:
    settings = WalkSettings("demo", "demo", acts=False, by_nodes=by_nodes)
    rig = Rig(world.plan("plugin"), settings=settings, labels=gates)
    waiting = world.daemonset("plugin")
    selector = {"hardware-enablement.io/demo.driver": "ready"}
    waiting["spec"]["template"] = {"spec": {"nodeSelector": selector}}
    rig.snapshot.put_workload(waiting)
    result = rig.observation()["plugin"]
    assert result.reason == reason
    assert ("hardware-enablement.io/demo.driver" in result.message) is (reason == "NeedsRun")


@pytest.mark.parametrize(
    ("key", "tolerated", "reason"),
    [
        ("team", "", "NotTolerated"),
        ("team", "team", "NoPod"),
        # Kubernetes' own passes, or is tolerated by every DaemonSet.
        ("node.kubernetes.io/disk-pressure", "", "NoPod"),
    ],
)
def test_a_taint_that_keeps_the_pod_off_is_named(key: str, tolerated: str, reason: str) -> None:
    rig = Rig(world.plan("driver"))
    taint = {"key": key, "value": "a", "effect": "NoSchedule"}
    rig.node = replace(rig.node, taints=(taint,))
    rig.snapshot.nodes[rig.node.name] = rig.node
    daemonset = world.daemonset("driver")
    tolerations = [{"key": tolerated, "operator": "Exists"}] if tolerated else []
    daemonset["spec"]["template"] = {"spec": {"tolerations": tolerations}}
    rig.snapshot.put_workload(daemonset)
    assert rig.observation()["driver"].reason == reason
    last = rig.observation(31)["driver"]
    assert (last.reason, f"taint {key}=a:NoSchedule" in last.message) == (
        reason,
        reason == "NotTolerated",
    )


def test_a_crash_fails_after_the_grace_although_the_container_runs_in_between() -> None:
    rig = Rig(world.plan("driver"), world.plan("plugin", requires=("driver",)))
    crashing = world.pod(
        "driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, restarts=2, exit_code=3
    )
    rig.snapshot.put_pod(crashing)
    assert rig.observation()["driver"].phase is Phase.WAITING
    rig.snapshot.put_pod(world.pod("driver", ready=False))
    assert rig.observation(20)["driver"].phase is Phase.WAITING
    rig.snapshot.put_pod(crashing)
    rig.answer(
        ReadLogs("demo", "driver-n1", "pod-driver-n1", "main", 20, True),
        "booting\nno such device\n",
    )
    results = rig.observation(31)
    assert results["driver"].phase is Phase.FAILED
    assert results["driver"].message.endswith("no such device")
    plugin = results["plugin"]
    assert (plugin.phase, plugin.reason, plugin.final) == (Phase.BLOCKED, "BlockedBy.driver", True)


def test_a_container_that_crashed_and_runs_has_until_the_timeout() -> None:
    """A driver that is compiled anew on a node takes minutes: one crash before says nothing of it."""
    rig = Rig(world.plan("driver", timeout=100))
    rig.snapshot.put_pod(CRASHING)
    rig.observation()
    rig.snapshot.put_pod(world.pod("driver", ready=False, restarts=1, exit_code=3))
    result = rig.observation(99)["driver"]
    assert (result.phase, result.reason) == (Phase.WAITING, "Restarted")
    result = rig.observation(101)["driver"]
    assert (result.phase, result.reason) == (Phase.FAILED, "Timeout")
    assert "restarted after exit code 3; not ready within 100 s" in result.message


def test_a_crash_that_outlasts_the_grace_stays_final_while_the_container_tries_again() -> None:
    rig = Rig(world.plan("driver"))
    rig.snapshot.put_pod(CRASHING)
    rig.observation()
    assert rig.observation(31)["driver"].final
    rig.snapshot.put_pod(world.pod("driver", ready=False))
    result = rig.observation(32)["driver"]
    assert (result.final, result.reason) == (True, "CrashLoopBackOff")
    rig.snapshot.put_pod(world.pod("driver"))
    assert rig.observation(33)["driver"].phase is Phase.READY
    rig.snapshot.put_pod(CRASHING)
    assert rig.observation(34)["driver"].phase is Phase.WAITING


def test_a_verdict_waits_for_the_last_line_and_not_for_ever() -> None:
    """On a busy node the kubelet has no log yet just after an end."""
    rig = Rig(world.plan("driver"))
    rig.snapshot.put_pod(CRASHING)
    rig.observation()
    late = copy.deepcopy(CRASHING)
    ended = late["status"]["containerStatuses"][0]["lastState"]["terminated"]
    ended["finishedAt"] = timestamp(NOW + 28)
    rig.snapshot.put_pod(late)
    (log,) = (each for each in rig.wants(29) if isinstance(each, ReadLogs))
    assert (log.previous, log.end) == (True, timestamp(NOW + 28))
    rig.answer(log, "", at=29)
    assert not rig.observation(31)["driver"].final
    assert (rig.walk.again_at or NOW + 600) <= NOW + 38
    result = rig.observation(38)["driver"]
    assert (result.phase, result.message[-1]) == (Phase.FAILED, ")")
    rig.answer(log, "no such device\n", at=38)
    assert rig.observation(39)["driver"].message.endswith("): no such device")
    # A node's clock that is ahead holds nothing open.
    ended["finishedAt"] = timestamp(NOW + 3600)
    assert rig.observation(40)["driver"].final


def test_a_log_that_is_refused_at_first_is_waited_for_although_the_crash_was_long_ago() -> None:
    """A node that has just booted, or is busy, answers the second time; the run has come long after the crash."""
    rig = Rig(world.plan("driver"))
    pod = copy.deepcopy(CRASHING)
    pod["status"]["conditions"][0]["lastTransitionTime"] = timestamp(NOW - 600)
    ended = pod["status"]["containerStatuses"][0]["lastState"]["terminated"]
    ended["finishedAt"] = timestamp(NOW - 60)
    rig.snapshot.put_pod(pod)
    (log,) = (each for each in rig.wants() if isinstance(each, ReadLogs))
    rig.answer(log, None, "no answer from the node", at=1)
    assert not rig.observation(1)["driver"].final
    assert log in rig.wants(4)
    rig.answer(log, None, "no answer from the node", at=5)
    assert not rig.observation(10)["driver"].final
    assert rig.observation(11)["driver"].final
    rig.answer(log, "no such device\n", at=12)
    result = rig.observation(12)["driver"]
    assert (result.final, result.message[-16:]) == (True, ": no such device")


def test_what_a_container_leaves_as_its_message_is_its_last_line() -> None:
    rig = Rig(world.plan("driver"))
    pod = copy.deepcopy(CRASHING)
    ended = pod["status"]["containerStatuses"][0]["lastState"]["terminated"]
    ended["message"] = "booting\nno such device\n"
    rig.snapshot.put_pod(pod)
    assert rig.observation()["driver"].message.endswith("): no such device")
    assert rig.walk.wants == []


@pytest.mark.parametrize(
    ("strategy", "seen", "phase"),
    [
        ("RollingUpdate", 1, Phase.WAITING),
        ("RollingUpdate", 0, Phase.WAITING),
        ("OnDelete", 1, Phase.FAILED),
    ],
)
def test_a_crash_of_the_version_before_counts_only_where_nobody_replaces_it(
    strategy: str, seen: int, phase: Phase
) -> None:
    rig = Rig(world.plan("driver"))
    daemonset = world.daemonset("driver", template_generation=2 if seen else 1, strategy=strategy)
    daemonset["status"]["observedGeneration"] = seen
    rig.snapshot.put_workload(daemonset)
    crashing = world.pod(
        "driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, generation=1
    )
    crashing["status"]["conditions"][0]["lastTransitionTime"] = timestamp(NOW - 600)
    rig.snapshot.put_pod(crashing)
    rig.observation()
    assert rig.observation(1)["driver"].phase is phase
    rig.snapshot.put_workload(world.daemonset("driver", template_generation=2))
    rig.snapshot.put_pod({**crashing, "metadata": world.pod("driver", generation=2)["metadata"]})
    assert rig.observation(60)["driver"].phase is Phase.FAILED


@pytest.mark.parametrize(
    ("runs", "deployed", "pending"),
    [("595", "595", False), ("580", "595", True), ("", "595", True), ("", "", True)],
)
def test_what_else_changes_in_a_template_is_no_other_driver(
    runs: str, deployed: str, pending: bool
) -> None:
    rig = Rig(world.plan("driver"))
    daemonset = world.daemonset("driver", template_generation=2, strategy="OnDelete")
    annotations = {DRIVER_ANNOTATION: deployed} if deployed else {}
    daemonset["spec"]["template"] = {"metadata": {"annotations": annotations}}
    rig.snapshot.put_workload(daemonset)
    pod = world.pod("driver", generation=1)
    pod["metadata"]["annotations"] = {DRIVER_ANNOTATION: runs} if runs else {}
    rig.snapshot.put_pod(pod)
    found = rig.observation()["driver"]
    assert (found.phase, found.restart_pending) == (Phase.READY, pending)


def test_a_crash_of_a_proven_state_degrades() -> None:
    rig = Rig(world.plan("driver"))
    rig.gates = frozenset({"driver"})
    rig.snapshot.put_pod(world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"}))
    rig.observation()
    assert rig.observation(31)["driver"].phase is Phase.DEGRADED


@pytest.mark.parametrize(("value", "error"), [("", ""), (None, "previous container not found")])
def test_a_log_that_the_kubelet_does_not_have_yet_is_asked_for_again(
    value: str | None, error: str
) -> None:
    rig = Rig(world.plan("driver"))
    rig.snapshot.put_pod(
        world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"}, exit_code=3)
    )
    log = ReadLogs("demo", "driver-n1", "pod-driver-n1", "main", 20, True)
    assert log in rig.wants()
    rig.answer(log, value, error)
    assert log not in rig.wants(1)
    assert log in rig.wants(6)
    rig.answer(log, "booting\nno such device\n", at=6)
    assert log not in rig.wants(20)


def test_a_pod_that_serves_no_longer_fails_after_the_grace_with_its_last_line() -> None:
    rig = Rig(world.plan("plugin"))
    rig.gates = frozenset({"plugin"})
    pod = world.pod("plugin", ready=False)
    pod["status"]["containerStatuses"][0] |= {
        "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        "lastState": {"terminated": {"exitCode": 1, "message": "of another time"}},
    }
    pod["status"]["conditions"][0]["lastTransitionTime"] = timestamp(NOW - 10)
    rig.snapshot.put_pod(pod)
    assert rig.observation()["plugin"].phase is Phase.WAITING
    rig.answer(ReadLogs("demo", "plugin-n1", "pod-plugin-n1", "main", 20), "registered\nXid 79\n")
    result = rig.observation(21)["plugin"]
    assert (result.phase, result.reason) == (Phase.DEGRADED, "NoLongerReady")
    assert result.message.endswith("no longer ready: Xid 79")


def test_trouble_that_passes_is_forgotten() -> None:
    rig = Rig(world.plan("driver"))
    rig.snapshot.put_pod(world.pod("driver", ready=False, waiting={"reason": "ImagePullBackOff"}))
    rig.observation()
    rig.snapshot.put_pod(world.pod("driver"))
    assert rig.observation(10)["driver"].phase is Phase.READY
    rig.snapshot.put_pod(world.pod("driver", ready=False, waiting={"reason": "ImagePullBackOff"}))
    assert rig.observation(35)["driver"].phase is Phase.WAITING


def test_a_slow_pod_has_until_its_timeout() -> None:
    rig = Rig(world.plan("driver", timeout=100))
    rig.snapshot.put_pod(world.pod("driver", ready=False, waiting={"reason": "ContainerCreating"}))
    assert rig.observation()["driver"].phase is Phase.WAITING
    assert rig.observation(99)["driver"].phase is Phase.WAITING
    result = rig.observation(101)["driver"]
    assert (result.phase, result.reason) == (Phase.FAILED, "Timeout")


def test_the_pull_of_an_image_is_no_time_of_the_state() -> None:
    rig = Rig(world.plan("driver", timeout=100))
    pod = world.pod("driver", ready=False, waiting={"reason": "ContainerCreating"})
    pod["status"]["conditions"].append({"type": "PodReadyToStartContainers", "status": "True"})
    rig.snapshot.put_pod(pod)
    for moment in (0, 99, 400):
        result = rig.observation(moment)["driver"]
        assert (result.phase, result.reason) == (Phase.WAITING, "Pulling")
    # From then on it has all its time.
    rig.snapshot.put_pod(world.pod("driver", ready=False))
    assert rig.observation(499)["driver"].phase is Phase.WAITING
    assert rig.observation(501)["driver"].reason == "Timeout"


def test_a_node_that_is_not_ready_is_unknown_and_not_degraded() -> None:
    rig = Rig(world.plan("driver"), ready=False)
    rig.gates = frozenset({"driver"})
    rig.observation()
    result = rig.observation(31)["driver"]
    assert (result.phase, result.reason) == (Phase.UNKNOWN, "NodeNotReady")


def test_what_requires_an_unknown_state_is_unknown_too() -> None:
    rig = Rig(world.plan("driver"), world.plan("plugin", requires=("driver",)), ready=False)
    rig.records = {
        name: ProofRecord(f"hash-{name}", world.KERNEL, world.BOOT, "t")
        for name in ("driver", "plugin")
    }
    assert rig.observation()["plugin"].phase is Phase.WAITING
    result = rig.observation(31)["plugin"]
    assert (result.phase, result.reason, result.final, result.proven) == (
        Phase.UNKNOWN,
        "Requires.driver",
        True,
        True,
    )


@pytest.mark.parametrize(
    ("strategy", "phase"), [("OnDelete", Phase.READY), ("RollingUpdate", Phase.WAITING)]
)
def test_a_pod_of_the_version_before(strategy: str, phase: Phase) -> None:
    rig = Rig(world.plan("driver"))
    rig.snapshot.put_workload(world.daemonset("driver", template_generation=2, strategy=strategy))
    rig.snapshot.put_pod(world.pod("driver", generation=1))
    result = rig.observation()["driver"]
    assert (result.phase, result.restart_pending) == (phase, strategy == "OnDelete")


class TestWorkload:
    """A validation pod on the node."""

    def rig(self) -> Rig:
        return Rig(world.plan("check", proofs=(WORKLOAD,), deployed=False))

    def start(self, rig: Rig) -> StartPod:
        rig.observation()
        (start,) = rig.walk.wants
        assert isinstance(start, StartPod)
        return start

    def test_is_started_once_and_then_waited_for(self) -> None:
        rig = self.rig()
        start = self.start(rig)
        rig.answer(start, True)
        rig.observation(1)
        assert rig.walk.wants == []

    def test_that_succeeds_proves(self) -> None:
        rig = self.rig()
        rig.snapshot.put_pod(world.validator(self.start(rig).name, "check"))
        assert rig.observation(1)["check"].phase is Phase.READY

    def test_is_not_run_again_while_the_proof_holds(self) -> None:
        rig = self.rig()
        rig.records["check"] = ProofRecord("hash-check", world.KERNEL, world.BOOT, "t")
        assert rig.observation()["check"].phase is Phase.READY
        assert rig.walk.wants == []

    @pytest.mark.parametrize(
        "record",
        [
            ("other", world.KERNEL, world.BOOT),
            ("hash-check", "6.2", world.BOOT),
            ("hash-check", world.KERNEL, "b2"),
        ],
    )
    def test_is_run_again_when_what_was_proven_changed(self, record: tuple[str, str, str]) -> None:
        rig = self.rig()
        rig.records["check"] = ProofRecord(*record, "t")
        assert rig.observation()["check"].phase is Phase.WAITING
        assert rig.walk.wants

    def test_that_fails_is_not_final_before_its_last_line_could_be_read(self) -> None:
        rig = self.rig()
        rig.walker.settings = replace(rig.walker.settings, failure_grace=1)
        name = self.start(rig).name
        ended = {"exitCode": 1, "finishedAt": timestamp(NOW + 1)}
        status = {"containerStatuses": [{"name": "c", "state": {"terminated": ended}}]}
        rig.snapshot.put_pod(world.validator(name, "check", phase="Failed", **status))
        assert not rig.observation(3)["check"].final
        rig.answer(ReadLogs("demo", name, f"uid-{name}", "c", 20), "no device\n", at=3)
        result = rig.observation(4)["check"]
        assert (result.final, result.message[-9:]) == (True, "no device")

    def test_that_fails_on_a_node_whose_clock_is_ahead_is_not_held_open(self) -> None:
        rig = self.rig()
        rig.walker.settings = replace(rig.walker.settings, failure_grace=1)
        name = self.start(rig).name
        ended = {"exitCode": 1, "finishedAt": timestamp(NOW + 3600)}
        status = {"containerStatuses": [{"name": "c", "state": {"terminated": ended}}]}
        rig.snapshot.put_pod(world.validator(name, "check", phase="Failed", **status))
        rig.observation(3)
        assert rig.observation(5)["check"].final

    def test_that_fails_is_tried_again_and_ends_with_its_last_line(self) -> None:
        rig = self.rig()
        name = self.start(rig).name
        status = {"containerStatuses": [{"name": "c", "state": {"terminated": {"exitCode": 1}}}]}
        rig.snapshot.put_pod(world.validator(name, "check", phase="Failed", **status))
        rig.observation(1)
        logs = ReadLogs("demo", name, f"uid-{name}", "c", 20)
        assert rig.walk.wants == [logs]
        rig.answer(logs, "hello\nno CUDA-capable device\n", at=1)
        assert rig.observation(2)["check"].phase is Phase.WAITING
        rig.observation(7)
        assert rig.walk.wants == [RemovePod("demo", name, f"uid-{name}")]
        result = rig.observation(40)["check"]
        assert result.phase is Phase.FAILED
        assert "exit code 1: no CUDA-capable device" in result.message

    @pytest.mark.parametrize(
        ("message", "reason"),
        [
            ("0/3 nodes: 1 Insufficient x/gpu.", "DevicesBusy"),
            ("0/1 nodes are available: 1 cannot allocate all claims.", "DevicesBusy"),
            ("1 Insufficient cpu", "NoRoom"),
            ("1 node(s) had untolerated taint {team: a}.", "NotTolerated"),
            ("1 node(s) had untolerated taint(s).", "NotTolerated"),
        ],
    )
    def test_that_finds_no_room_is_unknown(self, message: str, reason: str) -> None:
        proof = Proof("workload", {**WORKLOAD.spec, "resource": "x/gpu"})
        plan = world.plan("check", proofs=(proof,), deployed=False)
        rig = Rig(plan, taints=(taint("team", value="a"),))
        rig.gates = frozenset({"check"})
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        rig.snapshot.put_pod(
            world.validator(self.start(rig).name, "check", phase="Pending", conditions=[condition])
        )
        rig.observation(1)
        result = rig.observation(40)["check"]
        assert (result.phase, result.reason) == (Phase.UNKNOWN, reason)

    def test_waits_for_a_free_place(self) -> None:
        rig = self.rig()
        rig.walker.slots["check"] = 0
        assert rig.observation()["check"].reason == "Queued"
        assert rig.walk.wants == []

    def test_the_wait_for_a_free_place_is_no_time_of_the_state(self) -> None:
        rig, timeout = self.rig(), world.plan("check").timeout
        rig.walker.slots["check"] = 0
        for after in (0, timeout - 1, 3 * timeout):
            assert rig.observation(after)["check"].phase is Phase.WAITING
        rig.walker.slots["check"] = 1
        assert rig.observation(4 * timeout - 1)["check"].reason == "Starting"
        assert rig.observation(4 * timeout)["check"].reason == "Timeout"


@pytest.mark.parametrize(
    ("allocatable", "capacity", "phase", "reason"),
    [
        ({"x/gpu": "8"}, {"x/gpu": "8"}, Phase.READY, "Proven"),
        ({"x/gpu": "0"}, {"x/gpu": "8"}, Phase.WAITING, "NotAllocatable"),
        ({}, {}, Phase.WAITING, "NotAdvertised"),
    ],
)
def test_allocatable(
    allocatable: dict[str, str], capacity: dict[str, str], phase: Phase, reason: str
) -> None:
    proof = Proof("allocatable", {"resource": "x/*", "at_least": 1})
    rig = Rig(
        world.plan("plugin", proofs=(proof,), deployed=False),
        allocatable=allocatable,
        capacity=capacity,
    )
    result = rig.observation()["plugin"]
    assert (result.phase, result.reason) == (phase, reason)


def test_sampling_per_group_proves_the_others() -> None:
    proof = Proof("workload", {**WORKLOAD.spec, "sampling": "per_group"})
    rig = Rig(world.plan("check", proofs=(proof,), deployed=False))
    second = world.node("n2")
    rig.snapshot.nodes["n2"], rig.snapshot.groups["n2"] = second, GROUP
    rig.observation()
    (start,) = rig.walk.wants
    rig.walker.walk(second, GROUP, {}, NONE, NOW)
    assert rig.walker.results[("n2", "check")].reason == "Sampled"
    rig.snapshot.put_pod(world.validator(start.name, "check"))  # type: ignore[union-attr]
    rig.observation(1)
    rig.walker.walk(second, GROUP, {}, NONE, NOW + 1)
    assert rig.walker.results[("n2", "check")].phase is Phase.READY


def test_who_waits_for_a_sample_is_known_also_while_a_trouble_before_is_told() -> None:
    """Else nobody looks again when the sample is proven, before patience with the trouble ends."""
    proof = Proof("workload", {**WORKLOAD.spec, "sampling": "per_group"})
    rig = Rig(world.plan("check", proofs=(proof,), deployed=False))
    second = world.node("n2")
    rig.snapshot.nodes["n2"], rig.snapshot.groups["n2"] = second, GROUP
    rig.observation()
    trouble = Verdict(Outcome.TROUBLE, "NotApplied", "Deployment x is not in the cluster")
    rig.walker.memory["n2", "check"] = Memory(trouble=trouble, trouble_since=NOW, outlasted=True)
    rig.walker.walk(second, GROUP, {}, NONE, NOW)
    assert rig.walker.results["n2", "check"].reason == "NotApplied"
    assert rig.walker.memory["n2", "check"].waits == "Sampled"


def test_a_kernel_that_appears_during_the_run_proves_nothing() -> None:
    rig = Rig(world.plan("driver", deployed=False))
    rig.walker.walk(rig.node, "group-of-another-kernel", {}, NONE, NOW)
    result = rig.walker.results[("n1", "driver")]
    assert (result.phase, result.reason) == (Phase.WAITING, "NewGroup")


def test_nothing_is_said_of_a_node_whose_facts_cannot_be_true() -> None:
    rig = Rig(world.plan("driver", deployed=False))
    odd = world.node(kernel="6.1\x1b[2J")
    rig.walker.walk(odd, "group-of-it", {}, NONE, NOW)
    assert rig.walker.results["n1", "driver"].reason == "OddNode"
    rig.walker.walk(odd, "group-of-it", {}, NONE, NOW + rig.walker.settings.failure_grace)
    result = rig.walker.results["n1", "driver"]
    assert (result.phase, result.message) == (
        Phase.UNKNOWN,
        "nothing is deployed for the node, since its kernel is told as '6.1\\x1b[2J', which does not look like one",
    )


class TestSubject:
    """A proof is about what is deployed and about what it was proven on top of."""

    def rig(self) -> Rig:
        rig = Rig(
            world.plan("driver"),
            world.plan("check", requires=("driver",), proofs=(WORKLOAD,), deployed=False),
        )
        rig.snapshot.put_pod(world.pod("driver"))
        (start,) = self.wants(rig)
        rig.snapshot.put_pod(world.validator(start.name, "check"))
        results = rig.observation()
        assert {result.phase for result in results.values()} == {Phase.READY}
        for state, result in results.items():
            rig.records[state] = ProofRecord(result.subject, world.KERNEL, world.BOOT, "t")
        rig.snapshot.validators.clear()
        return rig

    def wants(self, rig: Rig) -> list[StartPod]:
        rig.observation()
        return [query for query in rig.walk.wants if isinstance(query, StartPod)]

    def test_an_unchanged_node_proves_nothing_again(self) -> None:
        assert self.wants(self.rig()) == []

    def test_a_new_driver_has_to_be_validated_again(self) -> None:
        rig = self.rig()
        rig.walker.plans = [
            world.with_groups(rig.walker.plans[0], hashes={GROUP: "another"}),
            rig.walker.plans[1],
        ]
        assert len(self.wants(rig)) == 1

    def test_but_not_while_the_old_one_still_runs(self) -> None:
        rig = self.rig()
        rig.walker.plans = [
            world.with_groups(rig.walker.plans[0], hashes={GROUP: "another"}),
            rig.walker.plans[1],
        ]
        rig.snapshot.put_workload(
            world.daemonset("driver", template_generation=2, strategy="OnDelete")
        )
        assert self.wants(rig) == []

    def test_a_driver_in_trouble_keeps_what_was_proven_on_it_from_being_called_ready(self) -> None:
        rig = self.rig()
        rig.snapshot.put_pod(
            world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"})
        )
        results = rig.observation()
        assert (results["check"].phase, results["check"].holds) == (Phase.WAITING, True)
        results = rig.observation(31)
        assert (results["check"].phase, results["check"].cause, results["check"].final) == (
            Phase.BLOCKED,
            "driver",
            True,
        )
        assert (results["check"].holds, self.wants(rig)) == (True, [])

    def test_what_is_mended_makes_ready_again_without_another_proof(self) -> None:
        rig = self.rig()
        rig.snapshot.put_pod(
            world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"})
        )
        rig.observation()
        rig.observation(31)
        rig.snapshot.put_pod(world.pod("driver"))
        assert rig.observation(40)["check"].phase is Phase.READY
        assert rig.walk.wants == []


class TestBlocked:
    """What stands on something that failed names it, is not ready, and is not waited for."""

    def rig(self) -> Rig:
        plans = (
            world.plan("driver"),
            world.plan("slow"),
            world.plan("plugin", requires=("slow", "driver")),
            world.plan("labels", requires=("plugin",)),
        )
        rig = Rig(*plans)
        rig.records = {
            plan.name: ProofRecord(f"hash-{plan.name}", world.KERNEL, world.BOOT, "t")
            for plan in plans
        }
        for state in ("plugin", "labels"):
            rig.snapshot.put_pod(world.pod(state))
        rig.snapshot.put_pod(
            world.pod("driver", ready=False, waiting={"reason": "CrashLoopBackOff"})
        )
        rig.snapshot.put_pod(
            world.pod("slow", ready=False, waiting={"reason": "ContainerCreating"})
        )
        rig.observation()
        return rig

    def test_the_root_is_named_along_the_whole_chain_although_each_has_a_proof_and_a_ready_pod(
        self,
    ) -> None:
        results = self.rig().observation(31)
        assert results["driver"].phase is Phase.DEGRADED
        for state in ("plugin", "labels"):
            assert (results[state].phase, results[state].cause, results[state].final) == (
                Phase.BLOCKED,
                "driver",
                True,
            )

    def test_a_broken_one_counts_more_than_one_that_is_waited_for(self) -> None:
        results = self.rig().observation(31)
        assert (results["slow"].final, results["plugin"].final) == (False, True)

    def test_before_patience_ends_it_waits(self) -> None:
        results = self.rig().observation(5)
        assert (results["plugin"].phase, results["labels"].cause) == (Phase.WAITING, "slow")

    @pytest.mark.parametrize(
        ("second", "phase"), [(Phase.READY, Phase.WAITING), (Phase.FAILED, Phase.BLOCKED)]
    )
    def test_a_state_of_the_cluster_is_blocked_where_no_node_can_carry_it(
        self, second: Phase, phase: Phase
    ) -> None:
        dashboard = replace(
            world.plan("dashboard", requires=("driver",), deployed=False), per_node=False
        )
        rig = Rig(world.plan("driver"), dashboard)
        rig.walker.results[("n1", "driver")] = Result(
            "driver", Phase.FAILED, "CrashLoopBackOff", final=True
        )
        rig.walker.results[("n2", "driver")] = Result("driver", second, final=True)
        rig.walker.plans = [
            rig.walker.plans[0],
            replace(dashboard, proofs=(Proof("resource", RESOURCE),)),
        ]
        rig.walker.walk_cluster(rig.walker.plans[1], NOW)
        assert rig.walker.results[("", "dashboard")].phase is phase

    def test_a_state_of_the_cluster_is_not_waited_for_where_no_node_can_come_first(self) -> None:
        dashboard = replace(
            world.plan("dashboard", requires=("driver",), deployed=False), per_node=False
        )
        rig = Rig(world.plan("driver"), dashboard)
        rig.snapshot.forget_node("n1")
        rig.walker.unapplied = {("dashboard", ""): Verdict(Outcome.PENDING, "Applying")}
        rig.walker.walk_cluster(dashboard, NOW)
        result = rig.walker.results[("", "dashboard")]
        assert (result.phase, result.reason, result.final) == (
            Phase.WAITING,
            "Requires.driver",
            True,
        )


class TestUnapplied:
    """A state whose objects come in its turn."""

    def rig(self) -> Rig:
        rig = Rig(world.plan("driver"), world.plan("server", requires=("driver",)))
        rig.snapshot.workloads.pop(ObjectKey("apps/v1", "DaemonSet", "demo", "server"))
        rig.walker.unapplied = {("server", ""): Verdict(Outcome.PENDING, "Applying")}
        rig.snapshot.put_pod(world.pod("driver"))
        return rig

    def test_is_not_missed_before_it_is_applied(self) -> None:
        rig = self.rig()
        rig.observation()
        assert (rig.observation(60)["server"].reason, rig.walker.is_proven(("driver",), GROUP)) == (
            "Applying",
            True,
        )
        rig.walker.unapplied.clear()
        rig.observation(61)
        assert rig.observation(62)["server"].reason == "NotApplied"

    def test_that_was_refused_fails_at_once_with_the_words_of_the_api_server(self) -> None:
        rig = self.rig()
        refused = Verdict(
            Outcome.TROUBLE, "ApplyRefused", "Deployment x is invalid", ran=False, heals=False
        )
        rig.walker.unapplied = {("server", GROUP): refused}
        result = rig.observation()["server"]
        assert (result.phase, result.reason, result.message) == (
            Phase.FAILED,
            "ApplyRefused",
            "Deployment x is invalid",
        )

    def test_one_node_of_the_group_is_enough_to_begin_but_not_to_take_away(self) -> None:
        rig = self.rig()
        rig.observation()
        rig.snapshot.groups["n2"] = "other"
        rig.walker.results["n2", "driver"] = Result("driver", Phase.WAITING)
        assert rig.walker.is_proven(("driver",), "")
        assert not rig.walker.is_proven(("driver",), "other")
        assert not rig.walker.is_proven(("driver",), "", on=ProvenOn.ALL)
        assert rig.walker.is_proven(("driver",), GROUP, on=ProvenOn.ALL)

    def test_a_node_that_failed_holds_up_nothing_and_one_on_its_way_does(self) -> None:
        rig = self.rig()
        rig.observation()
        rig.snapshot.groups["n2"] = "other"
        rig.walker.results["n2", "driver"] = Result("driver", Phase.WAITING)
        assert not rig.walker.is_proven(("driver",), "", on=ProvenOn.ALL_THAT_CAN)
        rig.walker.results["n2", "driver"] = Result("driver", Phase.FAILED, final=True)
        assert rig.walker.is_proven(("driver",), "", on=ProvenOn.ALL_THAT_CAN)
        rig.walker.results["n1", "driver"] = Result("driver", Phase.FAILED, final=True)
        assert not rig.walker.is_proven(("driver",), "", on=ProvenOn.ALL_THAT_CAN)

    def test_a_group_is_the_states_own(self) -> None:
        rig = self.rig()
        rig.observation()
        rig.walker.plans = [
            world.with_groups(plan, own={GROUP: "pool-a", "other": "default"})
            for plan in rig.walker.plans
        ]
        rig.walker.unapplied = {
            ("server", "pool-a"): Verdict(Outcome.TROUBLE, "ApplyRefused", "refused", heals=False)
        }
        assert rig.observation(1)["server"].reason == "ApplyRefused"
        assert rig.walker.is_proven(("driver",), "pool-a", "server")
        assert not rig.walker.is_proven(("driver",), "default", "server")
        assert rig.walker.is_proven(("driver",), "pool-a", "driver", on=ProvenOn.ALL)
        # Of a group that no node is in any more nothing is taken away from anybody.
        assert rig.walker.is_proven(("driver",), "pool-b", "driver", on=ProvenOn.ALL)

    def test_all_requirements_have_to_hold_on_one_and_the_same_node(self) -> None:
        rig = self.rig()
        rig.snapshot.groups["n2"] = GROUP
        for place, phase in (
            (("n1", "a"), Phase.READY),
            (("n1", "b"), Phase.FAILED),
            (("n2", "b"), Phase.READY),
        ):
            rig.walker.results[place] = Result(place[1], phase)
        rig.walker.results["n2", "a"] = Result("a", Phase.WAITING)
        assert not rig.walker.is_proven(("a", "b"), GROUP)
        rig.walker.results["", "b"] = Result("b", Phase.READY)
        assert rig.walker.is_proven(("a", "b"), GROUP)


class TestVersion:
    """Which version a pod runs, where the number of its template does not say."""

    def rig(self, updated: int) -> Rig:
        rig = Rig(world.plan("driver"))
        daemonset = world.daemonset("driver", template_generation=3, strategy="OnDelete")
        daemonset["status"].update(desiredNumberScheduled=3, updatedNumberScheduled=updated)
        rig.snapshot.put_workload(daemonset)
        pod = world.pod("driver", generation=1)
        pod["metadata"]["labels"]["controller-revision-hash"] = "first"
        rig.snapshot.put_pod(pod)
        return rig

    def test_while_no_pod_is_of_the_newest_this_one_is_not(self) -> None:
        result = self.rig(updated=0).observation()["driver"]
        assert (result.phase, result.restart_pending) == (Phase.READY, True)

    @pytest.mark.parametrize("updated", [1, 3], ids=["some", "all"])
    @pytest.mark.parametrize(
        ("newest", "pending"), [("first", False), ("second", True), ("", True)]
    )
    def test_the_newest_revision_decides(self, newest: str, pending: bool, updated: int) -> None:
        rig = self.rig(updated)
        assert rig.observation()["driver"].phase is Phase.WAITING
        rig.answer(ReadRevision("demo", "driver", "uid-driver", 1), newest)
        result = rig.observation()["driver"]
        assert (result.phase, result.restart_pending) == (Phase.READY, pending)


CONFIG = Proof("resource", {"api_version": "v1", "kind": "ConfigMap", "name": "settings"})


def test_a_resource_that_stays_right_never_restarts_the_clocks_of_what_stands_on_it() -> None:
    rig = Rig(
        world.plan("settings", proofs=(CONFIG,), deployed=False),
        world.plan("driver", requires=("settings",), timeout=20),
    )
    rig.snapshot.put_pod(world.pod("driver", ready=False))
    rig.snapshot.feed(Watched("v1", "ConfigMap", "demo")).put_all(
        [{"metadata": {"name": "settings"}}]
    )
    for second in range(20):
        results = rig.observation(second)
        assert (results["settings"].phase, results["driver"].phase) == (Phase.READY, Phase.WAITING)
        assert rig.walk.wants == []
    assert (rig.observation(20)["driver"].phase, rig.observation(20)["driver"].reason) == (
        Phase.FAILED,
        "Timeout",
    )


def test_a_question_that_is_asked_again_never_restarts_the_clocks_of_what_stands_on_it() -> None:
    proofs = (Proof("logs", {"match": "registered"}),)
    rig = Rig(
        world.plan("settings", proofs=proofs),
        world.plan("driver", requires=("settings",), timeout=20),
    )
    rig.snapshot.put_pod(world.pod("settings"))
    rig.snapshot.put_pod(world.pod("driver", ready=False))
    log = ReadLogs("demo", "settings-n1", "pod-settings-n1", None, 50)
    rig.answer(log, "registered")
    asked = 0
    for second in range(20):
        assert rig.observation(second)["settings"].phase is Phase.READY
        asked += log in rig.walk.wants
        if log in rig.walk.wants and second % 2:
            rig.answer(log, "registered", at=second)
    assert asked > 2
    assert rig.observation(20)["driver"].reason == "Timeout"


def test_a_name_may_differ_from_node_to_node() -> None:
    spec = {**CONFIG.spec, "name": "settings-{{ node }}"}
    proof = Proof(
        "resource", spec, render=lambda _group, node: {**spec, "name": f"settings-{node}"}
    )
    rig = Rig(world.plan("settings", proofs=(proof,), deployed=False))
    feed = rig.snapshot.feed(Watched("v1", "ConfigMap", "demo"))
    feed.put_all([{"metadata": {"name": "settings-n2"}}])
    assert rig.observation()["settings"].message == "ConfigMap settings-n1 does not exist"
    assert feed.put({"metadata": {"name": "settings-n1"}}) == {"n1"}
    assert rig.observation()["settings"].phase is Phase.READY


def test_what_could_not_be_read_is_forgotten_once_it_can_be() -> None:
    rig = Rig(world.plan("settings", proofs=(CONFIG,), deployed=False))
    feed = rig.snapshot.feed(Watched("v1", "ConfigMap", "demo"))
    feed.fail("the API server does not serve ConfigMap")
    assert rig.observation()["settings"].reason == "Unreadable"
    feed.put_all([])
    for second in (5, 60):
        result = rig.observation(second)["settings"]
        assert (result.phase, result.reason, result.final) == (Phase.WAITING, "NotFound", False)
    feed.fail("forbidden")
    assert rig.observation(61)["settings"].phase is Phase.WAITING
    assert (rig.observation(95)["settings"].phase, rig.observation(95)["settings"].final) == (
        Phase.UNKNOWN,
        True,
    )
