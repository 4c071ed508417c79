# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The RmdWorkloads of pods follow their pods, and nobody else's are touched."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_spec import (
    Declared,
    read,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.pods.pod_requests import (
    Automatic,
    claims,
    decide,
)
from tests.unit.rmd.objects.things import container, pod, report

LONG, SHORT = "pod-1-rmd-workload-nginx1", "rmd-workload-pod-1"
SPEC = {
    "coreIds": ["1", "2", "3"],
    "rdt": {"cache": {"max": 2, "min": 2}},
    "nodes": ["worker-node-1"],
}


def owned(
    name: str, spec: dict[str, Any], uid: str = "uid-1", *, deleted: bool = False
) -> Declared:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "pod-1", "uid": uid, "controller": True}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": "team",
        "ownerReferences": [owner] if uid else [],
    }
    if deleted:
        metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return read({"metadata": metadata, "spec": spec})


def decided(
    *there: Declared, annotations: dict[str, str] | None = None, gone: tuple[str, ...] = ()
) -> Automatic:
    found = claims(
        pod(container(), annotations=annotations), lambda _node: report(nginx1="1-3"), "v0.3"
    )
    return decide(found, there, gone)


def test_a_pod_gets_its_object() -> None:
    found = decided()
    assert [obj["metadata"]["name"] for obj in found.create] == [LONG]
    assert (found.change, found.remove, found.failed) == ([], [], [])


def test_what_is_there_under_either_name_is_kept() -> None:
    for name in (LONG, SHORT):
        assert decided(owned(name, SPEC)) == Automatic()


def test_the_operators_words_of_another_version_are_the_same() -> None:
    flat = {
        "coreIds": ["1", "2", "3"],
        "cache": {"max": 2, "min": 2},
        "nodes": ["worker-node-1"],
        "policy": "",
        "pstate": {"ratio": "", "monitoring": ""},
    }
    assert decided(owned(SHORT, flat)) == Automatic()


def test_changed_annotations_and_cpus_are_handed_on() -> None:
    ((_old, new),) = decided(owned(LONG, SPEC), annotations={"nginx1_cache_min": "1"}).change
    assert new["spec"]["rdt"]["cache"] == {"max": 2, "min": 1}
    ((_old, new),) = decided(owned(LONG, {**SPEC, "coreIds": ["7", "8", "9"]})).change
    assert new["spec"]["coreIds"] == ["1", "2", "3"]


def test_an_object_of_that_name_which_is_not_the_pods_is_left_alone() -> None:
    for other in (owned(LONG, SPEC, uid=""), owned(LONG, SPEC, uid="uid-of-an-older-pod")):
        found = decided(other)
        assert (found.create, found.change, found.remove) == ([], [], [])
        assert "exists and is not this pod's" in found.failed[0][1]


def test_what_the_pod_no_longer_asks_for_goes() -> None:
    found = decided(
        owned(LONG, SPEC), owned("pod-1-rmd-workload-other", SPEC), owned("free", SPEC, uid="")
    )
    assert [obj["metadata"]["name"] for obj in found.remove] == ["pod-1-rmd-workload-other"]
    assert decided(owned(LONG, SPEC), owned("x", SPEC, deleted=True)).remove == []


def test_what_a_finished_pod_owns_goes_and_a_deleted_ones_goes_by_itself() -> None:
    there = (owned(LONG, SPEC), owned("a", SPEC, uid="finished"), owned("b", SPEC, uid="deleted"))
    assert [obj["metadata"]["name"] for obj in decided(*there, gone=("finished",)).remove] == ["a"]


def test_a_claim_that_cannot_be_read_leaves_what_runs() -> None:
    found = decided(owned(LONG, SPEC), annotations={"nginx1_cache_min": "x"})
    assert (found.change, found.remove) == ([], [])
    assert "no whole number" in found.failed[0][1]
