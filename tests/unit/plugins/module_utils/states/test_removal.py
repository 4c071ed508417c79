# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What disable does, against a scripted API server: states removed, what was taken over given back, the record last."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    SPECIAL_RESOURCE,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.operator_names import (
    WORKLOAD,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import (
    apply,
    special_resource,
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
    Obj,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

MARKED = {"hardware-enablement.io/toy.node-kernel": "k", "hardware-enablement.io/toy": "ready"}
DRY = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A cluster in which the recipe was enabled, and took over a ConfigMap."""
    found = ScriptedCluster(fake, runs.card_node(card="yes", **MARKED))
    found.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}})
    theirs = {**runs.ours("ConfigMap", "report"), "data": {"kept": "theirs"}}
    theirs["metadata"]["labels"] = {}
    found.put("configmaps", theirs)
    runs.run(apply.TASK, STATE_APPLY, fake, adopt=True)
    found.writes.clear()
    return found


def remove_states(fake: FakeServer, context: RunContext | None = None, **given: Any) -> Obj:
    return runs.run(
        apply.TASK, STATE_APPLY, fake, context, state="absent", wait_timeout=10, **given
    )


def remove_record(fake: FakeServer, context: RunContext | None = None, **given: Any) -> Obj:
    return runs.run(
        special_resource.TASK,
        SPECIAL_RESOURCE,
        fake,
        context,
        state="absent",
        wait_timeout=10,
        **given,
    )


@pytest.fixture
def made(cluster: ScriptedCluster) -> ScriptedCluster:
    """The same cluster, where enabling has made the namespace."""
    cluster.objects["namespaces"]["toy"]["metadata"]["labels"] = {PART_OF_LABEL: runs.PART_OF}
    record = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    record["hardware-enablement.io/made-namespaces"] = "toy"
    record["hardware-enablement.io/adopted"] = ""
    return cluster


def put_secret(cluster: ScriptedCluster, name: str = "pull", **metadata: Any) -> None:
    """A Secret of an administrator in the namespace."""
    metadata = {"name": name, "namespace": "toy", **metadata}
    cluster.put("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})


def kept(result: Obj) -> dict[str, str]:
    """What stays, with the reason."""
    return {entry["object"]: entry["reason"] for entry in result["kept"]}


def hold_a_device(cluster: ScriptedCluster) -> None:
    """A pod of somebody's on the node."""
    limits = {"resources": {"limits": {runs.RESOURCE: "1"}}, "name": "c"}
    spec = {"nodeName": "n1", "containers": [limits]}
    cluster.put(
        "pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "a"},
            "spec": spec,
        },
    )


