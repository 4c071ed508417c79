# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Custom resources of the NUMA Resources Operator as options and pools of the recipe."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._numa.operator_resources import (
    PlatformPools,
    pool_name,
    settings_of,
)

POOLS = [
    {"metadata": {"name": name, "labels": {"kind": "numa"}}, "spec": {}}
    for name in ("worker-cnf", "worker-with-a-very-long-name")
]

ON_OPENSHIFT = PlatformPools(POOLS)
HOSTED = PlatformPools(is_hosted=True)


def operator(version: str = "v1", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": f"nodetopology.openshift.io/{version}",
        "kind": "NUMAResourcesOperator",
        "metadata": {"name": "numaresourcesoperator"},
        "spec": spec,
    }


def scheduler(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "nodetopology.openshift.io/v1",
        "kind": "NUMAResourcesScheduler",
        "metadata": {
            "name": "numaresourcesscheduler",
            "annotations": {
                "config.numa-operator.openshift.io/scheduler-qos-request": "guaranteed"
            },
        },
        "spec": {"imageSpec": "registry.example.org/scheduler@sha256:0", **spec},
    }


def test_all_that_both_say() -> None:
    group = {
        "machineConfigPoolSelector": {"matchLabels": {"kind": "numa"}},
        "config": {
            "podsFingerprinting": "Enabled",
            "infoRefreshMode": "PeriodicAndEvents",
            "infoRefreshPeriod": "1m30.2s",
            "infoRefreshPause": "Enabled",
            "tolerations": [{"operator": "Exists"}],
        },
    }
    excludes = [{"namespace": "openshift-*", "name": "*"}]
    found = settings_of(
        [
            {"kind": "List", "items": [operator(nodeGroups=[group], podExcludes=excludes)]},
            scheduler(
                schedulerName="numa",
                logLevel="Trace",
                cacheResyncPeriod="0s",
                cacheResyncDebug="Disabled",
                cacheResyncDetection="Aggressive",
                schedulerInformer="Shared",
                preemptionMode="Enabled",
                replicas=2,
                scoringStrategy={
                    "type": "MostAllocated",
                    "resources": [{"name": "cpu", "weight": 2}],
                },
            ),
        ],
        ON_OPENSHIFT,
        "x",
    )
    amounts = {"cpu": "600m", "memory": "1200Mi"}
    assert found.options == {
        "topology_api_enabled": True,
        "pod_excludes": excludes,
        "log_level": "debug",
        "scheduler_enabled": True,
        "scheduler_image": "registry.example.org/scheduler@sha256:0",
        "scheduler_name": "numa",
        "cache_resync_seconds": 0,
        "cache_resync_debug": False,
        "cache_resync_detection": "aggressive",
        "scheduler_informer": "shared",
        "preemption": True,
        "scheduler_replicas": 2,
        "scoring_strategy": "MostAllocated",
        "scoring_resources": [{"name": "cpu", "weight": 2}],
        "resources": {"scheduler": {"requests": amounts, "limits": amounts}},
    }
    options = {
        "fingerprint": "all",
        "refresh_mode": "periodic_and_events",
        "refresh_seconds": 91,
        "paused": True,
        "tolerations": [{"operator": "Exists"}],
    }
    assert found.pools == [
        {"name": "worker-cnf", "machine_config_pool": "worker-cnf", "options": options},
        {
            "name": "worker-with-a-fb636a",
            "machine_config_pool": "worker-with-a-very-long-name",
            "options": options,
        },
    ]
    assert parse_pools(found.pools)


def test_what_is_not_said_is_as_the_operator_has_it() -> None:
    found = settings_of([operator("v1alpha1", nodeGroups=[{"poolName": "first"}])], HOSTED, "x")
    # Without its scheduler there is none.
    assert found.options == {
        "scheduler_enabled": False,
        "topology_api_enabled": True,
        "log_level": "info",
    }
    assert found.pools == [
        {
            "name": "first",
            "node_pool": "first",
            "options": {
                "fingerprint": "exclusive",
                "refresh_mode": "periodic",
                "refresh_seconds": 10,
                "paused": False,
            },
        }
    ]


def test_fingerprints_of_v1alpha1_are_switched_off_for_a_group() -> None:
    group = {"poolName": "first", "disablePodsFingerprinting": True}
    (pool,) = settings_of([operator("v1alpha1", nodeGroups=[group])], HOSTED, "x").pools
    assert pool["options"]["fingerprint"] == "none"


