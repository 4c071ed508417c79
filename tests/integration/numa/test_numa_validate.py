# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""numa_validate on a cluster whose objects are those of tests/scenes/numa.py: nothing is found where
all is well, and each misconfiguration by its id, with the rights that its page names and no more."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NUMA_VALIDATE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._numa import numa_validate
from tests.benchmarks.rendering import render
from tests.cluster import Cluster
from tests.cluster.objects import create_crds, create_objects
from tests.integration.conftest import grant
from tests.integration.in_process import Module
from tests.integration.plays import REPO, WRITES, Runner
from tests.integration.waiting import PATIENTLY, wait_until
from tests.scenes import numa

pytestmark = pytest.mark.numa

Obj = dict[str, Any]
USER = "numa-viewer"
PAGE = REPO / "docs" / "admin" / "numa-validate.md"
KUBELETS = PAGE.with_name("kubelets.md")
RECIPE = REPO / "recipes" / "numa"
ANNOTATED = f"{numa.ANNOTATION}={numa.simulated()}"
# As the recipe has it by default.
ALWAYS = {"scheduler-dumps-off"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Two nodes with all that belongs to them, a third with nothing."""
    with Cluster.up("test-numa-validate", numa=True, nfd=False) as started:
        nodes = started.add_nodes(3, profile="numa")
        started.kubectl("annotate", "--overwrite", "node", *nodes, ANNOTATED)
        create_crds(started.api, render(RECIPE, started.kubeconfig)["topology_api"])
        for name in (numa.NAMESPACE, "namespace1"):
            started.kubectl("create", "namespace", name)
            started.kubectl("wait", f"-n={name}", "--for=create", "serviceaccount/default")
        for node in numa.NODES:
            started.kubectl("label", "node", node, "example.org/numa=yes")
            started.api.create(numa.TOPOLOGIES, numa.topology(node))
        minor = int(started.api.get("/version")["minor"].rstrip("+"))
        now = datetime.datetime.now(tz=datetime.timezone.utc)
        create_objects(
            started.api,
            [
                numa.config_map("numa-exporter", numa.exporter_config()),
                numa.config_map("numa-scheduler", numa.scheduler_config()),
                numa.exporter(),
                numa.scheduler(minor),
                numa.lease(now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")),
                *(numa.pod(*numa.PODS[node], node=node) for node in numa.NODES),
            ],
        )
        for workload in ("daemonset/numa-exporter", "deployment/numa-scheduler"):
            started.kubectl("rollout", "status", f"-n={numa.NAMESPACE}", workload, PATIENTLY)
        for namespace, name in numa.PODS.values():
            runs(started, namespace, name)
        yield started


def runs(cluster: Cluster, namespace: str, name: str) -> None:
    """Wait for a pod."""
    condition = "--for=jsonpath={.status.phase}=Running"
    cluster.kubectl("wait", f"-n={namespace}", f"pod/{name}", condition, PATIENTLY)


@pytest.fixture(scope="module")
def module(cluster: Cluster) -> Module:
    """The module, as a user with the rights that its page names."""
    for page in (PAGE, KUBELETS):
        (role,) = re.findall(r"^```yaml\n(apiVersion: rbac.*?)^```", page.read_text(), re.M | re.S)
        cluster.kubectl("apply", "-f", "-", stdin=role)
        grant(cluster, USER, yaml.safe_load(role)["metadata"]["name"])
    return Module(numa_validate.TASK, NUMA_VALIDATE, cluster.kubeconfig_for(USER))


def ids(module: Module, **params: Any) -> set[str]:
    """What is found, but what always is."""
    given = {"settle": 0, "fail_on": "none", **params}
    return {finding["id"] for finding in module.done(**given)["findings"]} - ALWAYS


def test_where_all_is_well_nothing_is_found_and_nothing_written(
    cluster: Cluster, module: Module
) -> None:
    mark = cluster.mark()
    result = module.done(fail_on="warning")
    assert {finding["id"] for finding in result["findings"]} == ALWAYS
    assert result["nodes"] == list(numa.NODES)
    asked = cluster.audit(user=USER, since=mark)
    assert asked
    assert not [event for event in asked if event["verb"] in WRITES]


@pytest.fixture
def seed(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[numa.Seed]:
    """A misconfiguration, until the test ends."""
    seed: numa.Seed = request.param
    if seed.makes:
        yield from _made(cluster, seed)
        return
    before = cluster.api.get(seed.path)
    if seed.body is None:
        cluster.api.delete(seed.path)
    else:
        cluster.api.patch(seed.path, seed.body)
    told = _as_told(cluster, seed.path)
    yield seed
    if seed.body is None:
        for name in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            before["metadata"].pop(name)
        cluster.api.create(seed.path.rpartition("/")[0], before)
    else:
        cluster.api.patch(seed.path, _inverse(before, seed.body))
    if told:
        _as_told(cluster, seed.path)


def _as_told(cluster: Cluster, path: str) -> bool:
    """Wait until the kubelet of a node runs what its annotation says; False for what is no node."""
    if not path.startswith("/api/v1/nodes/"):
        return False
    annotation = cluster.api.get(path)["metadata"]["annotations"][numa.ANNOTATION]
    told = json.loads(annotation)["kubelet"]

    def runs_it() -> bool:
        found = cluster.api.get(f"{path}/proxy/configz")["kubeletconfig"]
        return all(
            (found.get(name) or None) == (told.get(name) or None) for name in {*told, *numa.KUBELET}
        )

    wait_until(runs_it, f"{path} runs {told}")
    return True


def _made(cluster: Cluster, seed: numa.Seed) -> Iterator[numa.Seed]:
    made = deepcopy(seed.body or {})
    status, name = made.pop("status", None), made["metadata"]["name"]
    cluster.api.create(seed.path, made)
    if "nodeName" in made.get("spec", {}):
        runs(cluster, made["metadata"]["namespace"], name)
    if status:
        cluster.api.patch(f"{seed.path}/{name}/status", {"status": status})
    yield seed
    body = {"gracePeriodSeconds": 0}
    cluster.api.request("DELETE", f"{seed.path}/{name}", body)


def _inverse(before: Obj, patch: Obj) -> Obj:
    """The merge patch that undoes another one."""
    return {
        name: _inverse(before[name], value)
        if isinstance(value, dict) and isinstance(before.get(name), dict)
        else before.get(name)
        for name, value in patch.items()
    }


# Objects that come anew are newer than the scheduler, which is a finding of its own.
@pytest.mark.parametrize(
    "seed",
    [seed for seed in (*numa.KUBELET_SEEDS, *numa.SEEDS) if seed.id != "topology-missing"],
    ids=lambda seed: seed.id,
    indirect=True,
)
def test_a_misconfiguration_is_found_by_its_id(module: Module, seed: numa.Seed) -> None:
    # Without exporters nobody says which nodes are meant.
    selector = [{"example.org/numa": "yes"}]
    assert ids(module, selector=selector) == {seed.id, *seed.others}


def test_a_node_without_a_topology_is_found_where_it_is_asked_for(module: Module) -> None:
    assert ids(module, selector=[{"kubernetes.io/hostname": "numa-3"}]) == {"topology-missing"}


def test_a_topology_that_came_after_the_scheduler_is_found(
    cluster: Cluster, module: Module
) -> None:
    late = numa.topology("numa-1") | {"metadata": {"name": "numa-3"}}
    cluster.api.create(numa.TOPOLOGIES, late)
    found = ids(module, selector=[{"kubernetes.io/hostname": "numa-3"}])
    cluster.api.delete(f"{numa.TOPOLOGIES}/numa-3")
    assert {"scheduler-older-than-topology", "topology-without-exporter"} <= found


def test_what_may_not_be_read_is_a_finding(cluster: Cluster) -> None:
    cluster.kubectl(
        "create",
        "clusterrole",
        "few",
        "--verb=list",
        "--resource=nodes,pods,daemonsets.apps,deployments.apps,noderesourcetopologies.topology.node.k8s.io",
    )
    grant(cluster, "few", "few")
    few = Module(numa_validate.TASK, NUMA_VALIDATE, cluster.kubeconfig_for("few"))
    result = few.done(fail_on="none", settle=0)
    unread = [each for each in result["findings"] if each["id"] == "cluster-not-read"]
    assert {each["object"] for each in unread} == {
        "kubelets",
        "ConfigMaps",
        "the CustomResourceDefinition",
    }
    assert "nodes/proxy" in next(
        each["detected"] for each in unread if each["object"] == "kubelets"
    )
    stranger = Module(numa_validate.TASK, NUMA_VALIDATE, cluster.kubeconfig_for("stranger"))
    assert "nodes" in stranger.failed()


def test_the_playbook_shows_a_table_and_fails_where_a_check_does(
    cluster: Cluster, tmp_path: Path
) -> None:
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    runner = Runner(cluster, USER, tmp_path)
    grant(cluster, USER, "hardware-enablement-viewer")
    junit = tmp_path / "numa.xml"
    given = {
        "hardware_enablement_numa_settle": 0,
        "hardware_enablement_numa_junit": str(junit),
    }
    played = runner.play("numa_validate", **given).unchanged()
    assert "NUMA: 0 errors, 0 warnings, 2 nodes looked at" in played.output
    path = f"{numa.TOPOLOGIES}/numa-1"
    cluster.api.patch(path, {"zones": []})
    failed = runner.play("numa_validate", **given)
    cluster.api.patch(path, {"zones": numa.topology("numa-1")["zones"]})
    assert failed.code != 0
    assert "error     topology-zones" in failed.output
    assert failed.error == {
        "changed": False,
        "msg": (
            "NUMA placement is not as it should be (2 nodes looked at): 1 error: topology-zones (1); "
            "do what is said of each after -> (of findings their remediation), and run again."
        ),
    }
    suite = ElementTree.parse(junit).getroot()  # noqa: S314 - it is our own
    assert suite.get("failures") == "1"
