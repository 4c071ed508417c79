# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node leaves by evidence or by a person's word: never because NFD's labels are gone. gpu-new-1 is
the only node of its kernel."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until, wait_until_none

pytestmark = pytest.mark.faults

Obj = dict[str, Any]

NAME, NODE = "nvidia-gpu", "gpu-new-1"
RECIPE = {"hardware_enablement_recipe": NAME}
NFD = "feature.node.kubernetes.io/"
MARK = f"{sight.DOMAIN}/{NAME}"
GPU_NODES = ("gpu-old-1", "gpu-old-2", NODE)
BEHAVIOUR = "simulation.hardware-enablement.test/behaviour"


def daemonsets(cluster: Cluster) -> set[str]:
    """The names of the recipe's DaemonSets."""
    return set(cluster.kubectl("get", "ds", "-n", NAME, "-o", "name").split())


def pods(cluster: Cluster) -> dict[str, str]:
    """state -> uid of the recipe's pods on the node, those that go aside."""
    found = cluster.api.get(f"/api/v1/namespaces/{NAME}/pods?fieldSelector=spec.nodeName%3D{NODE}")[
        "items"
    ]
    return {
        pod["metadata"]["labels"][sight.STATE_LABEL]: pod["metadata"]["uid"]
        for pod in found
        if "deletionTimestamp" not in pod["metadata"]
        and sight.VALIDATION_LABEL not in pod["metadata"]["labels"]
    }


def marks(cluster: Cluster, node: str = NODE) -> dict[str, str]:
    """A node's marks by what comes after the name of the recipe."""
    return {
        name.removeprefix(f"{NAME}.") or name: value
        for name, value in sight.marks(cluster)[node].items()
    }


def holder(*, init: bool = False, behaviour: str = "run") -> Obj:
    """A user's pod that asks for all devices of the node."""
    asks = {
        "name": "c",
        "image": "example.com/user:1",
        "resources": {"limits": {"nvidia.com/gpu": 8}},
    }
    plain = {"name": "main", "image": "example.com/user:1"}
    containers = (
        {"containers": [plain], "initContainers": [asks]} if init else {"containers": [asks]}
    )
    spec = {"nodeSelector": {"kubernetes.io/hostname": NODE}, **containers}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user", "labels": {BEHAVIOUR: behaviour}},
        "spec": spec,
    }


def hold(cluster: Cluster, pod: Obj) -> None:
    """Make it, and wait until it has its node."""
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    cluster.kubectl("wait", "--for=condition=PodScheduled", "pod/user", PATIENTLY)


@pytest.fixture(scope="module")
def feature(cluster: Cluster) -> Obj:
    """What NFD's worker on the node tells its master."""
    found = json.loads(cluster.kubectl("get", "nodefeature", "-A", "-o", "json"))["items"]
    wanted: Obj = next(item for item in found if item["metadata"]["name"] == NODE)
    metadata = {name: wanted["metadata"].get(name) for name in ("name", "namespace", "labels")}
    return {**wanted, "metadata": metadata}


def labelled(cluster: Cluster) -> bool:
    """Whether the node carries labels of NFD."""
    return any(name.startswith(NFD) for name in sight.nodes(cluster)[NODE]["metadata"]["labels"])


def vanish(cluster: Cluster, feature: Obj) -> None:
    """NFD forgets a node: its master takes all labels off."""
    cluster.kubectl("delete", "nodefeature", "-n", feature["metadata"]["namespace"], NODE)
    wait_until(lambda: not labelled(cluster), "NFD's labels are gone")


def come_back(cluster: Cluster, feature: Obj) -> None:
    """NFD finds the node anew."""
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(feature))
    wait_until(lambda: labelled(cluster), "NFD's labels are back")


def happened(cluster: Cluster, reason: str) -> int:
    """How often something has happened to the node, by the Events on it."""
    events = sight.phase_events(cluster)
    return sum(times for name, why, times in events if (name, why) == (NODE, reason))


@pytest.fixture(autouse=True)
def enabled(cluster: Cluster, runner: Runner, feature: Obj) -> None:
    """All three nodes are ready and no user is there; what is so already costs no run."""
    cluster.kubectl("delete", "pod", "user", "--now", "--ignore-not-found")
    if not labelled(cluster):
        come_back(cluster, feature)
    if {sight.marks(cluster)[node].get(NAME) for node in GPU_NODES} != {"ready"}:
        runner.play("enable", **RECIPE).check()


def vanished(played: Played) -> Played:
    """A run that names the node and fails."""
    assert played.code != 0
    assert f"{NAME}: vanished, 2/3 nodes" in played.output, played.output
    assert f"! node {NODE}, driver vanished" in played.output, played.output
    return played