def test_no_replicas_are_no_scheduler() -> None:
    found = settings_of([scheduler(replicas=0)], HOSTED, "x")
    assert found.options["scheduler_enabled"] is False
    assert found.taken["NUMAResourcesScheduler: replicas"] == "scheduler_enabled"


def test_one_level_is_for_all_pods_and_the_one_that_says_more_counts() -> None:
    made = operator(logLevel="Normal", nodeGroups=[{"poolName": "first"}])
    found = settings_of([made, scheduler(logLevel="Debug")], HOSTED, "x")
    assert found.options["log_level"] == "debug"
    assert "NUMAResourcesOperator: logLevel" in found.dropped


def test_annotations_are_named_and_so_is_what_is_not_known() -> None:
    made = operator(
        nodeGroups=[{"poolName": "a", "annotations": {"config.node.openshift-kni.io/new": "1"}}]
    )
    made["metadata"]["annotations"] = {
        "config.numa-operator.openshift.io/nrt-api-definition": "cluster",
        "config.numa-operator.openshift.io/pause-reconciliation": "enabled",
        "config.numa-operator.openshift.io/later": "1",
        "example.com/team": "a",
    }
    found = settings_of([made, scheduler(spread="new")], HOSTED, "x")
    at, group = "NUMAResourcesOperator: metadata.annotations.", "nodeGroups[0].annotations."
    assert found.dropped.keys() == {
        f"{at}config.numa-operator.openshift.io/later",
        f"NUMAResourcesOperator: {group}config.node.openshift-kni.io/new",
        "NUMAResourcesScheduler: spread",
    }
    assert found.differs.keys() == {f"{at}config.numa-operator.openshift.io/pause-reconciliation"}
    assert found.same == {f"{at}example.com/team": "the operator does not read it"}
    assert found.taken[f"{at}config.numa-operator.openshift.io/nrt-api-definition"] == (
        "topology_api_enabled"
    )


def test_two_groups_of_long_names_that_begin_alike_are_two_pools() -> None:
    groups = [{"poolName": f"production-workers-numa-{each}"} for each in ("east", "west")]
    assert len(parse_pools(settings_of([operator(nodeGroups=groups)], HOSTED, "x").pools)) == 2


