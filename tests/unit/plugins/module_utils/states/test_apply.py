# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""state_apply against a scripted API server: what comes before what, what is refused, and what stays."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    LockHeld,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NFD_INFO,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states import apply
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.discover import (
    TASK as NFD_INFO_TASK,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.charts.fake_helm import (
    put_on_path,
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
    refusal,
)

__all__ = ["fake"]

OTHER_KERNEL = "5.15.0-9"
REPORT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "report", "namespace": "toy"},
}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """One node with the hardware."""
    return ScriptedCluster(fake, runs.card_node(card="yes"))


def enable(fake: FakeServer, context: RunContext | None = None, **given: Any) -> Obj:
    return runs.run(apply.TASK, STATE_APPLY, fake, context, **given)


def enabled(fake: FakeServer, cluster: ScriptedCluster, **given: Any) -> None:
    """Enable, and forget that anything was written."""
    enable(fake, **given)
    cluster.writes.clear()


def at(cluster: ScriptedCluster, write: str, happens: Any) -> None:
    """Call this before the API server works on a write, once."""
    method, _space, rest = write.partition(" ")
    waiting = [happens]

    def observe(asked: Asked) -> Answer | None:
        is_it = (
            asked.method == method
            and f"/{rest}?" in f"{asked.path}?"
            and "dryRun" not in asked.path
        )
        return waiting.pop()() if waiting and is_it else None

    cluster.refuse = observe


def take_the_lock(cluster: ScriptedCluster) -> None:
    """What run_lock with force and another run do."""
    cluster.objects["leases"]["toy"]["spec"].update(holderIdentity="another")


def test_the_lock_comes_first_then_the_record_then_the_rest(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    assert enable(fake)["changed"]
    # The first Lease is refused: its namespace is made then.
    driver = f"driver-{runs.group_of(runs.card_node())}"
    assert cluster.writes == [
        "POST leases/toy",
        "POST namespaces/hardware-enablement",
        "POST leases/toy",
        "PATCH specialresources/toy",
        "PATCH namespaces/toy",
        "PATCH configmaps/report",
        f"PATCH daemonsets/{driver}",
    ]
    cluster.writes.clear()
    assert not enable(fake)["changed"]
    assert cluster.writes == []


def test_check_mode_writes_nothing(fake: FakeServer, cluster: ScriptedCluster) -> None:
    context = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)
    assert enable(fake, context)["changed"]
    Guard(fake.client(), "toy", context).before_write()
    assert cluster.writes == []


