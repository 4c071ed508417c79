# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""node_partition against a scripted API server: what others do at the same time, and what stays."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Conflict,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NODE_PARTITION,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply, partition
from ansible_collections.hardware.enablement.plugins.module_utils._states.priority_classes import (
    PriorityClass,
    class_objects,
    default_classes,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]

TAINT = {"key": runs.RESOURCE, "value": "kept", "effect": "NoSchedule"}
OTHER = {
    "key": "node.kubernetes.io/not-ready",
    "effect": "NoExecute",
    "timeAdded": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A cluster with two nodes in which the recipe was enabled with a secret."""
    found = ScriptedCluster(
        fake, runs.card_node("n1", card="yes"), runs.card_node("n2", card="yes")
    )
    found.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}})
    runs.run(apply.TASK, STATE_APPLY, fake, adopt=True, options={"token": "hush"})
    found.writes.clear()
    return found


def run(fake: FakeServer, context: RunContext | None = None, **given: Any) -> Obj:
    return runs.run(partition.TASK, NODE_PARTITION, fake, context, **given)


def meddle(cluster: ScriptedCluster, times: int) -> None:
    """Somebody taints n1 in the moment before its patch comes, so many times."""
    left = [times]

    def observe(asked: Any) -> None:
        if asked.method == "PATCH" and asked.path.startswith("/api/v1/nodes/n1") and left[0]:
            left[0] -= 1
            node = cluster.objects["nodes"]["n1"]
            node.setdefault("spec", {})["taints"] = [OTHER]
            cluster.put("nodes", node)

    cluster.refuse = observe  # type: ignore[assignment]


def _record_of(asked: Any) -> Obj | None:
    """The record that a request applies."""
    body = json.loads(asked.body) if asked.method == "PATCH" else {}
    return body if isinstance(body, dict) and body.get("kind") == "SpecialResource" else None


def taints(cluster: ScriptedCluster, node: str) -> list[Obj]:
    return list(cluster.objects["nodes"][node].get("spec", {}).get("taints", []))


def test_what_somebody_does_in_the_same_moment_is_kept(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    meddle(cluster, 1)
    assert run(fake, taints=[TAINT])["nodes"] == ["n1", "n2"]
    assert taints(cluster, "n1") == [OTHER, TAINT]
    assert taints(cluster, "n2") == [TAINT]


def test_who_never_stops_is_told_of(fake: FakeServer, cluster: ScriptedCluster) -> None:
    meddle(cluster, 100)
    with pytest.raises(Conflict):
        run(fake, taints=[TAINT])
    # The others are done, and the next run does the rest.
    assert taints(cluster, "n2") == [TAINT]
    meddle(cluster, 0)
    assert run(fake)["nodes"] == ["n1"]


def test_a_secret_need_not_be_given_again_and_stays(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    before = dict(cluster.objects["specialresources"]["toy"]["spec"])
    assert before["secretOptions"] == ["token"]
    run(fake, taints=[TAINT])
    assert cluster.objects["specialresources"]["toy"]["spec"] == {**before, "taints": [TAINT]}
    assert run(fake, taints=[TAINT])["changed"] is False


def test_a_taint_that_own_pods_do_not_tolerate_is_recorded_only(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    foreign = {"key": "team", "effect": "NoSchedule"}
    found = run(fake, taints=[TAINT, foreign])
    assert found["untolerated"] == ["team=:NoSchedule"]
    assert taints(cluster, "n1") == [TAINT]
    runs.run(apply.TASK, STATE_APPLY, fake, options={"token": "hush"})
    assert run(fake)["untolerated"] == []
    assert taints(cluster, "n1") == [TAINT, foreign]
    # What is there stays, also where somebody has changed a DaemonSet.
    for daemonset in cluster.objects["daemonsets"].values():
        daemonset["spec"]["template"]["spec"]["tolerations"] = []
    assert run(fake)["nodes"] == []


def test_check_mode_and_refusals_write_nothing(fake: FakeServer, cluster: ScriptedCluster) -> None:
    dry = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    assert run(fake, dry, taints=[TAINT], soft=True)["changed"]
    with pytest.raises(InvalidInput, match="its effect is NoExecute"):
        run(fake, taints=[{**TAINT, "effect": "NoExecute"}])
    started = {"key": "hardware-enablement.io/toy", "value": "pending", "effect": "NoSchedule"}
    with pytest.raises(InvalidInput, match="is no taint to partition by"):
        run(fake, taints=[started])
    cluster.denied = {("patch", "nodes")}
    with pytest.raises(EnablementError, match="may not patch nodes; nothing was written"):
        run(fake, taints=[TAINT])
    cluster.denied = set()
    cluster.objects["nodes"]["n2"]["spec"] = {"taints": [{**TAINT, "value": "theirs"}]}
    with pytest.raises(EnablementError, match="cannot be put on n2"):
        run(fake, taints=[TAINT])
    assert cluster.writes == []


def test_a_priority_class_of_somebody_else_is_avoided_by_what_this_playbook_takes(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    theirs = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    cluster.put("priorityclasses", {**theirs, "metadata": {"name": "toy-high-priority"}})
    with pytest.raises(EnablementError) as caught:
        run(fake, taints=[TAINT], soft=True)
    text = str(caught.value)
    assert text.endswith("; remove it, or give other names (partitioning_priority_classes).")
    named = [{"name": "mine", "value": 1}]
    assert run(fake, taints=[TAINT], soft=True, priority_classes=named)["priority_classes"] == [
        {"action": "create", "name": "mine"}
    ]


@pytest.mark.parametrize(
    ("tolerated", "namespace", "ends"),
    [([], "toy", True), ([{"operator": "Exists"}], "toy", False), ([], "theirs", False)],
)
def test_own_pods_are_never_ended_and_others_labels_stop_nobody(
    fake: FakeServer, cluster: ScriptedCluster, tolerated: list[Obj], namespace: str, ends: bool
) -> None:
    metadata = {"name": "driver-a", "namespace": namespace, "labels": {RECIPE_LABEL: "toy"}}
    spec = {"nodeName": "n1", "tolerations": tolerated, "containers": []}
    cluster.put("pods", {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
    evicting = {"taints": [{**TAINT, "effect": "NoExecute"}], "no_execute": True}
    if ends:
        with pytest.raises(EnablementError, match=r"would end 1 pods of toy itself .*driver-a"):
            run(fake, **evicting)
        assert cluster.writes == []
    else:
        assert run(fake, **evicting)["nodes"] == ["n1", "n2"]


def test_absent_takes_all_of_ours(fake: FakeServer, cluster: ScriptedCluster) -> None:
    run(fake, taints=[TAINT], soft=True)
    assert len(cluster.objects["priorityclasses"]) == 2
    # A node that has lost the hardware's labels is found by what it carries.
    cluster.objects["nodes"]["n1"]["metadata"]["labels"].pop("card")
    run(fake, state="absent")
    assert (taints(cluster, "n1"), taints(cluster, "n2")) == ([], [])
    assert cluster.objects["priorityclasses"] == {}
    applied = [body for asked in fake.asked if (body := _record_of(asked))]
    assert "taints" not in applied[-1]["spec"]


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ([PriorityClass("a", 1), PriorityClass("a", 2)], "it is given twice"),
        ([PriorityClass("a", 2_000_000_000)], "which is the cluster's own"),
    ],
)
def test_classes_that_cannot_be(entries: list[PriorityClass], why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        class_objects(entries, "toy", "x")


def test_no_class_is_everybodys() -> None:
    assert not any(
        made["globalDefault"] for made in class_objects(default_classes("toy"), "toy", "x")
    )