def test_a_node_stays_whose_labels_vanish_until_they_come_back(
    cluster: Cluster, runner: Runner, feature: Obj
) -> None:
    hold(cluster, holder())
    before, kernels, running = marks(cluster), daemonsets(cluster), pods(cluster)
    times = {why: happened(cluster, why) for why in ("HardwareVanished", "HardwareReady")}
    vanish(cluster, feature)
    # Kubernetes goes on to keep the pods there: it makes one anew that is gone.
    sight.delete_pod(cluster, NODE, "monitoring")
    wait_until(
        lambda: pods(cluster).get("monitoring", running["monitoring"]) != running["monitoring"],
        "another pod of monitoring",
    )
    assert {**pods(cluster), "monitoring": ""} == {**running, "monitoring": ""}

    mark = cluster.mark()
    assert runner.play("status", **RECIPE).code != 0
    assert runner.writes(mark) == []
    assert "pod default/user hold" in vanished(runner.play("enable", **RECIPE)).output
    after = marks(cluster)
    assert (after.pop(NAME), bool(after.pop("vanished"))) == ("vanished", True)
    assert {**after, NAME: "ready"} == before
    assert (daemonsets(cluster), set(pods(cluster))) == (kernels, set(running))
    status = json.loads(cluster.kubectl("get", "hwe", NAME, "-o", "json"))["status"]
    assert (status["phase"], status["nodes"]["summary"]) == ("vanished", "2/3")
    assert [(row["node"], row["phase"]) for row in status["problems"]] == [(NODE, "vanished")]
    assert happened(cluster, "HardwareVanished") == times["HardwareVanished"] + 1

    # Further runs say the same and write nothing, whatever time is over.
    mark = cluster.mark()
    vanished(runner.play("enable", **RECIPE))
    assert runner.writes(mark) == []
    vanished(runner.play("enable", **RECIPE, hardware_enablement_vanished_grace=0))
    # Another version of the driver is for the nodes that can prove it.
    options = {"driver_version": "600"}
    vanished(
        runner.play(
            "enable",
            **RECIPE,
            hardware_enablement_options=options,
            hardware_enablement_vanished_grace=0,
        )
    )
    assert daemonsets(cluster) == kernels

    come_back(cluster, feature)
    runner.play("enable", **RECIPE, hardware_enablement_options={}).check()
    assert (marks(cluster)[NAME], "vanished" in marks(cluster)) == ("ready", False)
    assert happened(cluster, "HardwareReady") == times["HardwareReady"] + 1


def test_it_leaves_when_the_time_is_over_and_nothing_holds_a_device(
    cluster: Cluster, runner: Runner, feature: Obj
) -> None:
    kernels, times = daemonsets(cluster), happened(cluster, "HardwareReleased")
    vanish(cluster, feature)
    vanished(runner.play("enable", **RECIPE))
    left = runner.play("enable", **RECIPE, hardware_enablement_vanished_grace=0).check()
    assert (
        f"node {NODE} leaves {NAME}: no label says any more that the node has the hardware"
        in left.output
    )
    assert (marks(cluster), len(kernels - daemonsets(cluster))) == ({}, 1)
    assert happened(cluster, "HardwareReleased") == times + 1
    wait_until_none(lambda: pods(cluster), f"pods on {NODE}")
    runner.play("enable", **RECIPE).unchanged()


def test_it_leaves_by_a_persons_word(cluster: Cluster, runner: Runner, feature: Obj) -> None:
    refused = runner.play("enable", **RECIPE, hardware_enablement_release_nodes=[NODE])
    assert f"{NODE} cannot be released" in refused.output
    hold(cluster, holder())
    vanish(cluster, feature)
    vanished(runner.play("enable", **RECIPE))
    runner.play("enable", **RECIPE, hardware_enablement_release_nodes=[NODE]).check()
    assert marks(cluster) == {}


def test_a_pod_that_has_not_started_yet_holds_its_devices(cluster: Cluster, runner: Runner) -> None:
    hold(cluster, holder(init=True, behaviour="image-pull"))
    mark = cluster.mark()
    played = runner.play("disable", **RECIPE)
    assert (played.code != 0, "default/user" in played.output) == (True, True), played.output
    assert runner.writes(mark) == []
    # A person's word is enough here, too.
    runner.play("disable", **RECIPE, hardware_enablement_force=True).check()
    assert daemonsets(cluster) == set()


def test_gates_that_nobody_proves_go_with_the_next_run(cluster: Cluster, runner: Runner) -> None:
    cluster.kubectl("label", "node", NODE, f"{MARK}.dropped=ready")
    runner.play("enable", **RECIPE).check()
    assert "dropped" not in marks(cluster)


