# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DaemonSets, ConfigMaps and NodeResourceTopology objects say, whoever wrote them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._numa.node_topology import (
    NodeTopology,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa.numa_reading import (
    read_dumps,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa.numa_workloads import (
    NFD,
    RTE,
    Profile,
    program_of,
    read_exporter_config,
    read_scheduler_config,
    refresh_s,
)


def daemon(**container: Any) -> dict[str, Any]:
    sidecar = {"name": "pause", "image": "registry.test/pause:1"}
    return {"spec": {"template": {"spec": {"containers": [sidecar, container]}}}}


@pytest.mark.parametrize(
    ("container", "program", "seconds"),
    [
        ({"command": ["/bin/resource-topology-exporter"]}, RTE, 60),
        ({"image": "quay.io/x/resource-topology-exporter:v1"}, RTE, 60),
        ({"command": ["nfd-topology-updater"], "args": ["-sleep-interval=3s"]}, NFD, 3),
        ({"command": ["/x", "--sleep-interval", "1m30s"]}, "", 90),
        ({"args": ["--sleep-interval=soon"]}, "", 60),
        ({"args": ["sleep-interval=5s"]}, "", 60),
    ],
)
def test_which_exporter_it_is_and_how_often_it_writes(
    container: dict[str, Any], program: str, seconds: float
) -> None:
    assert program_of(daemon(**container)) == program
    assert refresh_s(daemon(**container)) == seconds


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: b: c", "it is no YAML"),
        ("kubelet: [1]", "kubelet is no mapping, or podExclude no list"),
        ("podExclude: {a: b}", "kubelet is no mapping, or podExclude no list"),
        ("podExclude: [a]", "an entry of podExclude is no mapping"),
        ("resourceExclude: {}", ""),
    ],
)
def test_an_exporters_configuration_that_makes_no_sense(text: str, problem: str) -> None:
    assert read_exporter_config([text]).problem == problem


@pytest.mark.parametrize(
    "text",
    [
        "kubelet: {topologyManagerPolicy: restricted, topologyManagerScope: pod}",
        "kind: KubeletConfiguration\ntopologyManagerPolicy: restricted\ntopologyManagerScope: pod",
    ],
)
def test_exporters_are_told_in_two_forms(text: str) -> None:
    found = read_exporter_config(["other: text", text])
    assert (found.policy, found.scope) == ("restricted", "pod")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "it is no YAML"),
        ("kind: Other", "no ConfigMap of its pods has a KubeSchedulerConfiguration"),
        (
            "kind: KubeSchedulerConfiguration\nprofiles: [a]",
            "it is no KubeSchedulerConfiguration",
        ),
        (
            "kind: KubeSchedulerConfiguration\nprofiles: [{pluginConfig: [{}]}]",
            "it is no KubeSchedulerConfiguration",
        ),
    ],
)
def test_a_schedulers_configuration_that_makes_no_sense(text: str, problem: str) -> None:
    assert read_scheduler_config([text]).problem == problem


def test_a_scheduler_elects_unless_told_not_to() -> None:
    found = read_scheduler_config(["kind: KubeSchedulerConfiguration\nprofiles: [{}]"])
    assert found.lease == ("kube-system", "kube-scheduler")
    (profile,) = found.profiles
    assert (profile.name, profile.caches) == ("default-scheduler", False)
    assert profile.missing == ("filter", "score")
    assert profile.is_without


_ON = {"enabled": [{"name": "NodeResourceTopologyMatch"}]}
_OFF = {"disabled": [{"name": "NodeResourceTopologyMatch"}]}


