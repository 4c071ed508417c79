# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Upgrades and remedies as whole tasks: what is refused before the first node is cordoned, and what is
left when they end."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface import arguments
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades import (
    remedy_run,
    upgrade_run,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.fleet_exchange import (
    FleetExchange,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.upgrades.test_exchange_requests import (
    upgrade,
)

__all__ = ["fake"]

TASKS = (
    (upgrade_run.TASK, arguments.DRIVER_UPGRADE),
    (remedy_run.TASK, arguments.NODE_REMEDY),
)
MARK = "hardware-enablement.io/toy.upgrade"
QUARANTINED = {"phase": "quarantined", "target": "v", "since": "2026-01-01T00:00:00Z"}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """The toy recipe is enabled on one node, whose driver is of the version before."""
    node = runs.card_node(card="yes")
    made = ScriptedCluster(fake, {**node, "spec": {}})
    runs.run(apply.TASK, arguments.STATE_APPLY, fake)
    (driver,) = made.objects["daemonsets"].values()
    driver["metadata"]["generation"] = 1
    driver["spec"]["updateStrategy"] = {"type": "OnDelete"}
    made.put("daemonsets", {**driver, "status": {"observedGeneration": 1}})
    for number, version in enumerate(("v1", "v2")):
        made.put("controllerrevisions", revision(driver, version, number))
    made.put("pods", driver_pod(driver))
    # That run has ended.
    made.objects["leases"].clear()
    made.writes.clear()
    return made


def revision(daemonset: Obj, version: str, number: int) -> Obj:
    """A version of a DaemonSet that the cluster keeps."""
    metadata = {
        "name": version,
        "namespace": "toy",
        "labels": {"controller-revision-hash": version},
        "ownerReferences": [{"uid": daemonset["metadata"]["uid"], "controller": True}],
    }
    return {"metadata": metadata, "revision": number, "data": {}}


def driver_pod(daemonset: Obj) -> Obj:
    """Its pod on the node, of the version before."""
    labels = daemonset["spec"]["template"]["metadata"]["labels"]
    metadata = {
        "name": "driver-1",
        "namespace": "toy",
        "labels": {**labels, "controller-revision-hash": "v1"},
        "ownerReferences": [
            {"kind": "DaemonSet", "uid": daemonset["metadata"]["uid"], "controller": True}
        ],
    }
    spec = {"nodeName": "n1", "containers": [{"name": "main", "image": "i"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": spec,
        "status": {"phase": "Running"},
    }


def hurried() -> RunContext:
    """Of a run for which time flies, so that nothing is waited for."""
    seconds = itertools.count(int(world.NOW), 20)
    return RunContext(run_id="run-1", clock=lambda: float(next(seconds)))


def deny(cluster: ScriptedCluster, wanted: Obj) -> None:
    """Take one right from the user."""

    def review(asked: Asked) -> Answer | None:
        if not asked.path.split("?")[0].endswith("selfsubjectaccessreviews"):
            return None
        about = json.loads(asked.body)["spec"]["resourceAttributes"]
        said = {key: about[key] for key in ("resource", "subresource", "namespace", "verb")}
        return 201, {}, {"status": {"allowed": said != wanted}}

    cluster.refuse = review


def right(verb: str, resource: str, namespace: str = "", subresource: str = "") -> Obj:
    """One right."""
    return {
        "verb": verb,
        "resource": resource,
        "namespace": namespace,
        "subresource": subresource,
    }


@pytest.mark.parametrize("task", TASKS, ids=("upgrade", "remedy"))
@pytest.mark.parametrize(
    ("lacking", "said"),
    [
        (right("create", "pods", subresource="eviction"), "create pods/eviction"),
        (right("watch", "pods"), "watch pods"),
        (right("create", "pods", "toy"), "create pods in toy"),
        (right("delete", "pods", "toy"), "delete pods in toy"),
        (right("get", "nodes"), "get nodes"),
        (right("patch", "nodes"), "patch nodes"),
        (right("patch", "specialresources"), "patch specialresources"),
        (
            right("patch", "specialresources", subresource="status"),
            "patch specialresources/status",
        ),
    ],
)
def test_each_right_is_asked_for_before_the_first_node_is_cordoned(
    fake: FakeServer, cluster: ScriptedCluster, task: Any, lacking: Obj, said: str
) -> None:
    deny(cluster, lacking)
    with pytest.raises(EnablementError) as caught:
        runs.run(task[0], task[1], fake, hurried())
    assert caught.value.why.startswith(f"may not {said}")
    assert cluster.writes == []


@pytest.mark.parametrize("task", TASKS, ids=("upgrade", "remedy"))
def test_who_starts_validation_pods_has_to_be_allowed_to_clear_them(
    fake: FakeServer, cluster: ScriptedCluster, task: Any
) -> None:
    files = {
        **runs.FILES,
        "recipe.yml": runs.FILES["recipe.yml"].replace(
            "[{rollout: {}}]", "[{rollout: {}}, {workload: {pod: check.yaml.j2, resource: null}}]"
        ),
        "check.yaml.j2": "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: main, image: i}]}\n",
    }
    deny(cluster, right("deletecollection", "pods", "toy"))
    with pytest.raises(EnablementError, match="may not deletecollection pods in toy"):
        runs.run(task[0], task[1], fake, hurried(), bundle=files)
    assert cluster.writes == []


def test_an_option_that_differs_from_what_is_deployed_is_refused(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    files = {
        **runs.FILES,
        "recipe.yml": runs.FILES["recipe.yml"].replace(
            "  token:", "  level: {type: int, default: 1}\n  token:"
        ),
    }
    with pytest.raises(InvalidInput, match="option level is given as 2, and 1 is deployed"):
        runs.run(*TASKS[0], fake, hurried(), bundle=files, options={"level": 2})
    assert cluster.writes == []


def closed() -> Obj:
    """A maintenance window that is closed at NOW, which is 8 o'clock."""
    return {"start": "01:00", "end": "02:00"}


def test_outside_the_window_a_task_begins_no_node_and_gives_its_lock_back(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    result = runs.run(*TASKS[0], fake, hurried(), maintenance_window=closed())
    assert result["stopped"].startswith("the maintenance window is 01:00 to 02:00 UTC")
    assert "unschedulable" not in cluster.objects["nodes"]["n1"]["spec"]
    assert cluster.deleted == []
    assert cluster.objects["leases"]["toy"]["spec"]["holderIdentity"] == ""


def test_check_mode_releases_nobody_from_quarantine(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    node = cluster.objects["nodes"]["n1"]
    node["metadata"]["annotations"][MARK] = json.dumps(QUARANTINED)
    checking = RunContext(check_mode=True, run_id="run-2", clock=lambda: world.NOW)
    runs.run(*TASKS[1], fake, checking, release=["n1"])
    assert cluster.writes == []


@pytest.mark.parametrize("phase", ["quarantined", "upgrading"])
def test_only_a_quarantine_is_released_and_with_the_lock(
    fake: FakeServer, cluster: ScriptedCluster, phase: str
) -> None:
    node = cluster.objects["nodes"]["n1"]
    said = {**QUARANTINED, "phase": phase, "fault": "XID 79"}
    node["metadata"]["annotations"][MARK] = json.dumps(said)
    settings: Any = SimpleNamespace(released=frozenset({"n1"}))
    desired: Any = SimpleNamespace(recipe=SimpleNamespace(name="toy"))
    context = RunContext(run_id="run-1", clock=lambda: world.NOW)
    remedy_run._release(fake.client(), settings, desired, context)
    now = json.loads(node["metadata"]["annotations"][MARK])
    assert (now["phase"], "fault" in now) == (phase, phase == "upgrading")
    assert cluster.writes == ["POST leases/toy", "PATCH nodes/n1"]


def test_a_fault_of_a_node_that_is_not_the_recipe_s_does_nothing_there(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.put("nodes", {**runs.card_node("n2"), "spec": {}})
    told: list[str] = []
    context = replace(hurried(), notice=told.append)
    runs.run(*TASKS[1], fake, context, faults=[{"node": "n2", "fault": "XID 79"}])
    assert "n2 is no node of toy, and nothing is done there" in told
    assert cluster.objects["nodes"]["n2"]["metadata"]["annotations"] == {}
    assert cluster.objects["leases"]["toy"]["spec"]["holderIdentity"] == ""


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({}, "the record knows no version that was proven"),
        (
            {
                "proven": {"recipe": "1", "options": {}, "since": "t"},
                "versions": {"recipe": "2"},
            },
            "what was proven was version 1 of the recipe, and this is 2: install",
        ),
    ],
)
def test_a_way_back_that_nobody_knows_is_not_gone(
    fake: FakeServer, cluster: ScriptedCluster, status: Obj, why: str
) -> None:
    cluster.objects["specialresources"]["toy"]["status"] = status
    failed: Any = SimpleNamespace(outcome=SimpleNamespace(changed=frozenset({"n1"})))
    context = RunContext(run_id="run-1", clock=lambda: world.NOW)
    found = upgrade_run._roll_back(
        fake.client(), cast(FleetExchange, failed), upgrade(rollback=True), context
    )
    assert not found["rolled_back"]
    assert found["rollback"].startswith(why)
    assert cluster.writes == []


def test_the_way_back_is_of_the_nodes_that_had_changed_and_of_no_other(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    (driver,) = cluster.objects["daemonsets"].values()
    cluster.put("nodes", {**runs.card_node("n2", card="yes"), "spec": {}})
    other = driver_pod(driver)
    other["metadata"]["name"], other["spec"]["nodeName"] = "driver-2", "n2"
    cluster.put("pods", other)
    proven = {"recipe": "1", "options": {}, "pools": [], "images": [], "since": "t"}
    status = {"proven": proven, "versions": {"recipe": "1"}}
    cluster.objects["specialresources"]["toy"]["status"] = status
    failed: Any = SimpleNamespace(outcome=SimpleNamespace(changed=frozenset({"n1"})))
    asked = upgrade(rollback=True, host=fake.url, api_key="secret")
    upgrade_run._roll_back(fake.client(), cast(FleetExchange, failed), asked, hurried())
    # The driver of n2 waits for a restart as that of n1 does.
    assert cluster.deleted == ["driver-1"]
