# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each kind of proof can hold, and can fail for a reason that it declares: one that always says the
same proves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._proofs.catalog import KINDS
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.declaration import (
    ProofKind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.evaluation import (
    ProofTarget,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.feeds import Watched
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.kinds.resource_slices import (
    RESOURCE_SLICES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.queries import (
    QueryResult,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness.node_agent.node_conditions import (
    CONDITIONS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._verdicts.verdict import (
    PASSED,
    Outcome,
    Verdict,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.proofs.bench import (
    Bench,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    GROUP,
    NOW,
)

Kinds = Mapping[str, ProofKind[Any]]
BUILDS = "build.openshift.io/v1"


def image(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("image", kinds=kinds)
    yield bench.observation()
    bench.plan = world.with_groups(bench.plan, without_image={GROUP: "no image for kernel 6.8"})
    yield bench.observation()


def rollout(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("rollout", deployed=True, kinds=kinds)
    bench.snapshot.put_workload(world.daemonset("state"))
    for ready in (True, False):
        waiting = None if ready else {"reason": "ImagePullBackOff"}
        bench.snapshot.put_pod(world.pod("state", ready=ready, waiting=waiting))
        yield bench.observation()


def workload(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("workload", {"pod": "pod.yaml.j2"}, slots=1, kinds=kinds)
    bench.observation()
    (start,) = bench.wants
    for phase in ("Succeeded", "Failed"):
        bench.snapshot.put_pod(world.validator(start.name, "state", phase=phase))
        yield bench.observation()


def allocatable(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("allocatable", {"resource": "acme.example/gpu"}, kinds=kinds)
    for offered in ("1", "0"):
        yield bench.observation(allocatable={"acme.example/gpu": offered})


def resource_slices(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("resource_slices", {"driver": "acme.example"}, kinds=kinds)
    for devices in ([{"name": "d-0"}], []):
        pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": "acme.example", "nodeName": "n1", "pool": pool, "devices": devices}
        bench.snapshot.feed(RESOURCE_SLICES).put_all([{"metadata": {"name": "a"}, "spec": spec}])
        yield bench.observation()


def logs(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("logs", {"match": "^ready"}, kinds=kinds)
    yield from answered(bench, "ready", "starting")


def node_labels(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("node_labels", {"equal": {"acme.example/count": "8"}}, kinds=kinds)
    for labels in ({"acme.example/count": "8"}, {"acme.example/count": "7"}):
        yield bench.observation(labels=labels)


def resource(kinds: Kinds) -> Iterator[Verdict]:
    named = {"api_version": "v1", "kind": "ConfigMap", "name": "settings"}
    bench = Bench("resource", named, kinds=kinds)
    for found in ([{"metadata": {"name": "settings"}}], []):
        bench.snapshot.feed(Watched("v1", "ConfigMap", "demo")).put_all(found)
        yield bench.observation(on_node=False)


def build(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("build", {"name": "kmod"}, kinds=kinds)
    config = {"metadata": {"name": "kmod"}, "status": {"lastVersion": 1}}
    bench.snapshot.feed(Watched(BUILDS, "BuildConfig", "demo")).put_all([config])
    for phase in ("Complete", "Failed"):
        built = {"metadata": {"name": "kmod-1"}, "status": {"phase": phase}}
        bench.snapshot.feed(Watched(BUILDS, "Build", "demo")).put_all([built])
        yield bench.observation(on_node=False)


def metrics(kinds: Kinds) -> Iterator[Verdict]:
    bench = Bench("metrics", {"port": 9400, "series": ["gpu_temp"]}, kinds=kinds)
    yield from answered(bench, 'gpu_temp{gpu="0"} 42', "gpu_temperature 42")


def answered(bench: Bench, *texts: str) -> Iterator[Verdict]:
    """What is said of a pod with each of these answers to what is asked of it."""
    bench.snapshot.put_pod(world.pod("state"))
    bench.observation()
    (question,) = bench.wants
    for text in texts:
        bench.snapshot.answers[question] = QueryResult(text, NOW)
        yield bench.observation()


# Each one yields the verdicts on a cluster where the proof should hold, and on one where not.
CASES: Mapping[str, Callable[[Kinds], Iterator[Verdict]]] = {
    case.__name__: case
    for case in (
        image,
        rollout,
        workload,
        allocatable,
        resource_slices,
        logs,
        node_labels,
        resource,
        build,
        metrics,
    )
}


def lacking(kinds: Kinds, cases: Mapping[str, Callable[[Kinds], Iterator[Verdict]]]) -> set[str]:
    """What is not shown of each kind, in words."""
    found = set()
    for name, kind in kinds.items():
        verdicts = list(cases[name](kinds)) if name in cases else []
        if not any(verdict.passed for verdict in verdicts):
            found.add(f"{name} never holds")
        if not any(verdict.reason in kind.reasons for verdict in verdicts if not verdict.passed):
            found.add(f"{name} never fails for a reason of its own")
    return found


def test_each_kind_holds_somewhere_and_fails_elsewhere() -> None:
    found = lacking(KINDS, CASES)
    assert found == set(), (
        f"{sorted(found)}: add to CASES here a function with the name of the kind, which yields the "
        "verdicts on a cluster where it holds and on one where it does not"
    )


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_of_the_node_agent_that_always_says_the_same_is_found(
    name: str, answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CONDITIONS, name, lambda _node, _settings: answer)
    with pytest.raises(AssertionError, match=r"node_conditions\.py"):
        list(CASES[name](KINDS))


def kind_that_says(verdict: Verdict) -> ProofKind[Any]:
    """A kind of proof that says the same of every node."""
    return replace(KINDS["allocatable"], name="added", evaluate=lambda _observation: verdict)


REFUSED = Verdict(Outcome.TROUBLE, "NotAdvertised", "never")


@pytest.mark.parametrize(
    ("verdict", "found"),
    [
        (PASSED, {"added never fails for a reason of its own"}),
        (REFUSED, {"added never holds"}),
        (
            replace(REFUSED, reason="Unheard"),
            {"added never holds", "added never fails for a reason of its own"},
        ),
    ],
)
def test_a_kind_that_always_says_the_same_is_found(verdict: Verdict, found: set[str]) -> None:
    kinds = {**KINDS, "added": kind_that_says(verdict)}

    def added(kinds: Kinds) -> Iterator[Verdict]:
        bench = Bench("added", {"resource": "acme.example/gpu"}, kinds=kinds)
        for offered in ("1", "0"):
            yield bench.observation(allocatable={"acme.example/gpu": offered})

    assert lacking(kinds, {**CASES, "added": added}) == found


def test_a_kind_without_cases_is_found() -> None:
    kinds = {**KINDS, "added": kind_that_says(PASSED)}
    assert lacking(kinds, CASES) == {
        "added never holds",
        "added never fails for a reason of its own",
    }


CONFIG = {"api_version": "v1", "kind": "ConfigMap", "name": "settings"}


@pytest.mark.parametrize(
    ("name", "spec", "for_the_cluster"),
    [
        ("allocatable", {"resource": "acme.example/gpu"}, False),
        ("resource", {**CONFIG, "scope": "node"}, False),
        ("resource", CONFIG, True),
        ("rollout", {}, True),
        ("build", {"name": "kmod"}, True),
    ],
)
def test_a_proof_about_nodes_has_no_verdict_for_the_cluster(
    name: str, spec: dict[str, Any], for_the_cluster: bool
) -> None:
    kind, proof = KINDS[name], Proof(name, spec)
    assert kind.counts_on(proof, ProofTarget(world.node(), GROUP, "", NOW))
    assert kind.counts_on(proof, ProofTarget(None, "", "", NOW)) is for_the_cluster


def test_a_kind_cannot_ask_for_a_node_where_there_is_none() -> None:
    with pytest.raises(LookupError, match="a proof of state state is about the cluster"):
        Bench("allocatable", {"resource": "acme.example/gpu"}).observation(on_node=False)
