# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What comes after the walk, clean-up and record, costs no result where the API server refuses it,
and is said."""

from __future__ import annotations

import json
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import quote

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.reading import (
    PAGE_ITEMS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    VALIDATION_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    DeviceAccess,
    RecipeDevices,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states import validate
from ansible_collections.hardware.enablement.plugins.module_utils._states.desired import Desired
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.strays import (
    MembershipRequest,
    Strays,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.proof_request import (
    ProofRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.record_memory import (
    RecordMemory,
)
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
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.test_loop import (
    GPU,
    OFFERS,
    READY,
    SELECTOR,
    WAITING,
    gpu_node,
    plan_of,
)

__all__ = ["fake"]


class Held:
    """A lock that is always held."""

    def before_write(self) -> None:
        """Nothing to take."""

    keep = before_write


def prove(
    fake: FakeServer,
    nodes: list[Obj],
    rivals: Sequence[str] = (),
    known: Obj | None = None,
    **params: Any,
) -> Obj:
    """The result of a walk over these nodes, which does what validation does before and after it."""
    state = SimpleNamespace(name="plugin", per=(), image="", build="")
    devices = RecipeDevices(resources=("example.com/gpu",))
    recipe = SimpleNamespace(name="demo", states={"plugin": state}, devices=devices)
    grouping = Grouping()
    members = [world.NodeFacts.from_object(node) for node in nodes]
    groups = grouping.groups(members)
    desired = SimpleNamespace(
        client=fake.client(),
        recipe=recipe,
        nodes=nodes,
        members=members,
        strays=Strays(SELECTOR),
        membership=MembershipRequest(),
        rival_plugins=list(rivals),
        runtime_gates=(),
        record=known,
        record_memory=RecordMemory.of("demo", known),
        plans=[plan_of(OFFERS)],
        plans_with=lambda _more: [plan_of(OFFERS)],
        prepared=SimpleNamespace(
            recipe=recipe,
            selector=SELECTOR,
            namespace="demo",
            grouping=grouping,
            serves=GPU.__eq__,
            by_nodes=False,
            facets=frozenset(),
            device_access=DeviceAccess(),
            options={},
        ),
        discovery=SimpleNamespace(
            grouping=grouping,
            groups=groups,
            node_groups=groups,
            nfd={"message": ""},
            group_of={name: group.id for group in groups for name in group.nodes},
        ),
    )
    given = ProofRequest(wait=True, failure_grace=0, report="all", **params)
    return validate.prove(
        cast(Desired, desired),
        cast(Any, [state]),
        given,
        RunContext(),
        cast(Guard, Held()),
        later=None,
    )


def test_a_refused_clean_up_is_said_and_costs_no_result(fake: FakeServer) -> None:
    node = gpu_node("n1", READY)
    cluster = ScriptedCluster(fake, node)
    cluster.put("pods", world.validator("validate-plugin-1", "plugin"))
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no deletions") if asked.method == "DELETE" else None
    )
    result = prove(fake, [node])
    assert (result["phase"], result["nodes_ready"], result.get("failed")) == ("ready", 1, None)
    [said] = result["unfinished"]
    assert "no deletions" in said
    assert any(said in line for line in result["table"])
    assert len([asked for asked in fake.asked if asked.method == "DELETE"]) == 2


def no_records(asked: Asked) -> Answer | None:
    """What the API server says to who may not touch records."""
    return refusal(403, "Forbidden", "no records") if "specialresources" in asked.path else None


def reasons(fake: FakeServer) -> list[str]:
    """The reasons of the Events that were written."""
    made = [asked for asked in fake.asked if asked.method == "POST" and "/events" in asked.path]
    return [json.loads(asked.body)["reason"] for asked in made]


def test_a_record_that_cannot_be_written_fails_the_run_and_keeps_its_results(
    fake: FakeServer,
) -> None:
    node = gpu_node("n1", READY)
    ScriptedCluster(fake, node).refuse = no_records
    result = prove(fake, [node], record=True)
    assert (result["phase"], result["nodes_ready"], result["failed"]) == ("ready", 1, True)
    assert "no records" in result["msg"]


@pytest.mark.parametrize(
    ("known", "recorded", "said"),
    [(None, True, 0), ({"spec": {}}, True, 0), ({"status": {"phase": "ready"}}, True, 1)]
    + [(None, False, 1)],
)
def test_a_node_says_that_it_is_ready_where_no_first_event_of_the_record_does(
    fake: FakeServer, known: Obj | None, recorded: bool, said: int
) -> None:
    node = gpu_node("n1", READY)
    ScriptedCluster(fake, node).refuse = no_records
    prove(fake, [node], known=known, record=recorded)
    assert reasons(fake) == ["HardwareReady"] * said


def test_a_label_that_somebody_took_off_comes_back_without_an_event(fake: FakeServer) -> None:
    node = gpu_node("n1", READY)
    cluster = ScriptedCluster(fake, node)
    cluster.refuse = no_records
    known = {"status": {"phase": "ready"}}
    prove(fake, [node], known=known, record=True)
    assert cluster.labels("n1")["demo"] == "ready"
    asked = len(reasons(fake))
    del node["metadata"]["labels"]["hardware-enablement.io/demo"]
    prove(fake, [node], known=known, record=True)
    assert (cluster.labels("n1")["demo"], len(reasons(fake))) == ("ready", asked)


def test_what_is_not_ready_in_a_first_run_is_said_on_its_node(fake: FakeServer) -> None:
    node = gpu_node("n1", WAITING)
    ScriptedCluster(fake, node).refuse = no_records
    prove(fake, [node], record=True)
    assert reasons(fake) == ["HardwareFailed"]


def test_pods_of_nodes_that_left_go_and_failed_ones_where_their_state_is_proven(
    fake: FakeServer,
) -> None:
    nodes = [gpu_node("n1", READY), gpu_node("n2", WAITING)]
    cluster = ScriptedCluster(fake, *nodes)
    # d was for a node that has left, and another one has its name and is proven.
    pods = (
        ("a", "n1", "Failed"),
        ("kept", "n2", "Failed"),
        ("b", "gone", "Running"),
        ("c", "gone", "Pending"),
        ("d", "n1", "Running"),
    )
    for name, place, phase in pods:
        cluster.put("pods", world.validator(name, "plugin", place, phase))
    prove(fake, nodes)
    assert sorted(cluster.deleted) == ["a", "b", "c", "d"]


def test_pods_that_have_done_their_work_go_together_and_are_not_read(fake: FakeServer) -> None:
    nodes = [gpu_node("n1", READY), gpu_node("n2", WAITING)]
    cluster = ScriptedCluster(fake, *nodes)
    for name, place, phase in (("a", "n1", "Succeeded"), ("b", "n1", "Succeeded")):
        cluster.put("pods", world.validator(name, "plugin", place, phase))
    cluster.put("pods", world.validator("kept", "plugin", "n2", "Failed"))
    prove(fake, nodes)
    assert (cluster.deleted, cluster.objects["pods"].keys()) == (["all pods"], {"kept"})
    # As many as two for each node: in full they would be most of a run's memory.
    chosen = [asked for asked in fake.asked if quote(VALIDATION_LABEL, safe="") in asked.path]
    in_full = [asked for asked in chosen if "PartialObjectMetadata" not in asked.headers["Accept"]]
    assert [asked for asked in in_full if quote("!=Succeeded") not in asked.path] == []
    assert len(chosen) == 3


def test_thousands_of_pods_go_in_requests_that_end_in_time(fake: FakeServer) -> None:
    node = gpu_node("n1", READY)
    cluster = ScriptedCluster(fake, node)
    for number in range(2 * PAGE_ITEMS + 1):
        cluster.put("pods", world.validator(f"pod-{number}", "plugin"))
    prove(fake, [node])
    assert (cluster.deleted, cluster.objects["pods"]) == (["all pods"] * 3, {})
    requests = [asked.path for asked in fake.asked if asked.method == "DELETE"]
    assert all(f"limit={PAGE_ITEMS}" in path for path in requests)


def test_a_node_that_left_is_named_and_counts_nowhere(fake: FakeServer) -> None:
    nodes = [gpu_node("n1", READY), gpu_node("n2", WAITING)]
    cluster = ScriptedCluster(fake, *nodes)
    cluster.on_watch = lambda: (
        cluster.remove("nodes", "n2") if "n2" in cluster.objects["nodes"] else None
    )
    result = prove(fake, nodes)
    assert (result["nodes_total"], result["nodes_ready"], result["left"]) == (1, 1, ["n2"])
    assert [(group["ready"], group["total"]) for group in result["states"][0]["groups"]] == [(1, 1)]
    assert "~ left during the run: n2" in result["table"]
    assert "failed" not in result


@pytest.mark.parametrize(
    ("on_regress", "held", "gate"),
    [("keep", False, "degraded"), ("withdraw", False, None), ("withdraw", True, "degraded")],
)
def test_on_regress_decides_about_the_gate(
    fake: FakeServer, on_regress: str, held: bool, gate: str | None
) -> None:
    node = gpu_node("n1", WAITING, labels={"hardware-enablement.io/demo.plugin": "ready"})
    cluster = ScriptedCluster(fake, node)
    if held:
        container = {"name": "c", "resources": {"limits": {GPU: "1"}}}
        spec = {"nodeName": "n1", "containers": [container]}
        cluster.put("pods", {"metadata": {"name": "theirs", "namespace": "a"}, "spec": spec})
    assert prove(fake, [node], on_regress=on_regress)["failed"]
    assert cluster.labels("n1").get("demo.plugin") == gate


def test_a_device_plugin_beside_ours_is_named(fake: FakeServer) -> None:
    node = gpu_node("n1", READY)
    ScriptedCluster(fake, node)
    result = prove(fake, [node], rivals=["DaemonSet theirs/plugin"])
    assert result["message"].endswith(
        "; example.com/gpu is served by another device plugin, too: DaemonSet theirs/plugin"
    )
    assert any(
        "! DaemonSet theirs/plugin serves the same resource" in line for line in result["table"]
    )
