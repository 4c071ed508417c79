# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""With `readiness: nfd` nodes prove themselves: real nodes, the real nfd-worker and nfd-master. Their
container runtime gives GPUs by its NRI (`runtime_mode: nri`), and knows nothing of it afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.images.gpu.gpus import Gpus
from tests.integration.kubelet.bench import PYTHON, Bench, pod_spec
from tests.integration.kubelet.gpu_site import (
    COMPUTE,
    FAULT,
    NAMESPACE,
    RESOURCE,
    SUMMARY,
    Site,
    gpu_site,
)
from tests.integration.kubelet.host_network import with_api_server
from tests.integration.waiting import PATIENTLY, wait_until, wait_until_none

pytestmark = pytest.mark.kubelet

USER = "readiness-run"
OPTIONS = {"readiness": "nfd", "node_agent_image": PYTHON, "runtime_mode": "nri"}
APP = "hardware-enablement-node-agent"
OF_NFD = "nfd.node.kubernetes.io/feature-labels"
FILE = "etc/kubernetes/node-feature-discovery/features.d/hardware-enablement.io-nvidia-gpu"
STATES = (
    "driver",
    "runtime_hook",
    "driver_validation",
    "device_plugin",
    "device_plugin_validation",
    "monitoring",
    "feature_discovery",
)


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """GPUs that work in the first node, and such that do not in the second, of which nobody knows."""
    network = with_api_server(cluster, "agents-on-the-host-network", APP, "node-agent")
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": network})
    cluster.kubectl("apply", "-f", "-", stdin=listed)
    with gpu_site(cluster, USER, tmp_path_factory.mktemp("runner")) as made:
        made.options = OPTIONS
        first, second = cluster.workers
        made.install(first, Gpus())
        made.install(second, Gpus(fault=FAULT))
        cluster.equip(first, "gpu-t4")
        for node in cluster.workers:
            cluster.discover_features(node)
        yield made
    cluster.kubectl("delete", "-f", "-", stdin=listed)


def gates(site: Site, node: str) -> dict[str, str]:
    """What our labels say of the states."""
    labels = site.nodes()[node]["metadata"]["labels"]
    found = {name.removeprefix(f"{SUMMARY}."): value for name, value in labels.items()}
    return {name: value for name, value in found.items() if name in STATES}


def marks(site: Site, node: str) -> list[str]:
    """All labels and annotations of ours."""
    metadata = site.nodes()[node]["metadata"]
    names = [*metadata["labels"], *metadata["annotations"]]
    return sorted(name for name in names if name.startswith("hardware-enablement.io/"))


def of_nfd(site: Site, node: str) -> set[str]:
    """Our labels that NFD says are its own."""
    said = site.nodes()[node]["metadata"]["annotations"].get(OF_NFD, "").split(",")
    return {name for name in said if name.startswith("hardware-enablement.io/")}


def pods(site: Site, node: str) -> list[str]:
    """The names of the pods in the recipe's namespace."""
    return site.cluster.kubectl(
        "get", "pods", "-n", NAMESPACE, f"--field-selector=spec.nodeName={node}", "-o", "name"
    ).split()


def requests(site: Site, since: int) -> list[dict[str, Any]]:
    """What the run's user has asked for."""
    return list(site.cluster.audit(user=site.runner.user, since=since))


def container_runtimes(site: Site) -> dict[str, str]:
    """Each node's containerd: its process, and the sums of all files that it is configured by."""
    script = "pidof containerd; find -L /etc/containerd -type f | sort | xargs sha256sum"
    return {
        node: site.cluster.real_node(node).run("sh", "-c", script) for node in site.cluster.workers
    }


def a_container_runtime_without_it_is_refused_before_the_first_write(site: Site) -> None:
    (old,) = site.cluster.add_nodes(1, profile="gpu-t4", prefix="old")
    told = {"status": {"nodeInfo": {"containerRuntimeVersion": "containerd://2.0.5"}}}
    site.cluster.kubectl("patch", "node", old, "--subresource=status", "-p", json.dumps(told))
    mark = site.cluster.mark()
    played = site.play()
    assert played.code != 0
    assert "needs containerd 1.7.30, or 2.1 or newer, and there is 2.0.5" in played.output
    assert site.runner.writes(mark) == []
    site.cluster.remove_nodes(old)


def a_run_writes_no_label_and_starts_no_pod(site: Site) -> None:
    first, _second = site.cluster.workers
    mark = site.cluster.mark()
    played = site.play().check()
    assert "nvidia-gpu: ready, 1/1 nodes" in played.output
    assert gates(site, first) == dict.fromkeys(STATES, "ready")
    names = {SUMMARY, *(f"{SUMMARY}.{state}" for state in STATES)}
    assert of_nfd(site, first) >= names
    made = [each for each in requests(site, mark) if each["verb"] == "create"]
    assert not [each for each in made if each["objectRef"]["resource"] == "pods"]
    # What proved the device plugin has left, and with it the GPU that it had.
    assert not [name for name in pods(site, first) if "validate" in name]
    mark = site.cluster.mark()
    site.play().unchanged()
    assert site.runner.writes(mark) == []