def test_who_looks_before_a_removal_need_not_be_shown_what_is_said_then(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    said: list[str] = []
    dry = RunContext(check_mode=True, notice=said.append)
    assert remove_states(fake, dry)["changed"]
    assert said == []
    remove_states(fake, dry, show=True)
    assert ["would remove" in each for each in said] == [True]
    remove_states(fake, RunContext(run_id="run-1", notice=said.append))
    assert ["would remove" in each for each in said] == [True, False]
    assert cluster.writes


def test_nothing_is_removed_while_another_recipe_depends_on_it(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    other: Obj = {
        "apiVersion": cluster.objects["specialresources"]["toy"]["apiVersion"],
        "kind": "SpecialResource",
        "metadata": {"name": "upper"},
        "spec": {"recipe": "upper", "namespace": "upper", "depends": ["toy"]},
    }
    cluster.put("specialresources", other)
    with pytest.raises(EnablementError, match=r"toy is not removed: upper depends on it"):
        remove_states(fake)
    assert cluster.writes == []
    assert remove_states(fake, force=True)["changed"]


@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_removed_while_a_pod_holds_a_device(
    fake: FakeServer, cluster: ScriptedCluster, force: bool
) -> None:
    hold_a_device(cluster)
    if force:
        assert remove_states(fake, force=True)["changed"]
        return
    with pytest.raises(EnablementError, match=r"toy is in use.*pod a/p"):
        remove_states(fake)
    assert cluster.writes == []


def test_what_was_taken_over_is_given_back(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert cluster.objects["configmaps"]["report"]["data"] == {"kept": "yes"}
    remove_states(fake)
    assert cluster.objects["configmaps"]["report"]["data"] == {"kept": "theirs"}
    assert list(cluster.objects["daemonsets"]) == []


def test_namespaces_stay_when_states_go(fake: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.objects["namespaces"]["toy"]["metadata"]["labels"] = {
        PART_OF_LABEL: runs.PART_OF,
        STATE_LABEL: "report",
    }
    remove_states(fake)
    assert "toy" in cluster.objects["namespaces"]


def test_the_lock_is_taken_before_anything_is_removed(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.objects["leases"]["toy"]["spec"].update(holderIdentity="another")
    for remove in (remove_states, remove_record):
        with pytest.raises(EnablementError, match="Another run works on toy"):
            remove(fake)
    assert cluster.writes == []


def test_check_mode_removes_nothing(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert remove_states(fake, DRY)["changed"]
    assert remove_record(fake, DRY)["changed"]
    assert cluster.writes == []


def test_marks_go_and_the_record_goes_last(fake: FakeServer, made: ScriptedCluster) -> None:
    cluster = made
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "a webhook keeps it")
        if (asked.method, asked.path.partition("?")[0]) == ("DELETE", "/api/v1/namespaces/toy")
        else None
    )
    with pytest.raises(EnablementError, match="a webhook keeps it"):
        remove_record(fake)
    assert "toy" in cluster.objects["specialresources"]
    cluster.refuse = lambda _asked: None
    assert remove_record(fake)["removed"][-1] == "SpecialResource toy"
    assert cluster.labels("n1") == {}
    assert cluster.objects["specialresources"] == {}


THEIRS = "with which would go what others have made: Secret toy/pull"


def test_what_others_have_put_into_a_namespace_keeps_it(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    put_secret(made)
    made.writes.clear()
    assert kept(remove_record(fake, DRY))["Namespace toy"] == THEIRS
    assert made.writes == []
    result = remove_record(fake)
    assert kept(result)["Namespace toy"] == THEIRS
    assert "Namespace toy" not in result["removed"]
    assert made.objects["secrets"].keys() == {"pull"}
    assert made.objects["specialresources"] == {}
    # Without a record, the namespace itself says that it is to go.
    made.writes.clear()
    again = remove_record(fake)
    assert (again["changed"], kept(again), made.writes) == (False, {"Namespace toy": THEIRS}, [])
    made.remove("secrets", "pull")
    assert remove_record(fake)["removed"] == ["Namespace toy"]


def test_a_namespace_that_was_left_is_made_once_more(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    put_secret(made)
    remove_record(fake)
    runs.run(apply.TASK, STATE_APPLY, fake)
    annotations = made.objects["specialresources"]["toy"]["metadata"]["annotations"]
    assert annotations["hardware-enablement.io/made-namespaces"] == "toy"


def test_a_namespace_that_somebody_took_over_is_not_made_by_us(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    put_secret(made)
    remove_record(fake)
    made.objects["namespaces"]["toy"]["metadata"]["labels"] = {}
    runs.run(apply.TASK, STATE_APPLY, fake)
    annotations = made.objects["specialresources"]["toy"]["metadata"]["annotations"]
    assert annotations["hardware-enablement.io/made-namespaces"] == ""


def test_what_others_have_made_goes_by_a_persons_word_and_is_named(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    put_secret(made)
    said: list[str] = []
    context = RunContext(run_id="run-1", clock=lambda: world.NOW, notice=said.append)
    assert "Namespace toy" in remove_record(fake, context, delete_others=True)["removed"]
    assert "\nremoved with it what others had made: Secret toy/pull\n" in said[-1]


@pytest.mark.parametrize("path", ["/apis", "/api/v1/namespaces/toy/secrets"])
def test_where_nobody_can_know_what_is_in_a_namespace_it_stays(
    fake: FakeServer, made: ScriptedCluster, path: str
) -> None:
    remove_states(fake)
    made.refuse = lambda asked: (
        refusal(403, "Forbidden", "no right") if asked.path.partition("?")[0] == path else None
    )
    reason = kept(remove_record(fake))["Namespace toy"]
    assert reason.startswith("of which it is not known what would go with it: ")
    assert reason.endswith(
        "this user may not list secrets" if "secrets" in path else "does not answer"
    )
    assert "toy" in made.objects["namespaces"]


def test_what_is_given_back_is_not_ours_in_check_mode_either(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    # The ConfigMap was somebody's; it carries our labels until it is given back.
    record = made.objects["specialresources"]["toy"]["metadata"]["annotations"]
    entry = {
        "object": ["v1", "ConfigMap", "toy", "report"],
        "patch": {"metadata": {"labels": None}},
    }
    record["hardware-enablement.io/adopted"] = json.dumps([entry])
    expected = "with which would go what others have made: ConfigMap toy/report"
    assert kept(remove_record(fake, DRY))["Namespace toy"] == expected
    remove_states(fake)
    assert kept(remove_record(fake))["Namespace toy"] == expected


def test_the_namespace_of_the_locks_is_never_removed(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    labels = {PART_OF_LABEL: runs.PART_OF}
    metadata = {"name": "hardware-enablement", "labels": labels}
    cluster.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
    record = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    record["hardware-enablement.io/made-namespaces"] = "hardware-enablement"
    remove_record(fake)
    assert "hardware-enablement" in cluster.objects["namespaces"]


@pytest.mark.parametrize("delete_others", [False, True])
def test_a_definition_of_whose_kind_others_have_objects_stays(
    fake: FakeServer, cluster: ScriptedCluster, delete_others: bool
) -> None:
    names = {"kind": WORKLOAD.kind, "plural": WORKLOAD.plural}
    versions = [{"name": WORKLOAD.version, "served": True}]
    name = f"{WORKLOAD.plural}.{WORKLOAD.group}"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name, "labels": {PART_OF_LABEL: runs.PART_OF}},
        "spec": {
            "group": WORKLOAD.group,
            "scope": "Namespaced",
            "names": names,
            "versions": versions,
        },
    }
    cluster.put("customresourcedefinitions", definition)
    record = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    kinds = {"report": ["apiextensions.k8s.io/v1/CustomResourceDefinition"]}
    record["hardware-enablement.io/state-kinds"] = json.dumps(kinds)
    mine = {"name": "mine", "namespace": "a", "labels": {PART_OF_LABEL: runs.PART_OF}}
    for metadata in ({"name": "theirs", "namespace": "a"}, mine):
        cluster.put(
            WORKLOAD.plural,
            {
                "apiVersion": WORKLOAD.api_version,
                "kind": WORKLOAD.kind,
                "metadata": metadata,
            },
        )
    result = remove_record(fake, delete_definitions=True, delete_others=delete_others)
    assert (name in cluster.objects["customresourcedefinitions"]) is not delete_others
    reason = "with which would go what others have made: RmdWorkload a/theirs"
    assert (kept(result).get(f"CustomResourceDefinition {name}") == reason) is not delete_others


def test_our_taints_and_our_cordon_leave_a_node_and_those_of_others_stay(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    name = "hardware-enablement.io/toy"
    ours = {"key": "toy.io/only", "value": "yes", "effect": "NoSchedule"}
    exchange = {"key": name, "value": "upgrading", "effect": "NoSchedule"}
    theirs = {"key": "example.com/theirs", "value": "yes", "effect": "NoSchedule"}
    node = cluster.objects["nodes"]["n1"]
    node["metadata"]["annotations"] = {
        f"{name}.taints": json.dumps([ours]),
        f"{name}.upgrade": json.dumps({"phase": "upgrading", "cordoned": True}),
    }
    node["spec"] = {"unschedulable": True, "taints": [ours, theirs, exchange]}
    cluster.put("nodes", node)
    remove_record(fake)
    left = cluster.objects["nodes"]["n1"]
    assert left["spec"] == {"taints": [theirs]}
    assert left["metadata"]["annotations"] == {}


def test_what_comes_while_the_rest_is_removed_is_seen(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)

    def put_meanwhile(asked: Asked) -> None:
        if asked.method == "PATCH" and "/nodes/" in asked.path:
            put_secret(made)

    made.refuse = put_meanwhile
    assert kept(remove_record(fake))["Namespace toy"] == THEIRS


def test_a_namespace_that_is_being_deleted_already_is_waited_for(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    put_secret(made)
    made.objects["namespaces"]["toy"]["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert "Namespace toy" in remove_record(fake)["removed"]


def test_who_may_not_list_namespaces_removes_those_that_the_record_names(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)
    made.refuse = lambda asked: (
        refusal(403, "Forbidden", "no right")
        if asked.path.startswith("/api/v1/namespaces?labelSelector")
        else None
    )
    assert "Namespace toy" in remove_record(fake)["removed"]


@pytest.mark.usefixtures("made")
def test_an_unchanged_removal_asks_nothing_of_what_is_in_namespaces(fake: FakeServer) -> None:
    remove_states(fake)
    remove_record(fake)
    asked = len(fake.asked)
    assert not remove_record(fake)["changed"]
    paths = [each.path for each in fake.asked[asked:]]
    assert not [path for path in paths if path in ("/api", "/apis")]


def test_a_namespace_that_is_made_anew_meanwhile_stays(
    fake: FakeServer, made: ScriptedCluster
) -> None:
    remove_states(fake)

    def make_anew(asked: Asked) -> None:
        # The look into it comes between the decision and the deletion.
        if asked.path == "/apis":
            metadata = {"name": "toy", "uid": "of-another-one"}
            made.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    made.refuse = make_anew
    remove_record(fake)
    assert "toy" in made.objects["namespaces"]