@pytest.mark.parametrize(
    ("resources", "why"),
    [
        ([], "it has no custom resource"),
        (["text"], "one of its documents is no object"),
        ([{"apiVersion": "v1", "kind": "Pod"}], "Pod is no custom resource of the operator"),
        ([scheduler(), scheduler()], "it has more than one NUMAResourcesScheduler"),
        ([scheduler(cacheResyncPeriod="soon")], "cacheResyncPeriod: 'soon' is no duration"),
        ([scheduler(replicas="two")], "replicas is 'two', and no number from 0"),
        ([scheduler(replicas=-1)], "replicas is '-1', and no number from 0"),
        ([operator(nodeGroups={"poolName": "a"})], "it is no list"),
        ([scheduler(schedulerInformer="Both")], "schedulerInformer is 'Both', and not one of"),
        ([operator(nodeGroups=["worker"])], "it is no object"),
        ([operator(nodeGroups=[{}])], "it says neither poolName nor machineConfigPoolSelector"),
        ([operator(nodeGroups=[{"poolName": ""}])], "it says neither poolName nor machine"),
        ([operator(nodeGroups=[{"machineConfigPoolSelector": {}}])], "it says neither poolName"),
    ],
)
def test_nonsense_is_refused(resources: list[Any], why: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        settings_of(resources, ON_OPENSHIFT, "operator.yml")
    assert caught.value.why.startswith(why)
    assert "kubectl get" in caught.value.todo


BY_LABEL = {"machineConfigPoolSelector": {"matchLabels": {"kind": "no"}}}


@pytest.mark.parametrize(
    ("group", "platform", "why", "name"),
    [
        (
            BY_LABEL,
            ON_OPENSHIFT,
            "it selects no MachineConfigPool of this cluster, which has",
            "numa",
        ),
        (
            {"poolName": "gone"},
            ON_OPENSHIFT,
            "this cluster has no MachineConfigPool gone, but",
            "gone",
        ),
        (BY_LABEL, PlatformPools(), "this cluster has neither MachineConfigPools nor", "numa"),
        (BY_LABEL, PlatformPools(is_hosted=True), "a cluster of HyperShift has no Machine", "numa"),
        ({"poolName": "gone"}, PlatformPools(), "this cluster has neither MachineConfig", "gone"),
    ],
)
def test_a_group_of_unknown_nodes_is_asked_for_their_labels(
    group: Any, platform: PlatformPools, why: str, name: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        settings_of([operator(nodeGroups=[group])], platform, "operator.yml")
    assert caught.value.why.startswith(why)
    assert f"hardware_enablement_pools: [{{name: {name}, selector:" in caught.value.todo


@pytest.mark.parametrize("is_hosted", [False, True])
def test_a_pool_is_of_one_group(is_hosted: bool) -> None:
    there = PlatformPools(is_hosted=True) if is_hosted else ON_OPENSHIFT
    name = "any" if is_hosted else ON_OPENSHIFT.machine_config_pools[0]["metadata"]["name"]
    with pytest.raises(InvalidInput) as caught:
        settings_of([operator(nodeGroups=2 * [{"poolName": name}])], there, "operator.yml")
    assert caught.value.where == "nodeGroups[1]"
    assert caught.value.why == f"another node group has pool {name} already"


def given(*names: str) -> PlatformPools:
    selector = {"matchLabels": {"example.org/numa": "yes"}}
    return PlatformPools(given=[{"name": name, "selector": selector} for name in names])


def test_pools_that_are_given_have_what_their_groups_say() -> None:
    group = {**BY_LABEL, "config": {"podsFingerprinting": "Enabled"}}
    found = settings_of([operator(nodeGroups=[group])], given("a", "b"), "x")
    assert [pool["options"]["fingerprint"] for pool in parse_and_keep(found.pools)] == [
        "all",
        "all",
    ]
    groups = [{"poolName": "b", "config": {"infoRefreshPeriod": "3s"}}, {"poolName": "c"}]
    platform = given("a", "b")
    found = settings_of([operator(nodeGroups=groups)], platform, "x")
    assert [pool["options"].get("refresh_seconds") for pool in found.pools] == [None, 3]
    assert found.dropped.keys() == {"NUMAResourcesOperator: nodeGroups[1].poolName"}


def parse_and_keep(pools: Any) -> Any:
    """Pools that are well formed."""
    assert parse_pools(pools)
    return pools


def test_what_is_not_known_is_named_at_any_depth_and_not_taken() -> None:
    excludes = [{"namespace": "a", "name": "b", "kind": "c"}]
    made = operator(podExcludes=excludes, nodeGroups=[{"poolName": "first"}])
    made["extra"] = 1
    weights = [{"name": "cpu", "weight": 2, "shape": "x"}]
    found = settings_of([made, scheduler(scoringStrategy={"resources": weights})], HOSTED, "x")
    assert found.dropped.keys() == {
        "NUMAResourcesOperator: extra",
        "NUMAResourcesOperator: podExcludes[0].kind",
        "NUMAResourcesScheduler: scoringStrategy.resources[0].shape",
    }
    assert found.options["pod_excludes"] == [{"namespace": "a", "name": "b"}]
    assert found.options["scoring_resources"] == [{"name": "cpu", "weight": 2}]


def test_an_annotation_that_asks_for_nothing_is_none() -> None:
    made = operator(nodeGroups=[{"poolName": "first"}])
    made["metadata"]["annotations"] = {
        "config.numa-operator.openshift.io/pause-reconciliation": "disabled"
    }
    found = settings_of([made], HOSTED, "x")
    assert (found.differs, found.dropped) == ({}, {})


def test_without_node_groups_no_node_is_enabled() -> None:
    """As by the operator; pools that a person gives say which nodes are meant."""
    for resource in (operator(), operator(nodeGroups=None), operator(nodeGroups=[])):
        for platform in (ON_OPENSHIFT, HOSTED, PlatformPools()):
            with pytest.raises(
                InvalidInput, match=r"enable no node.*has no nodeGroups.*leave it out"
            ):
                settings_of([resource, scheduler()], platform, "x")
    given = [{"name": "mine", "selector": {"matchLabels": {"a": "b"}}}]
    assert settings_of([operator()], PlatformPools(given=given), "x").pools == [
        {**given[0], "options": {}}
    ]
    assert settings_of([scheduler()], HOSTED, "x").pools == []


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("worker-cnf", "worker-cnf"),
        ("Worker_CNF", "worker-cnf-c8ce71"),
        ("0-1-x", "x-b8c3dd"),
        ("9", "pool-19581e"),
        ("a" * 20, "a" * 20),
        ("a" * 19 + "-b", "aaaaaaaaaaaaa-3a7c63"),
    ],
)
def test_names_of_pools_are_dns_labels_of_20_characters(name: str, ours: str) -> None:
    assert pool_name(name) == ours
    assert parse_pools([{"name": ours, "selector": {"matchLabels": {"a": "b"}}}])