def profile_of(plugins: Any, **args: Any) -> Profile:
    config = [{"name": "NodeResourceTopologyMatch", "args": args}]
    profile = {"schedulerName": "numa", "plugins": plugins, "pluginConfig": config}
    found = {"kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    return read_scheduler_config([json.dumps(found)]).profiles[0]


@pytest.mark.parametrize(
    ("plugins", "missing"),
    [
        ({"multiPoint": _ON}, ()),
        ({"multiPoint": _ON, "filter": _OFF}, ("filter",)),
        ({"multiPoint": _ON, "score": {"disabled": [{"name": "*"}]}}, ("score",)),
        ({"multiPoint": _ON, "score": {"disabled": [{"name": "NodeResourcesFit"}]}}, ()),
        ({"multiPoint": _ON, "filter": {**_ON, **_OFF}}, ()),
        # It takes defaults away, and not what the same list enables.
        ({"multiPoint": {**_ON, "disabled": [{"name": "*"}]}}, ()),
        ({"multiPoint": _OFF, "filter": _ON}, ("score", "reserve")),
    ],
)
def test_where_a_plugin_is_at_work_is_read_as_the_scheduler_reads_it(
    plugins: Any, missing: tuple[str, ...]
) -> None:
    assert profile_of(plugins, cacheResyncPeriodSeconds=5).missing == missing


def test_without_a_cache_nothing_need_be_reserved() -> None:
    plugins = {"multiPoint": _ON, "reserve": _OFF}
    assert profile_of(plugins, cacheResyncPeriodSeconds=0).missing == ()
    assert profile_of(plugins, discardReservedNodes=True).missing == ("reserve",)


@pytest.mark.parametrize(
    ("args", "unknown"),
    [
        ({"scoringStrategy": {"type": "LeastNUMANodes", "resources": []}}, ()),
        ({"cache": None, "scoringStrategy": None, "preemptionMode": "Enabled"}, ()),
        ({"scoringStrategy": {"type": "Fewest"}}, ("scoringStrategy.type: Fewest",)),
        ({"scoringStrategy": {"typ": "Fewest"}}, ("scoringStrategy.typ",)),
        ({"cache": {"resyncMethod": "Some"}, "x": 1}, ("cache.resyncMethod: Some", "x")),
        ({"cache": "on"}, ("cache",)),
    ],
)
def test_arguments_that_the_plugin_does_not_know(args: Any, unknown: tuple[str, ...]) -> None:
    assert profile_of({"multiPoint": _ON}, **args).unknown_args == unknown


@pytest.mark.parametrize(
    ("found", "policy", "scope"),
    [
        ({}, "none", "container"),
        ({"topologyPolicies": ["SingleNUMANodePodLevel"]}, "single-numa-node", "pod"),
        ({"topologyPolicies": ["Other"]}, "none", "container"),
        (
            {
                "topologyPolicies": ["RestrictedPodLevel"],
                "attributes": [
                    {"name": "topologyManagerPolicy", "value": "best-effort"},
                    {"name": "topologyManagerScope", "value": "nonsense"},
                ],
            },
            "best-effort",
            "pod",
        ),
    ],
)
def test_a_policy_is_understood_as_the_scheduler_does(
    found: dict[str, Any], policy: str, scope: str
) -> None:
    topology = NodeTopology.from_object({"metadata": {"name": "a"}, **found})
    assert (topology.policy, topology.scope) == (policy, scope)


def test_a_fingerprint_may_be_an_annotation() -> None:
    annotations = {"topology.node.k8s.io/fingerprint": "pfp0v001ef46db3751d8e999"}
    found = NodeTopology.from_object({"metadata": {"name": "a", "annotations": annotations}})
    assert (found.fingerprint, found.method) == ("pfp0v001ef46db3751d8e999", "all")


def test_an_amount_that_is_none_is_named() -> None:
    zone = {"name": "node-0", "type": "Node", "resources": [{"name": "cpu", "capacity": "many"}]}
    with pytest.raises(InvalidInput, match=r"zone node-0 of a\): 'many' is not a quantity"):
        NodeTopology.from_object({"metadata": {"name": "a"}, "zones": [zone]})


def test_of_a_nodes_dumps_the_last_counts() -> None:
    last = {
        "fingerprintComputed": "2",
        "nodeName": "a.b",
        "pods": [{"namespace": "n", "name": "p"}],
    }
    lines = [
        '{"node": "a.b", "dump": {"fingerprintComputed": "1"}}',
        json.dumps({"node": "a_b", "dump": last}),
        '{"node": "b"}',
        '{"node": "c", "dump": "x"}',
        "[]",
        "cut",
    ]
    dumps = read_dumps(lines)
    assert list(dumps) == ["a.b"]
    found = dumps["a.b"]
    assert (found.computed, found.expected, found.pods) == ("2", "", frozenset({("n", "p")}))
