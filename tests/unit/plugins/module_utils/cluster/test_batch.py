# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Small writes to many objects: what others have written stays, what is another object is left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster import batch
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Forbidden,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.events import (
    EVENT,
    Occurrence,
    make_event,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
    refusal,
)

NODE = Kind("", "v1", "Node", "nodes", namespaced=False)
OURS = "example.org/ours"


@pytest.fixture(name="cluster")
def _cluster(fake: FakeServer) -> ScriptedCluster:
    return ScriptedCluster(fake, *(node(name) for name in ("n1", "n2")))


def node(name: str, *finalizers: str) -> Obj:
    metadata = {"name": name, "generation": 1, "finalizers": list(finalizers)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata}


def finalizers(cluster: ScriptedCluster) -> list[list[str]]:
    return [found["metadata"]["finalizers"] for found in cluster.objects["nodes"].values()]


def read(cluster: ScriptedCluster) -> list[Obj]:
    return copy.deepcopy(list(cluster.objects["nodes"].values()))


def set_ours(fake: FakeServer, objects: list[Obj], *, held: bool) -> list[str]:
    done = batch.set_finalizer(fake.client(), NODE, objects, OURS, held=held)
    return sorted(obj["metadata"]["name"] for obj in done)


def test_finalizers_of_others_stay(fake: FakeServer, cluster: ScriptedCluster) -> None:
    before = read(cluster)
    cluster.put("nodes", node("n1", "theirs"))
    assert set_ours(fake, before, held=True) == ["n1", "n2"]
    assert finalizers(cluster) == [["theirs", OURS], [OURS]]
    assert set_ours(fake, read(cluster), held=False) == ["n1", "n2"]
    assert finalizers(cluster) == [["theirs"], []]


@pytest.mark.parametrize(
    "change", [{"generation": 2}, {"uid": "another"}, {"deletionTimestamp": "2026-01-01T00:00:00Z"}]
)
def test_what_is_another_by_now_is_left_alone(
    fake: FakeServer, cluster: ScriptedCluster, change: dict[str, Any]
) -> None:
    before = read(cluster)
    changed = node("n1")
    changed["metadata"].update(change)
    cluster.put("nodes", changed)
    assert set_ours(fake, before, held=True) == ["n2"]
    assert finalizers(cluster) == [[], [OURS]]


def test_annotations_name_the_very_object(fake: FakeServer, cluster: ScriptedCluster) -> None:
    found, _other = read(cluster)
    batch.annotate(fake.client(), NODE, [(found, {OURS: "yes"})])
    assert cluster.patched == [
        ("n1", {"metadata": {"uid": "uid-n1", "annotations": {OURS: "yes"}}})
    ]


@pytest.mark.parametrize(("code", "reason"), [(404, "NotFound"), (409, "Conflict")])
def test_what_is_gone_needs_no_status(
    fake: FakeServer, cluster: ScriptedCluster, code: int, reason: str
) -> None:
    found = read(cluster)
    cluster.refuse = lambda asked: (
        refusal(code, reason) if asked.method == "PATCH" and "n1" in asked.path else None
    )
    batch.write_statuses(fake.client(), NODE, [(obj, {"phase": "Ready"}) for obj in found])
    assert [obj.get("status") for obj in read(cluster)] == [None, {"phase": "Ready"}]


def test_another_error_is_raised_after_all_were_sent(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    found = read(cluster)
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden") if asked.method == "PATCH" and "n1" in asked.path else None
    )
    with pytest.raises(Forbidden):
        batch.merge_statuses(fake.client(), NODE, [(obj, {"status": {"a": 1}}) for obj in found])
    assert cluster.objects["nodes"]["n2"]["status"] == {"a": 1}


def test_an_event_lies_beside_what_it_is_about() -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u", "namespace": "team"}
    made = make_event(Occurrence(pod, "CacheWorkloadFailed", "why", action="DivideCache"), "", "")
    assert (made["apiVersion"], made["metadata"]["namespace"]) == (EVENT.api_version, "team")
    assert (made["action"], made["note"]) == ("DivideCache", "why")