def test_the_pod_of_a_failed_validation_goes_when_its_state_is_proven(
    cluster: Cluster, runner: Runner
) -> None:
    """Its name has the boot in it, so that nobody waits for that of an earlier boot."""
    labels = {
        f"{sight.DOMAIN}/recipe": NAME,
        sight.VALIDATION_LABEL: "driver_validation",
        BEHAVIOUR: "fail",
    }
    pod = holder(behaviour="fail")
    pod["metadata"] = {"name": "validate-before-boot", "namespace": NAME, "labels": labels}
    pod["spec"] |= {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    path = f"/api/v1/namespaces/{NAME}/pods/validate-before-boot"
    wait_until(
        lambda: cluster.api.get(path)["status"]["phase"] == "Failed",
        "the end of the validation pod",
    )
    runner.play("enable", **RECIPE).check()
    assert "validate-before-boot" not in cluster.kubectl("get", "pods", "-n", NAME, "-o", "name")


def test_any_mark_finds_a_node(cluster: Cluster, runner: Runner) -> None:
    cluster.kubectl("label", "node", NODE, f"{MARK}-", f"{MARK}.node-kernel-")
    labels = [
        name
        for name in sight.nodes(cluster)["gpu-old-1"]["metadata"]["labels"]
        if name.startswith(MARK)
    ]
    cluster.kubectl("label", "node", "gpu-old-1", *(f"{name}-" for name in labels))
    assert list(marks(cluster, "gpu-old-1")) == ["proofs"]
    runner.play("disable", **RECIPE).check()
    assert [node for node, carried in sight.marks(cluster).items() if carried] == []
    runner.play("disable", **RECIPE).unchanged()


@pytest.fixture
def tainted(cluster: Cluster) -> Iterator[Callable[[str, str], None]]:
    """Put a taint on a node, which goes at the end."""
    done: list[tuple[str, str]] = []

    def put(node: str, taint: str) -> None:
        done.append((node, taint))
        cluster.kubectl("taint", "node", node, taint)

    yield put
    for node, taint in done:
        untaint(cluster, node, taint)


def untaint(cluster: Cluster, node: str, taint: str) -> None:
    """Take a taint off, as often as one likes."""
    key, effect = taint.partition("=")[0], taint.rpartition(":")[2]
    found = sight.nodes(cluster).get(node, {}).get("spec", {}).get("taints") or ()
    if any(each["key"] == key for each in found):
        cluster.kubectl("taint", "node", node, f"{key}:{effect}-")


def test_a_node_that_an_autoscaler_takes_away_fails_no_run(
    cluster: Cluster, runner: Runner, tainted: Callable[[str, str], None]
) -> None:
    patience = {"hardware_enablement_failure_grace": 1, "hardware_enablement_timeout": 10}
    times = happened(cluster, "HardwareLeaving")
    tainted(NODE, "ToBeDeletedByClusterAutoscaler=1:NoSchedule")
    cluster.kubectl("delete", "pod", "-n", NAME, f"--field-selector=spec.nodeName={NODE}", "--now")

    output = runner.play("enable", **RECIPE, **patience).check().output
    assert f"{NAME}: ready, 2/2 nodes" in output, output
    assert f"~ node {NODE}, driver leaving for" in output
    assert "ToBeDeletedByClusterAutoscaler, which cluster-autoscaler puts and takes off" in output
    assert marks(cluster)[NAME] == "driver.leaving"
    assert happened(cluster, "HardwareLeaving") == times + 1
    status = sight.record(cluster)
    assert (status["phase"], status["nodes"]["summary"]) == ("ready", "2/2")
    assert status["message"] == f"all 2 nodes are ready; {NODE} leaves"
    assert [(row["node"], row["phase"]) for row in status["problems"]] == [(NODE, "leaving")]

    # It is still there: the next run says so again, and writes nothing.
    mark = cluster.mark()
    assert "StillLeaving" not in runner.play("status", **RECIPE).check().output
    runner.play("enable", **RECIPE, **patience).check()
    assert runner.writes(mark) == []

    # The autoscaler has taken its word back.
    untaint(cluster, NODE, "ToBeDeletedByClusterAutoscaler=1:NoSchedule")
    runner.play("enable", **RECIPE).check()
    assert marks(cluster)[NAME] == "ready"


def test_a_node_that_starts_is_waited_for(
    cluster: Cluster, runner: Runner, tainted: Callable[[str, str], None]
) -> None:
    agent, mine = "node.cilium.io/agent-not-ready=true:NoSchedule", "example.com/setup=:NoExecute"
    (node,) = cluster.add_nodes(1, kernel="6.8.0-71-generic", prefix="gpu-join")
    try:
        tainted(node, agent)
        tainted(node, mine)
        with ThreadPoolExecutor() as pool:
            # Longer than a failure may last that counts.
            going = pool.submit(lambda: (time.sleep(15), untaint(cluster, node, agent)))
            played = runner.play(
                "enable",
                **RECIPE,
                hardware_enablement_failure_grace=1,
                hardware_enablement_controller_taints=[
                    {"key": "example.com/*", "node": "starts", "by": "our set-up"}
                ],
                hardware_enablement_timeout=60,
            )
            going.result()
        # What is still there is named, with who has to act.
        assert played.code != 0
        assert f"{NAME}: starting, 3/4 nodes" in played.output, played.output
        assert f"! node {node}, driver starting for" in played.output
        assert (
            "it has the taint example.com/setup, which our set-up puts and takes off"
            in played.output
        )
        with ThreadPoolExecutor() as pool:
            going = pool.submit(lambda: (time.sleep(15), untaint(cluster, node, mine)))
            runner.play(
                "enable",
                **RECIPE,
                hardware_enablement_failure_grace=1,
                hardware_enablement_controller_taints=[{"key": "example.com/*", "node": "starts"}],
            ).check()
            going.result()
        assert marks(cluster, node)[NAME] == "ready"
    finally:
        cluster.remove_nodes(node)