def test_the_lock_is_looked_at_again_while_it_is_held(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    at(cluster, "PATCH namespaces/toy", lambda: take_the_lock(cluster))
    with pytest.raises(LockHeld, match="lost its lock on toy"):
        enable(fake)
    assert cluster.writes[-1] == "PATCH namespaces/toy"


def test_another_runs_lock_is_respected(fake: FakeServer, cluster: ScriptedCluster) -> None:
    enabled(fake, cluster)
    take_the_lock(cluster)
    cluster.remove("configmaps", "report")
    with pytest.raises(LockHeld, match="Another run works on toy"):
        enable(fake)
    assert cluster.writes == []


def test_a_task_that_is_a_whole_run_gives_the_lock_back_after_an_error_too(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    at(cluster, "PATCH configmaps/report", lambda: refusal(403, "Forbidden"))
    with pytest.raises(EnablementError):
        enable(fake, wait=True)
    assert cluster.objects["leases"]["toy"]["spec"]["holderIdentity"] == ""


def test_all_rights_are_asked_for_before_the_first_write(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.denied = {("patch", "daemonsets"), ("create", "leases")}
    with pytest.raises(
        EnablementError, match=r"may not patch daemonsets.*; create leases.*nothing was written"
    ):
        enable(fake)
    assert cluster.writes == []


def test_an_object_in_two_states_is_found_before_the_first_write(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    twice = runs.FILES["recipe.yml"].replace("[driver.yaml.j2]", "[driver.yaml.j2, report.yaml.j2]")
    with pytest.raises(EnablementError, match="ConfigMap report"):
        enable(fake, states=["driver"], bundle={**runs.FILES, "recipe.yml": twice})
    assert cluster.writes == []


@pytest.mark.parametrize("adopt", [False, True])
def test_an_object_of_somebody_else_is_taken_over_only_where_that_is_wanted(
    fake: FakeServer, cluster: ScriptedCluster, adopt: bool
) -> None:
    cluster.put(
        "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}}
    )
    cluster.put("configmaps", {**REPORT, "data": {"kept": "theirs"}})
    if not adopt:
        with pytest.raises(EnablementError, match=r"ConfigMap toy/report exists? already"):
            enable(fake)
        assert cluster.writes == []
        return
    enable(fake, adopt=True)
    # What was there is written down before it is changed.
    assert cluster.writes.index("PATCH specialresources/toy") < cluster.writes.index(
        "PATCH configmaps/report"
    )
    record = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    (entry, *_more) = json.loads(record["hardware-enablement.io/adopted"])
    assert entry["patch"]["data"] == {"kept": "theirs"}


@pytest.mark.parametrize("state", ["driver", "report"])
def test_a_namespace_that_does_not_go_says_what_holds_it(
    fake: FakeServer, cluster: ScriptedCluster, state: str
) -> None:
    """Whosever it is: state report would make it, driver something in it."""
    metadata = {"name": "toy", "deletionTimestamp": "2026-01-01T00:00:00Z"}
    condition = {
        "type": "NamespaceDeletionDiscoveryFailure",
        "status": "True",
        "message": "Discovery failed for metrics.k8s.io/v1beta1",
    }
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    cluster.put("namespaces", {**namespace, "status": {"conditions": [condition]}})
    cluster.refuse = in_a_namespace_that_goes
    with pytest.raises(EnablementError) as caught:
        enable(fake, states=[state])
    text = str(caught.value)
    assert "Namespace toy is being deleted: Discovery failed for metrics.k8s.io/v1beta1" in text
    assert "mend or delete APIService v1beta1.metrics.k8s.io" in text
    assert cluster.writes == []


def in_a_namespace_that_goes(asked: Asked) -> Answer | None:
    """What the API server says of an object to be made in a namespace that is being deleted."""
    if asked.method != "PATCH" or "/namespaces/toy/" not in asked.path:
        return None
    causes = [{"reason": "NamespaceTerminating", "message": "namespace toy is being terminated"}]
    status, headers, body = refusal(403, "Forbidden", "unable to create new content")
    return status, headers, {**body, "details": {"causes": causes}}


ADOPT = "set adopt (hardware_enablement_adopt) to take {} over"
ELSEWHERE = "choose another namespace (hardware_enablement_namespace)"


def refused(fake: FakeServer, **given: Any) -> str:
    """What a run says that takes nothing over."""
    with pytest.raises(EnablementError) as caught:
        enable(fake, **given)
    return str(caught.value)


@pytest.mark.parametrize("way", ["remove", "choose another namespace", "set adopt"])
def test_each_advice_about_an_object_of_somebody_else_helps(
    fake: FakeServer, cluster: ScriptedCluster, way: str
) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace"}
    for name in ("toy", "other"):
        cluster.put("namespaces", {**namespace, "metadata": {"name": name}})
    cluster.put("configmaps", {**REPORT})
    text = refused(fake)
    assert f"; remove it, or {ELSEWHERE}, or {ADOPT.format('it')}" in text
    assert way in text
    if way == "remove":
        cluster.remove("configmaps", "report")
        enable(fake)
    elif way == "set adopt":
        enable(fake, adopt=True)
    else:
        # The scripted server knows one object of a name, whatever its namespace.
        cluster.refuse = nothing_there
        enable(fake, namespace="other")
    assert "PATCH configmaps/report" in cluster.writes


def nothing_there(asked: Asked) -> Answer | None:
    """That the ConfigMap is not there in the other namespace."""
    is_it = asked.path.startswith("/api/v1/namespaces/other/configmaps/report")
    return refusal(404, "NotFound", "it is gone") if is_it and asked.method == "GET" else None


def test_nobody_is_told_to_remove_a_namespace_of_somebody_else(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    theirs = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}}
    cluster.put("namespaces", theirs)
    labelled = "apiVersion: v1\nkind: Namespace\nmetadata: {name: toy, labels: {a: b}}\n"
    given = {"bundle": {**runs.FILES, "namespace.yaml.j2": labelled}}
    text = refused(fake, **given)
    assert f"special resource; {ELSEWHERE}, or {ADOPT.format('it')}" in text
    enable(fake, adopt=True, **given)


def test_advice_about_cluster_wide_objects_and_secrets_names_no_way_that_does_not_help(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    wide_one = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: report}\n"
    secret = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: report}\nstringData: {a: b}\n"
    wide = {"bundle": {**runs.FILES, "report.yaml.j2": wide_one}}
    both = {"bundle": {**runs.FILES, "report.yaml.j2": wide_one + secret}}
    cluster.put(
        "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}}
    )
    theirs = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass"}
    cluster.put("priorityclasses", {**theirs, "metadata": {"name": "report"}})
    assert f"; remove it, or {ADOPT.format('it')}" in refused(fake, **wide)

    cluster.put("secrets", {**REPORT, "kind": "Secret"})
    text = refused(fake, **both)
    assert "disable could not put Secret toy/report back" in text
    assert f"remove Secret toy/report, and {ADOPT.format('the others')}" in text
    assert "namespace" not in text
    # Adopt alone is no advice where nothing could be taken over, nor where it is set.
    assert "adopt" not in refused(fake, adopt=True, **both)
    cluster.remove("secrets", "report")
    enable(fake, adopt=True, **both)


def test_a_secret_of_somebody_else_is_never_taken_over(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: report}\nstringData: {a: b}\n"
    cluster.put(
        "namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}}
    )
    cluster.put("secrets", {**REPORT, "kind": "Secret"})
    with pytest.raises(EnablementError, match="Secret toy/report exists already"):
        enable(fake, adopt=True, bundle={**runs.FILES, "report.yaml.j2": secret})
    assert cluster.writes == []


def test_only_what_is_ours_is_pruned(fake: FakeServer, cluster: ScriptedCluster) -> None:
    enabled(fake, cluster)
    cluster.put("configmaps", runs.ours("ConfigMap", "left"))
    cluster.put("configmaps", runs.ours("ConfigMap", "of-another-resource", part_of="them"))
    cluster.put("configmaps", {**REPORT, "metadata": {"name": "of-nobody", "namespace": "toy"}})
    enable(fake)
    assert cluster.deleted == ["left"]


def test_what_somebody_made_anew_under_that_name_is_not_removed(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    enabled(fake, cluster)
    cluster.put("configmaps", runs.ours("ConfigMap", "left"))
    another: Obj = {**REPORT, "metadata": {"name": "left", "namespace": "toy", "uid": "another"}}
    at(cluster, "DELETE namespaces/toy/configmaps/left", lambda: cluster.put("configmaps", another))
    enable(fake)
    assert cluster.objects["configmaps"]["left"]["metadata"]["uid"] == "another"


@pytest.mark.parametrize("lost", [False, True])
def test_the_driver_of_a_node_that_lost_its_labels_stays(
    fake: FakeServer, cluster: ScriptedCluster, lost: bool
) -> None:
    old = runs.card_node("n2", OTHER_KERNEL)
    mark = {"hardware-enablement.io/toy.node-kernel": runs.group_of(old)} if lost else {}
    old["metadata"]["labels"].update(mark)
    cluster.put("nodes", old)
    cluster.put("daemonsets", runs.ours("DaemonSet", "old", "driver", group=runs.group_of(old)))
    result = enable(fake)
    assert ("old" in cluster.objects["daemonsets"]) is lost
    kept = [row["object"] for state in result["states"] for row in state["kept"]]
    assert ("DaemonSet toy/old" in kept) is lost


def test_the_driver_of_a_kernel_that_is_expected_is_deployed_and_stays_until_it_is_not(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    enabled(fake, cluster)
    record = cluster.objects["specialresources"]["toy"]
    record["spec"]["expectedKernels"] = [{"kernel": OTHER_KERNEL}]
    driver = f"driver-{runs.group_of(runs.card_node(kernel=OTHER_KERNEL))}"
    recorded: list[Obj] = []

    def watch(asked: Asked) -> None:
        if asked.method == "PATCH" and asked.path.partition("?")[0].endswith("resources/toy"):
            recorded.append(json.loads(asked.body)["spec"])

    cluster.refuse = watch
    assert enable(fake)["changed"]
    assert driver in cluster.objects["daemonsets"]
    assert recorded[-1]["expectedKernels"] == [{"kernel": OTHER_KERNEL}]
    assert not enable(fake)["changed"]
    del cluster.objects["specialresources"]["toy"]["spec"]["expectedKernels"]
    enable(fake)
    assert driver not in cluster.objects["daemonsets"]


@pytest.mark.parametrize("allow_empty", [False, True])
def test_while_no_node_has_the_hardware_nothing_goes(
    fake: FakeServer, cluster: ScriptedCluster, allow_empty: bool
) -> None:
    enabled(fake, cluster)
    cluster.put("nodes", runs.card_node(card="no"))
    enable(fake, allow_empty=allow_empty)
    assert (cluster.deleted == []) is not allow_empty


def test_a_secret_option_is_in_no_record_and_no_result(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    context = RunContext(diff=True, run_id="run-1", clock=lambda: world.NOW)
    result = enable(fake, context, options={"token": "swordfish"})
    assert "swordfish" not in json.dumps([result, cluster.objects["specialresources"]])
    assert cluster.objects["specialresources"]["toy"]["spec"]["secretOptions"] == ["token"]


def test_what_is_left_out_of_the_record_is_refused_before_the_lock(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    enabled(fake, cluster, options={"token": "hunter2", "log_level": "debug"})
    cluster.writes.clear()
    given = {"options": {"token": "hunter2"}}
    found = [
        lambda: enable(fake, **given),
        lambda: runs.run(NFD_INFO_TASK, NFD_INFO, fake, **given),
    ]
    for task in found:
        with pytest.raises(InvalidInput, match="leaves out log_level"):
            task()
    assert cluster.writes == []
    assert runs.run(NFD_INFO_TASK, NFD_INFO, fake, **given, options_replace=True)["differences"]
    assert enable(fake, **given, options_replace=True)["differences"]


def without_such_a_field(asked: Asked) -> Answer | None:
    """What the API server says of a ConfigMap with a field that it does not have; and what it
    publishes of the kind."""
    if asked.path.startswith("/openapi/v3/api/v1"):
        return 200, {"Content-Type": "application/json"}, CORE
    is_apply = asked.method == "PATCH" and "/configmaps/" in asked.path
    if not is_apply or b'"dta"' not in asked.body:
        return None
    message = "failed to create typed patch object (toy/report; /v1, Kind=ConfigMap): .dta: field"
    return refusal(500, "", f"{message} not declared in schema")


CONFIG_MAP = {"group": "", "version": "v1", "kind": "ConfigMap"}
CORE = {
    "paths": {
        "/api/v1/namespaces/{namespace}/configmaps": {
            "post": {"x-kubernetes-group-version-kind": CONFIG_MAP}
        }
    },
    "components": {
        "schemas": {
            "ConfigMap": {
                "x-kubernetes-group-version-kind": [CONFIG_MAP],
                "properties": {name: {} for name in ("apiVersion", "kind", "metadata", "data")},
            }
        }
    },
}
MISSPELT = {
    **runs.FILES,
    "report.yaml.j2": runs.FILES["report.yaml.j2"].replace("\ndata:", "\ndta:"),
}


@pytest.mark.parametrize("check_mode", [True, False])
def test_a_field_that_a_kind_does_not_have_is_refused_before_the_first_write(
    fake: FakeServer, cluster: ScriptedCluster, check_mode: bool
) -> None:
    cluster.refuse = without_such_a_field
    context = RunContext(check_mode=check_mode, run_id="run-1", clock=lambda: world.NOW)
    with pytest.raises(EnablementError) as caught:
        enable(fake, context, bundle=MISSPELT)
    assert (
        "toy/report.yaml.j2: ConfigMap toy/report: an object of this kind has no field dta"
        in str(caught.value)
    )
    assert "did you mean data?" in str(caught.value)
    assert cluster.writes == []


@pytest.mark.parametrize("published", [None, (200, {"Content-Type": "application/json"}, {})])
def test_a_field_is_refused_in_the_servers_words_where_it_publishes_nothing(
    fake: FakeServer, cluster: ScriptedCluster, published: Answer | None
) -> None:
    cluster.refuse = lambda asked: (
        published if "openapi" in asked.path else without_such_a_field(asked)
    )
    with pytest.raises(EnablementError, match="ConfigMap toy/report: it has no field dta"):
        enable(fake, bundle=MISSPELT)


DROPPED = {
    "Chart.yaml": "apiVersion: v2\nname: dropped\nversion: 0.1.0\n",
    "crds/widgets.yaml": """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - name: v1
      schema: {openAPIV3Schema: {type: object, properties: {spec: {properties: {size: {}}}}}}
""",
    "templates/0000-all.yaml": """\
apiVersion: v1
kind: ConfigMap
metadata: {name: report}
dta: {a: b}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: report, namespace: elsewhere}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: report}
spec: {size: 1, colour: red}
""",
}


def test_a_chart_does_without_fields_that_kinds_do_not_have_and_says_so(
    fake: FakeServer, cluster: ScriptedCluster, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    put_on_path(tmp_path, monkeypatch)
    cluster.refuse = without_such_a_field
    said: list[str] = []
    context = RunContext(
        check_mode=True, run_id="run-1", clock=lambda: world.NOW, warning=said.append
    )
    found = enable(fake, context, recipe="dropped", bundle=DROPPED)
    assert said == [
        f"dropped/templates/0000-all.yaml: {key} has no field {field}: it is left out"
        for key, field in (
            ("ConfigMap dropped/report", "dta"),
            ("PriorityClass report", "metadata.namespace"),
            ("Widget dropped/report", "spec.colour"),
        )
    ]
    fields = [item["field"] for row in found["states"] for item in row["left_out"]]
    assert sorted(fields) == ["dta", "metadata.namespace", "spec.colour"]


def test_what_comes_with_its_definition_is_compared_with_that(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    widget = """\
apiVersion: example.org/v1
kind: Widget
metadata: {name: report}
spec: {sise: 1}
"""
    both = f"{DROPPED['crds/widgets.yaml']}---\n{widget}"
    with pytest.raises(EnablementError) as caught:
        enable(fake, bundle={**runs.FILES, "report.yaml.j2": both})
    assert "Widget toy/report: spec has no field sise, did you mean size?" in str(caught.value)
    assert cluster.writes == []
