# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What status says of others' doings at what is deployed, and of what it says nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    FIELD_MANAGER,
    PART_OF_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    STATE_APPLY,
    STATE_VALIDATE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply, validate
from ansible_collections.hardware.enablement.plugins.module_utils._states.drift import tell_drift
from ansible_collections.hardware.enablement.plugins.module_utils._states.proof_report import (
    find_outdated,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.record_memory import (
    RecordMemory,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import timestamp
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

__all__ = ["fake"]

Happening = Callable[[ScriptedCluster], object]


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """Enabled, and a run has said in the record that it found everything ready."""
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"))
    cluster.refuse = without_events
    runs.run(apply.TASK, STATE_APPLY, fake)
    runs.run(validate.TASK, STATE_VALIDATE, fake, record=True, wait=False, require_ready=False)
    for state in record(cluster)["status"]["states"]:
        state.update(phase="ready", ready=1)
    cluster.writes.clear()
    return cluster


def without_events(asked: Asked) -> Answer | None:
    """Nobody has complained of anything."""
    is_it = asked.method == "GET" and "/events?" in asked.path
    return (200, {}, {"kind": "EventList", "metadata": {}, "items": []}) if is_it else None


def record(cluster: ScriptedCluster) -> Obj:
    return cluster.objects["specialresources"]["toy"]


def look(fake: FakeServer, **given: Any) -> Obj:
    """What status finds."""
    context = RunContext(check_mode=True, clock=lambda: world.NOW)
    given |= {"wait": False, "require_ready": False}
    return runs.run(validate.TASK, STATE_VALIDATE, fake, context, **given)


def drift(fake: FakeServer) -> dict[str, str]:
    """object -> what has happened to it."""
    return {row["object"]: row["drift"] for row in look(fake)["drift"]}


def body_of(asked: Asked) -> Obj:
    found: Obj = json.loads(asked.body)
    return found


def write_as(manager: str, obj: Obj, fields: Obj) -> None:
    """Somebody has these fields of an object by now; the others are ours."""
    ours = {"manager": FIELD_MANAGER, "time": timestamp(world.NOW - 600)}
    theirs = {"manager": manager, "time": timestamp(world.NOW - 300), "fieldsV1": fields}
    labels = {f"f:{name}": {} for name in obj["metadata"]["labels"]}
    rest = {"f:metadata": {"f:labels": labels}}
    obj["metadata"]["managedFields"] = [{**ours, "fieldsV1": rest}, theirs]


def rewrite(cluster: ScriptedCluster) -> None:
    obj = cluster.objects["configmaps"]["report"]
    obj["data"] = {"kept": "no"}
    write_as("flux", obj, {"f:data": {"f:kept": {}}})


def extend(cluster: ScriptedCluster) -> None:
    obj = cluster.objects["configmaps"]["report"]
    write_as("argocd", obj, {"f:metadata": {"f:labels": {"f:argocd.argoproj.io/instance": {}}}})


def delete(cluster: ScriptedCluster) -> None:
    del cluster.objects["configmaps"]["report"]


REPORT = "ConfigMap toy/report"


@pytest.mark.parametrize(
    ("happening", "found", "line"),
    [
        (lambda _cluster: None, {}, ""),
        (rewrite, {REPORT: "changed"}, f"! {REPORT} changed by flux 5 min ago: data.kept"),
        (delete, {REPORT: "missing"}, f"! {REPORT} missing"),
        (
            extend,
            {REPORT: "extended"},
            f"~ {REPORT} extended by argocd 5 min ago: metadata.labels.argocd.argoproj.io/instance",
        ),
    ],
)
def test_who_looks_learns_what_others_have_done_and_writes_nothing(
    fake: FakeServer,
    cluster: ScriptedCluster,
    happening: Happening,
    found: dict[str, str],
    line: str,
) -> None:
    happening(cluster)
    assert drift(fake) == found
    assert [text for text in look(fake)["table"] if "ConfigMap" in text] == [line] * bool(line)
    assert cluster.writes == []


def test_who_looks_at_one_node_learns_of_it_alone(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    (name,) = list(cluster.objects["nodes"])[:1]
    found = look(fake, node=name)
    assert found["table"][0].startswith(f"toy: node {name}, ")
    assert found["table"][1].startswith("! driver")
    assert ["STATE", "PHASE", "FOR", "REASON"] in [line.split() for line in found["table"]]
    assert look(fake, node="n-9")["table"] == ["toy: node n-9 is none of its nodes"]
    assert cluster.writes == []


def other_version(cluster: ScriptedCluster) -> None:
    record(cluster)["status"]["versions"]["recipe"] = "sha256:other"


def other_options(cluster: ScriptedCluster) -> None:
    record(cluster)["spec"]["selector"] = ["card=other"]


def broken_off(cluster: ScriptedCluster) -> None:
    record(cluster)["metadata"]["generation"] = 7


def never_begun(cluster: ScriptedCluster) -> None:
    record(cluster)["status"]["states"] = []


@pytest.mark.parametrize(
    "happening",
    [other_version, other_options, broken_off, never_begun, lambda c: record(c).pop("status")],
)
def test_what_a_run_has_not_made_yet_is_not_missing(
    fake: FakeServer, cluster: ScriptedCluster, happening: Happening
) -> None:
    delete(cluster)
    assert drift(fake) == {REPORT: "missing"}
    happening(cluster)
    assert drift(fake) == {}


def test_what_is_for_nodes_that_have_come_since_is_not_missing(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.put("nodes", runs.card_node("n2", "5.15.0-9", card="yes"))
    assert drift(fake) == {}
    (daemonset,) = list(cluster.objects["daemonsets"])
    cluster.remove("daemonsets", daemonset)
    assert drift(fake) == {f"DaemonSet toy/{daemonset}": "missing"}


def test_what_has_lost_our_label_is_found_by_its_name_and_no_run_touches_it(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    obj = cluster.objects["configmaps"]["report"]
    del obj["metadata"]["labels"][PART_OF_LABEL]
    write_as("argocd", obj, {})
    (row,) = look(fake)["drift"]
    assert (row["drift"], row["fields"]) == ("changed", [f"metadata.labels.{PART_OF_LABEL}"])
    assert row["todo"].startswith("give it its label applyset.kubernetes.io/part-of back")


def test_what_somebody_else_has_made_in_our_place_is_not_what_we_deployed(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    namespace = cluster.objects["namespaces"]["toy"]
    namespace["metadata"] = {"name": "toy", "uid": "u", "labels": {}}
    assert drift(fake) == {}


def test_labels_and_record_that_say_something_else_are_older_than_a_look(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    assert look(fake)["outdated"] == {}
    seen = record(cluster)["status"]["lastChecked"]
    mark = "hardware-enablement.io/toy"
    (name,) = cluster.objects["nodes"]
    cluster.objects["nodes"][name]["metadata"]["labels"][mark] = "driver.failed"
    assert look(fake)["outdated"] == {"nodes": [name], "record": "", "seen": seen}
    assert f"~ the labels of node {name} are older" in "\n".join(look(fake, node=name)["table"])
    record(cluster)["status"]["phase"] = "failed"
    found = look(fake)
    assert (found["phase"], found["outdated"]["record"]) == ("waiting", "failed")
    assert any("are older than this look" in line for line in found["table"])


def test_drift_alone_makes_no_record_older_since_no_run_writes_it() -> None:
    seen: Any = SimpleNamespace(
        record={"status": {"phase": "ready"}},
        record_memory=RecordMemory(seen="2027-01-15T05:00:00Z"),
    )
    assert find_outdated({"phase": "drifted"}, seen, {}) == {}
    assert find_outdated({"phase": "failed"}, seen, {})["record"] == "ready"


@pytest.mark.parametrize(
    ("manager", "tool"), [("argocd-controller", "Argo CD"), ("kustomize-controller", "Flux")]
)
def test_what_a_tool_keeps_from_a_repository_is_mended_there(
    fake: FakeServer, cluster: ScriptedCluster, manager: str, tool: str
) -> None:
    rewrite(cluster)
    write_as(manager, cluster.objects["configmaps"]["report"], {"f:data": {"f:kept": {}}})
    (row,) = look(fake)["drift"]
    assert row["todo"].startswith(f"write the folder that {tool} applies anew (playbook render)")
    said: list[str] = []
    context = RunContext(check_mode=True, clock=lambda: world.NOW, warning=said.append)
    runs.run(apply.TASK, STATE_APPLY, fake, context)
    (warning,) = said
    assert warning.startswith(
        f"{tool} applies {REPORT}, which this run changes, and will change it"
    )
    assert warning.endswith("applies anew (playbook render), and commit it")


def with_needs() -> Obj:
    """The recipe, with what its users' pods name, and what its own driver's pods do."""
    mounted = "volumes: [{name: report, configMap: {name: report}}], containers: ["
    driver = runs.FILES["driver.yaml.j2"].replace("containers: [", mounted)
    users = """\
---
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: toy}
handler: toy
"""
    return {
        **runs.FILES,
        "driver.yaml.j2": driver,
        "namespace.yaml.j2": runs.FILES["namespace.yaml.j2"] + users,
    }


def states(found: Obj) -> dict[str, tuple[str, str]]:
    """State -> phase and reason."""
    return {row["name"]: (row["phase"], row["reason"]) for row in found["states"]}


@pytest.mark.parametrize(
    ("kind", "name", "is_told"),
    [("runtimeclasses", "toy", True), ("configmaps", "report", True), ("services", "toy", False)],
)
def test_a_state_is_not_ready_whose_object_is_missing_that_pods_do_not_start_without(
    fake: FakeServer, kind: str, name: str, is_told: bool
) -> None:
    bundle = with_needs()
    service = "---\napiVersion: v1\nkind: Service\nmetadata: {name: toy}\nspec: {clusterIP: None}\n"
    bundle["report.yaml.j2"] += service
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"))
    cluster.refuse = without_events
    given: Obj = {"bundle": bundle, "wait": False, "require_ready": False}
    runs.run(apply.TASK, STATE_APPLY, fake, bundle=bundle)
    runs.run(validate.TASK, STATE_VALIDATE, fake, record=True, **given)
    for state in record(cluster)["status"]["states"]:
        state.update(phase="ready", ready=1)
    context = RunContext(check_mode=True, clock=lambda: world.NOW)
    before = runs.run(validate.TASK, STATE_VALIDATE, fake, context, **given)
    del cluster.objects[kind][name]
    found = runs.run(validate.TASK, STATE_VALIDATE, fake, context, **given)
    assert [row["drift"] for row in found["drift"]] == ["missing"]
    if is_told:
        assert (found["phase"], found["ready"]) == ("failed", False)
        assert states(found)["report"] == ("failed", "NotApplied")
        assert f"{name} is not in the cluster, and no pod that needs it starts" in found["message"]
    else:
        assert states(found) == states(before)
    # Of another version only what users name can be told.
    other_version(cluster)
    found = runs.run(validate.TASK, STATE_VALIDATE, fake, context, **given)
    assert [row["object"] for row in found["drift"]] == [
        row for row in ["RuntimeClass toy"] if kind == "runtimeclasses"
    ]
    cluster.objects["specialresources"]["toy"]["status"]["states"] = []
    assert runs.run(validate.TASK, STATE_VALIDATE, fake, context, **given)["drift"] == []


@pytest.mark.parametrize(
    ("what", "phase", "ready"),
    [("missing", "drifted", False), ("changed", "drifted", False), ("extended", "ready", True)],
)
def test_drift_is_a_phase_of_its_own_where_all_nodes_are_ready(
    what: str, phase: str, ready: bool
) -> None:
    report: dict[str, Any] = {"phase": "ready", "ready": True, "message": "all is well"}
    row = {"object": REPORT, "drift": what, "fields": [], "by": "", "since": "", "todo": "run"}
    tell_drift(report, [row], is_there=True)
    assert (report["phase"], report["ready"]) == (phase, ready)
    put_back: dict[str, Any] = {"phase": "ready", "ready": True, "message": "all is well"}
    tell_drift(put_back, [row], is_there=False)
    assert put_back == {"phase": "ready", "ready": True, "message": "all is well", "drift": [row]}
    worse: dict[str, Any] = {"phase": "failed", "ready": False, "message": "bad"}
    tell_drift(worse, [row], is_there=True)
    assert worse["phase"] == "failed"


def test_a_run_puts_back_what_others_have_done_and_says_so_in_record_and_event(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    rewrite(cluster)
    given: dict[str, Any] = {"record": True, "wait": True, "require_ready": False}
    result = runs.run(apply.TASK, STATE_APPLY, fake, failure_grace=0, timeout=0, **given)
    assert [row["put_back"] for row in result["report"]["drift"]] == [True]
    lines = result["report"]["table"]
    (line,) = [line for line in lines if REPORT in line]
    assert line.startswith(f"~ {REPORT} changed by flux")
    assert cluster.objects["configmaps"]["report"]["data"] == {"kept": "yes"}
    found = record(cluster)["status"]["drift"]
    since = timestamp(world.NOW - 300)
    row = {"object": REPORT, "drift": "changed", "fields": ["data.kept"], "by": "flux"}
    assert (found["count"], found["objects"]) == (1, [{**row, "since": since}])
    posted = [asked for asked in fake.asked if asked.method == "POST" and "/events" in asked.path]
    notes = {event["reason"]: event["note"] for event in map(body_of, posted)}
    what = f"not as it was deployed: {REPORT} (data.kept, flux)"
    assert notes["HardwareDrifted"] == f"toy was {what}; put back"
    seen = found["seen"]
    runs.run(apply.TASK, STATE_APPLY, fake, failure_grace=0, timeout=0, **given)
    assert record(cluster)["status"]["drift"]["seen"] == seen