def a_node_that_joins_stops_where_it_is_broken(site: Site) -> None:
    _first, second = site.cluster.workers
    mark = site.cluster.mark()
    site.cluster.equip(second, "gpu-t4")
    wait_until(
        lambda: site.summaries()[second] == "driver_validation.waiting",
        "the second node waits for the proof of its driver",
    )
    assert gates(site, second) == {"driver": "ready", "runtime_hook": "ready"}
    assert site.pod("nvidia-device-plugin", second) == ""
    assert requests(site, mark) == []
    # A run says why.
    played = site.play()
    assert played.code != 0
    assert f"error code {FAULT}" in played.output, played.output


def mended_it_ends_ready_with_nobody_there(site: Site) -> None:
    _first, second = site.cluster.workers
    mark = site.cluster.mark()
    site.install(second, Gpus())
    wait_until(lambda: site.summaries()[second] == "ready", "the second node is ready")
    assert gates(site, second) == dict.fromkeys(STATES, "ready")
    assert site.allocatable()[second] == "2"
    assert requests(site, mark) == []
    played = site.play().check()
    assert "nvidia-gpu: ready, 2/2 nodes" in played.output


def an_agent_that_is_replaced_leaves_the_labels(site: Site) -> None:
    first, _second = site.cluster.workers
    agent, plugin = site.pod(APP, first), site.pod("nvidia-device-plugin", first)
    site.cluster.kubectl("delete", "pod", "-n", NAMESPACE, agent)
    assert site.summaries()[first] == "ready"
    wait_until(lambda: site.pod(APP, first) not in ("", agent), "another agent")
    site.play().unchanged()
    assert site.pod("nvidia-device-plugin", first) == plugin


def a_driver_is_exchanged(site: Site, bench: Bench) -> None:
    first, _second = site.cluster.workers
    spec = pod_spec(COMPUTE, container={"resources": {"limits": {RESOURCE: "1"}}})
    spec["nodeSelector"] = {"kubernetes.io/hostname": first}
    bench.deployment("training", spec)
    # A user's pod gets the GPU that it asks for, and no other.
    (training,) = bench.pods_of("training")
    shown = bench.kubectl("exec", training["metadata"]["name"], "--", "nvidia-smi", "-L")
    assert len(shown.splitlines()) == 1, shown
    apps = ("nvidia-driver", "nvidia-container-toolkit", "nvidia-device-plugin")
    before = {app: site.pod(app, first) for app in apps}
    site.modules = "open"
    assert "2 nodes run the driver version before" in site.play().check().output
    arguments = {"hardware_enablement_recipe": "nvidia-gpu", "hardware_enablement_failure_grace": 5}
    played = site.runner.play("upgrade", upgrade_nodes=[first], **arguments).check()
    assert "1 of 1 nodes proven again" in played.output
    assert not {site.pod(app, first) for app in apps} & set(before.values())
    assert gates(site, first) == dict.fromkeys(STATES, "ready")
    bench.kubectl("rollout", "status", "deployment/training", PATIENTLY)
    bench.kubectl("delete", "deployment", "training")


def a_node_that_leaves_leaves_nothing_behind(site: Site) -> None:
    _first, second = site.cluster.workers
    file = site.cluster.real_node(second).root / FILE
    assert file.exists()
    arguments = {"hardware_enablement_recipe": "nvidia-gpu"}
    site.cluster.equip(second, "cpu-only")
    site.runner.play("enable", hardware_enablement_release_nodes=[second], **arguments).check()
    wait_until_none(lambda: marks(site, second), "marks of ours")
    wait_until_none(lambda: pods(site, second), "pods of ours")
    assert not file.exists()


def runs_take_it_over_again(site: Site) -> None:
    first, _second = site.cluster.workers
    site.options = {**OPTIONS, "readiness": "run"}
    site.play().check()
    assert of_nfd(site, first) == set()
    assert site.summaries()[first] == "ready"
    assert not (site.cluster.real_node(first).root / FILE).exists()


def disabled_nothing_stays(site: Site) -> None:
    first, _second = site.cluster.workers
    site.options = OPTIONS
    site.play().check()
    assert (site.cluster.real_node(first).root / FILE).exists()
    site.runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    wait_until_none(lambda: marks(site, first), "marks of ours")
    assert not (site.cluster.real_node(first).root / FILE).exists()
    # The run takes the labels off itself; that it had them, NFD's master forgets when it comes to it.
    wait_until_none(lambda: of_nfd(site, first), "labels that NFD says are its own")


def test_nodes_prove_themselves(site: Site, bench: Bench) -> None:
    """One story: each step goes on from the one before."""
    before = container_runtimes(site)
    a_container_runtime_without_it_is_refused_before_the_first_write(site)
    a_run_writes_no_label_and_starts_no_pod(site)
    a_node_that_joins_stops_where_it_is_broken(site)
    mended_it_ends_ready_with_nobody_there(site)
    an_agent_that_is_replaced_leaves_the_labels(site)
    a_driver_is_exchanged(site, bench)
    assert container_runtimes(site) == before
    a_node_that_leaves_leaves_nothing_behind(site)
    runs_take_it_over_again(site)
    disabled_nothing_stays(site)
