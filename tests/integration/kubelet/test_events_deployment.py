# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rulebook as a Deployment in the cluster: nodes that join end ready with nobody there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.simulation.faults import set_fault
from tests.integration.conftest import grant
from tests.integration.kubelet.host_network import with_api_server
from tests.integration.plays import REPO, Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet

Obj = dict[str, Any]
NAMESPACE = NAME = "hardware-enablement-events"
IMAGE, THEIRS = "localhost/rulebook:1", "registry.example.org/hardware-enablement-de:1"
GPU = "hardware-enablement.io/nvidia-gpu"


def network(cluster: Cluster) -> list[Obj]:
    """The way to the API server for the pod."""
    return with_api_server(cluster, "rulebook-on-the-host-network", NAME, "rulebook")


def listed(items: list[Obj]) -> Obj:
    """Several objects as one."""
    return {"apiVersion": "v1", "kind": "List", "items": items}


@pytest.fixture(scope="module")
def deployment(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """GPUs enabled once by hand, on a simulated node; then the shipped manifest, with our image."""
    # The API server has to have seen it before the pod is made.
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(listed(network(cluster))))
    cluster.load_image("rulebook")
    cluster.add_nodes(1, profile="gpu-t4", prefix="gpu-first")
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, "events-run", "hardware-enablement-runner")
    runner = Runner(cluster, "events-run", tmp_path_factory.mktemp("runner"))
    # The API server of this cluster reaches no simulated pod.
    runner.play("enable_gpu", hardware_enablement_options={"exporter_enabled": False}).check()
    # As the guide does it.
    text = (REPO / "manifests" / "events.yaml").read_text()
    objects = yaml.safe_load(text.replace(THEIRS, IMAGE))["items"]
    (pod,) = [item["spec"]["template"]["spec"] for item in objects if item["kind"] == "Deployment"]
    # Simulated nodes run no programs.
    pod["nodeSelector"] = {"kubernetes.io/hostname": cluster.workers[0]}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(listed(objects)))
    yield
    ours = listed([*objects, *network(cluster)])
    cluster.kubectl("delete", "--wait=false", "-f", "-", stdin=json.dumps(ours))
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    cluster.remove_nodes("gpu-first-1", "gpu-joined-1", "gpu-late-1")


def pods(cluster: Cluster) -> list[Obj]:
    """Those of the Deployment."""
    selector = f"app.kubernetes.io/name={NAME}"
    text = cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", selector, "-o", "json")
    return list(json.loads(text)["items"])


def log(cluster: Cluster) -> str:
    """What the pod has printed, "" before there is one."""
    try:
        return cluster.kubectl("logs", "-n", NAMESPACE, f"deployment/{NAME}")
    except ClusterError:
        return ""


def is_ready(cluster: Cluster, node: str) -> bool:
    """Whether all states are proven on a node."""
    found = json.loads(cluster.kubectl("get", "node", node, "-o", "json"))
    return bool(found["metadata"]["labels"].get(GPU) == "ready")


@pytest.mark.usefixtures("deployment")
def test_a_node_that_joins_ends_ready(cluster: Cluster) -> None:
    wait_until(lambda: "cluster_events.yml" in log(cluster), "the rulebook is loaded")
    (name,) = cluster.add_nodes(1, profile="gpu-t4", prefix="gpu-joined")
    wait_until(lambda: is_ready(cluster, name), "the node is ready")
    (pod,) = pods(cluster)
    assert pod["spec"]["nodeName"] in cluster.workers
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    wait_until(lambda: "PLAY RECAP" in log(cluster), "the run has ended")
    assert "Traceback" not in log(cluster)


@pytest.mark.usefixtures("deployment")
def test_another_pod_goes_on_where_one_was_killed(cluster: Cluster) -> None:
    wait_until(lambda: "cluster_events.yml" in log(cluster), "the rulebook is loaded")
    # So that the run lasts.
    (name,) = cluster.add_nodes(1, profile="gpu-t4", prefix="gpu-late")
    set_fault(cluster.kubeconfig, name, "driver", "slow", seconds=15)
    runs = log(cluster).count("PLAY [Enable")
    (before,) = pods(cluster)
    wait_until(lambda: log(cluster).count("PLAY [Enable") > runs, "a run has begun")
    assert not is_ready(cluster, name)
    assert "Traceback" not in log(cluster)
    cluster.kubectl(
        "delete", "pods", "-n", NAMESPACE, "-l", f"app.kubernetes.io/name={NAME}", "--now"
    )
    wait_until(lambda: is_ready(cluster, name), "the node is ready")
    (after,) = pods(cluster)
    assert before["metadata"]["uid"] != after["metadata"]["uid"]
    assert "Traceback" not in log(cluster)
