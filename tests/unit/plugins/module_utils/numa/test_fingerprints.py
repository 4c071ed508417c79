# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fingerprint of a set of pods, against values that others publish, and which pods are in it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._numa import fingerprints
from ansible_collections.hardware.enablement.plugins.module_utils._numa.fingerprints import (
    PodExclude,
    counted,
    fingerprint,
    glob_matches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa.pods_on_nodes import (
    NumaPod,
    PodResources,
)

# ansible-test runs unit tests with a Python of its own, which need not have it.
pytest.importorskip("xxhash")

DEVICE = "example.com/device"
# k8stopologyawareschedwg/podfingerprint v0.3.0, testdata/compat-small-10pods-3ns.
TEN = """
analytics controller-69dkj
kube-public subscriber-tq6v7
kube-public transformer-hfbng
kube-public validator-c6pn5
kube-system proxy-wszrd
middleware processor-jkrl4
network gateway-vsll5
network importer-kzdfr
network importer-q5vt9
staging prometheus-bwgbn
"""
# The same, testdata/compat-tiny-3pods-1ns.
THREE = "production jaeger-dpgjk\nproduction nginx-rt684\nproduction envoy-g9m22"


@pytest.mark.parametrize(
    ("pods", "published"),
    [
        # resource-topology-exporter v0.24.0, pkg/resourcemonitor/resourcemonitor_test.go
        ("default test-pod-0", "pfp0v001fe53c4dbd2c5f4a0"),
        # scheduler-plugins v0.34.7, pkg/noderesourcetopology/cache/overreserve_test.go
        ("namespace1 pod1", "pfp0v0019e0420efb37746c6"),
        (THREE, "pfp0v001607b76a0e9d3aeb4"),
        (TEN, "pfp0v001567144e4a561bb5a"),
        # XXH64 of nothing with seed 0 (xxHash's specification).
        ("", "pfp0v001ef46db3751d8e999"),
    ],
)
def test_published_values(pods: str, published: str) -> None:
    found = [(line.split()[0], line.split()[1]) for line in pods.strip().splitlines()]
    assert fingerprint(found) == published
    assert fingerprint(reversed(found)) == published


def pod(name: str, qos: str = "Guaranteed", *requests: dict[str, float]) -> NumaPod:
    return NumaPod("n", name, resources=PodResources(qos, requests))


@pytest.mark.parametrize(
    ("qos", "requests", "exclusive"),
    [
        ("Guaranteed", {"cpu": 2}, True),
        ("Guaranteed", {"cpu": 1.5}, False),
        ("Guaranteed", {"cpu": 1.5, "memory": 1024}, True),
        ("Guaranteed", {"hugepages-2Mi": 1024}, True),
        ("Guaranteed", {"ephemeral-storage": 1024}, False),
        ("Burstable", {"cpu": 2, "memory": 1024}, False),
        ("BestEffort", {}, False),
        ("BestEffort", {DEVICE: 1}, True),
        ("BestEffort", {"example.com/elsewhere": 1}, False),
        ("Guaranteed", {"requests.kubernetes.io/x": 1}, False),
    ],
)
def test_which_pods_have_something_of_their_own(
    qos: str, requests: dict[str, float], exclusive: bool
) -> None:
    one = pod("one", qos, requests)
    resources = frozenset({"cpu", "memory", DEVICE})
    assert counted([one], "all", resources) == [("n", "one")]
    found = counted([one], "with-exclusive-resources", resources)
    assert found == ([("n", "one")] if exclusive else [])


def test_containers_that_end_before_the_others_start_do_not_count() -> None:
    amounts = {"requests": {"cpu": "2", "memory": "1Gi"}}
    first: dict[str, Any] = {"name": "first", "resources": amounts}
    spec = {"containers": [{"name": "main"}], "initContainers": [first]}
    found: dict[str, Any] = {
        "metadata": {"name": "p", "namespace": "n"},
        "spec": spec,
        "status": {"qosClass": "Guaranteed"},
    }
    assert not NumaPod.from_object(found).resources.has_exclusive(frozenset())
    first["restartPolicy"] = "Always"
    assert NumaPod.from_object(found).resources.has_exclusive(frozenset())


def test_what_the_exporter_leaves_out_is_not_in_it() -> None:
    pods = [pod("a-1", "Guaranteed", {"cpu": 1}), pod("b-1", "Guaranteed", {"cpu": 1})]
    excludes = [PodExclude("n*", "a-?"), PodExclude("other", "*")]
    assert counted(pods, "all", frozenset(), excludes) == [("n", "b-1")]


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("*", "kube-system", True),
        ("*", "a/b", False),
        ("kube-*", "kube-system", True),
        ("kube-*", "my-kube-system", False),
        ("a.b", "axb", False),
        ("p?d", "pod", True),
        ("[a-c]x", "bx", True),
        ("[^a-c]x", "bx", False),
        (r"a\*", "a*", True),
        (r"a\*", "ab", False),
        ("a[b*", "a[bc", False),
        ("[z-a]", "z", False),
        ("", "", True),
    ],
)
def test_globs_are_those_of_go(glob: str, text: str, matches: bool) -> None:
    assert glob_matches(glob, text) is matches


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fingerprints, "AVAILABLE", False)
    with pytest.raises(InvalidInput, match=r"pip install 'xxhash>=3\.0'"):
        fingerprints.require_xxhash()
