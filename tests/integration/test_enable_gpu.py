# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Enable GPUs from nothing to ready, look at every promise, and take them away again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.integration import sight
from tests.integration.conftest import grant
from tests.integration.plays import Played, Runner
from tests.integration.waiting import PATIENTLY, wait_until

GATES = ("driver", "runtime_hook", "driver_validation", "device_plugin", "device_plugin_validation")
GPU_NODES = ("gpu-old-1", "gpu-old-2", "gpu-new-1")
BROKEN = Path(__file__).parents[1] / "recipes" / "broken"


def driver_of(cluster: Cluster) -> dict[str, str]:
    """The DaemonSet of the driver by node."""
    return {
        node: pod["metadata"]["ownerReferences"][0]["name"]
        for (node, state), pod in sight.pods(cluster).items()
        if state == "driver"
    }


def answer(cluster: Cluster, *question: str) -> str:
    """What kubectl auth can-i says, which is a failure to it where that is no."""
    try:
        return cluster.kubectl(*question).strip().splitlines()[-1]
    except ClusterError:
        return "no"


@pytest.fixture(scope="module")
def foreseen(
    cluster: Cluster, runner: Runner, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Played, Played]:
    """What is said of an empty cluster to the runner, and to a user who may only read; which
    changes nothing."""
    grant(cluster, "viewer", "hardware-enablement-viewer")
    viewer = Runner(cluster, "viewer", tmp_path_factory.mktemp("viewer"))
    before, mark = cluster.dump(), cluster.mark()
    told = runner.play("enable_gpu", "--check", "--diff"), viewer.play("enable_gpu", "--check")
    assert (runner.writes(mark), cluster.dump()) == ([], before)
    return told


@pytest.fixture(scope="module")
def first(cluster: Cluster, runner: Runner, foreseen: tuple[Played, Played]) -> dict[str, Any]:
    """The record after the first run, which is one Event on it."""
    assert foreseen
    began = int(time.time())
    runner.play("enable_gpu").check()
    status = sight.record(cluster)
    assert began <= sight.seconds(status["lastChecked"]) <= time.time()
    assert 0 < status["lastRunSeconds"] <= time.time() - began
    assert sight.phase_events(cluster) == [("nvidia-gpu", "HardwareReady", 1)]
    return status


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner, first: dict[str, Any]) -> None:
    """All GPU nodes are ready; a test that finds them so does not pay for a run."""
    assert first
    if {sight.marks(cluster)[node].get("nvidia-gpu") for node in GPU_NODES} != {"ready"}:
        runner.play("enable_gpu").check()


def test_check_on_an_empty_cluster_predicts(foreseen: tuple[Played, Played]) -> None:
    played, by_viewer = (told.check() for told in foreseen)
    assert "\nwould create 19 objects:\n" in played.output
    assert "\n  + create DaemonSet nvidia-gpu/nvidia-driver-6-8-0-60-generic-" in played.output
    # Bodies of new objects are for -v.
    assert len(played.output.splitlines()) < 120
    assert played.changed > 0
    assert by_viewer.changed > 0


@pytest.mark.usefixtures("enabled")
def test_a_run_makes_every_gpu_node_ready(cluster: Cluster) -> None:
    for name, carried in sight.marks(cluster).items():
        if name in GPU_NODES:
            node = sight.nodes(cluster)[name]
            assert carried["nvidia-gpu"] == "ready"
            assert {carried[f"nvidia-gpu.{gate}"] for gate in GATES} == {"ready"}
            assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
            assert "nvidia.com/gpu.product" in node["metadata"]["labels"]
        else:
            assert carried == {}


@pytest.mark.usefixtures("enabled")
def test_each_node_runs_the_driver_of_its_kernel(cluster: Cluster) -> None:
    by_node = driver_of(cluster)
    assert set(by_node) == set(GPU_NODES)
    assert by_node["gpu-old-1"] == by_node["gpu-old-2"] != by_node["gpu-new-1"]


@pytest.mark.usefixtures("enabled")
def test_the_record_says_so(cluster: Cluster) -> None:
    row = cluster.kubectl("get", "sr", "nvidia-gpu", "--no-headers").split()
    assert row[:4] == ["nvidia-gpu", "ready", "3/3", "2"]
    conditions = sight.record(cluster)["conditions"]
    assert {entry["type"]: entry["status"] for entry in conditions} == {
        "Ready": "True",
        "Progressing": "False",
        "Degraded": "False",
    }


def test_what_did_it_and_when_is_in_the_record(first: dict[str, Any]) -> None:
    assert first["versions"].keys() == {"collection", "recipe", "driver"}
    assert first["versions"]["driver"] == "595.91.07"
    assert (first["causes"], first["phaseSince"]) == ([], first["lastChecked"])


@pytest.mark.usefixtures("enabled")
def test_the_record_is_readable(cluster: Cluster) -> None:
    head, row = cluster.kubectl("get", "hwe", "-o", "wide").splitlines()
    assert head.split()[4:] == ["AGE", "DRIVER", "SINCE", "CHECKED", "MESSAGE"]
    assert row.endswith("all 3 nodes are ready")
    explained = cluster.kubectl("explain", "specialresources.status.causes.blocked.state")
    assert "Name of the state." in explained
    events = cluster.kubectl("describe", "hwe", "nvidia-gpu").split("Events:")[1]
    assert "all 3 nodes are ready" in events


@pytest.mark.usefixtures("enabled")
def test_a_further_run_changes_nothing(cluster: Cluster, runner: Runner) -> None:
    # Controllers of the cluster go on for a moment: endpoints follow pods in batches.
    wait_until(
        lambda: sight.has_endpoints(cluster, "nvidia-dcgm-exporter", nodes=3),
        "the exporter's endpoints on 3 nodes",
    )
    before, mark = cluster.dump(), cluster.mark()
    events = sight.phase_events(cluster)
    played = runner.play("enable_gpu").unchanged()
    assert not any(text in played.output for text in ("created", "updated", "changed our labels"))
    # All images are named, so that no task costs anything that would look for them.
    assert "state_driver_container :" not in played.output
    # What is not asked for is one line, and not one for each task.
    assert played.output.count("skipping: [localhost]") == 5, played.output
    assert runner.writes(mark) == []
    assert cluster.dump() == before
    assert sight.phase_events(cluster) == events


@pytest.mark.usefixtures("enabled")
def test_an_old_look_is_noted_anew_without_a_lock_or_a_change(
    cluster: Cluster, runner: Runner
) -> None:
    patch = '{"status":{"lastChecked":"2026-01-01T00:00:00Z"}}'
    cluster.kubectl(
        "patch", "hwe", "nvidia-gpu", "--subresource=status", "--type=merge", "-p", patch
    )
    mark, began = cluster.mark(), int(time.time())
    runner.play("enable_gpu").unchanged()
    (write,) = runner.writes(mark)
    assert "specialresources/nvidia-gpu/status" in write
    status = sight.record(cluster)
    assert began <= sight.seconds(status["lastChecked"]) <= time.time()
    assert (status["phase"], status["kernelCount"]) == ("ready", 2)


@pytest.mark.usefixtures("enabled")
def test_check_and_diff_on_a_converged_cluster_show_nothing(runner: Runner) -> None:
    played = runner.play("enable_gpu", "--check", "--diff").check()
    played.unchanged()
    assert not any(text in played.output for text in ("+++", "would"))


@pytest.mark.usefixtures("enabled")
def test_status_is_ready(cluster: Cluster, runner: Runner, tmp_path: Path) -> None:
    names = ("status.json", "page.html", "record.prom", "status.xml")
    file, page, metrics, junit = (tmp_path / name for name in names)
    mark = cluster.mark()
    played = runner.play(
        "status",
        hardware_enablement_status_file=str(file),
        hardware_enablement_report=str(page),
        hardware_enablement_metrics_file=str(metrics),
        hardware_enablement_junit_file=str(junit),
    ).check()
    # What is well takes two lines.
    assert "\n  nvidia-gpu: ready, 3/3 nodes, 2 kernels\n    ready: driver" in (played.output)
    assert json.loads(file.read_text())["nvidia-gpu"]["phase"] == "ready"
    assert "nvidia-gpu <span" in page.read_text()
    (resource,) = json.loads(page.with_suffix(".json").read_text())["clusters"][0]["resources"]
    assert {node["phase"] for node in resource["nodes"].values()} == {"ready"}
    assert len({node["group"] for node in resource["nodes"].values()}) == 2
    assert resource["last_run"] == sight.record(cluster)["lastChecked"]
    assert '_nodes_ready{cluster="localhost",name="nvidia-gpu"} 3\n' in metrics.read_text()
    assert '<testsuite name="localhost.nvidia-gpu" tests="8" failures="0"' in junit.read_text()
    assert runner.writes(mark) == []


@pytest.mark.usefixtures("enabled")
def test_drift_is_repaired(cluster: Cluster, runner: Runner) -> None:
    patch = '{"spec":{"template":{"spec":{"priorityClassName":"system-cluster-critical"}}}}'
    name = "daemonset/nvidia-device-plugin"
    assert name in cluster.kubectl("get", "daemonset", "-n", "nvidia-gpu", "-o", "name").replace(
        ".apps", ""
    )
    cluster.kubectl("patch", name, "-n", "nvidia-gpu", "--type=merge", "-p", patch)
    change = "spec.template.spec.priorityClassName system-cluster-critical -> system-node-critical"
    check = runner.play("enable_gpu", "--check", "--diff").check()
    assert "\n-spec.template.spec.priorityClassName: system-cluster-critical\n" in check.output
    played = runner.play("enable_gpu").check()
    assert "\n  updated 1 object:\n" in played.output
    assert change in played.output
    spec = json.loads(cluster.kubectl("get", name, "-n", "nvidia-gpu", "-o", "json"))["spec"][
        "template"
    ]["spec"]
    assert spec["priorityClassName"] == "system-node-critical"
    runner.play("enable_gpu").unchanged()


@pytest.mark.usefixtures("enabled")
def test_a_third_kernel_gets_its_driver_and_the_one_that_is_gone_goes(
    cluster: Cluster, runner: Runner
) -> None:
    cluster.reboot("gpu-new-1", "6.8.0-99-generic")
    cluster.relabel("gpu-new-1")
    old = driver_of(cluster)["gpu-old-1"]
    runner.play("enable_gpu").check()
    names = cluster.kubectl(
        "get", "ds", "-n", "nvidia-gpu", "-l", f"{sight.STATE_LABEL}=driver", "-o", "name"
    ).split()
    assert len(names) == 2
    assert driver_of(cluster)["gpu-old-1"] == old
    assert "6-8-0-99" in driver_of(cluster)["gpu-new-1"]


@pytest.mark.usefixtures("enabled")
def test_nothing_is_pruned_when_nfds_labels_are_gone(cluster: Cluster, runner: Runner) -> None:
    before = cluster.kubectl("get", "ds", "-n", "nvidia-gpu", "-o", "name")
    cluster.stop_daemon("nfd-master")
    try:
        labels = ("pci-0302_10de.present-", "kernel-version.full-")
        for name in GPU_NODES:
            cluster.kubectl(
                "label", "node", name, *(f"feature.node.kubernetes.io/{label}" for label in labels)
            )
        # No time is long enough while no node at all has the hardware, and every playbook says what
        # helps.
        played = runner.play("enable_gpu", hardware_enablement_vanished_grace=0)
        assert played.code != 0
        assert cluster.kubectl("get", "ds", "-n", "nvidia-gpu", "-o", "name") == before
        helps = "looked for feature.node.kubernetes.io/pci-0302_10de.present=true or "
        task = played.output.split(": Apply the states in their order")[1].split("TASK")[0]
        assert helps in task
        assert "nvidia-gpu: vanished, 0/3 nodes, 2 kernels" in played.output
        status = runner.play("status")
        assert status.code != 0
        looked, stopped = status.output.split(
            "TASK [Stop where something is not ready, or nothing is enabled]"
        )
        # Why is said once, and what comes last is how things stand.
        assert helps in looked
        assert helps not in stopped
        assert "nvidia-gpu: vanished, 0/3 nodes, 2 kernels" in stopped
        row = cluster.kubectl("get", "hwe", "nvidia-gpu", "--no-headers").split()
        assert row[:4] == ["nvidia-gpu", "vanished", "0/3", "2"]
        assert ("nvidia-gpu", "HardwareVanished", 1) in sight.phase_events(cluster)
    finally:
        cluster.start_daemon("nfd-master")
        for name in GPU_NODES:
            cluster.relabel(name)
    runner.play("enable_gpu").check()
    # The second time that it has become ready is the same Event once more.
    assert ("nvidia-gpu", "HardwareReady", 2) in sight.phase_events(cluster)


@pytest.mark.usefixtures("enabled")
def test_disable_refuses_while_a_pod_holds_a_gpu(cluster: Cluster, runner: Runner) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "user"},
        "spec": {
            "containers": [
                {
                    "name": "c",
                    "image": "example.com/user:1",
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                }
            ]
        },
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(pod))
    cluster.kubectl("wait", "--for=condition=Ready", "pod/user", PATIENTLY)
    mark = cluster.mark()
    played = runner.play("disable", hardware_enablement_recipe="nvidia-gpu")
    assert played.code != 0
    assert "default/user" in played.output
    assert runner.writes(mark) == []
    cluster.kubectl("delete", "pod", "user", "--now")


@pytest.mark.usefixtures("enabled")
def test_disable_leaves_nothing_and_the_rights_of_a_recipe_are_enough_for_all_of_it(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    played = runner.play(
        "disable", hardware_enablement_recipe="nvidia-gpu", hardware_enablement_delete_crd=True
    ).check()
    for line in (
        "removed 6 DaemonSets, 5 ServiceAccounts, 3 ConfigMaps, ",
        "removed Namespace nvidia-gpu, SpecialResource nvidia-gpu, CustomResourceDefinition ",
        "removed our labels and annotations of 3 nodes: gpu-new-1, gpu-old-1, gpu-old-2\n",
        "stays: Namespace hardware-enablement, kept for the next run; to remove it: kubectl delete ",
    ):
        assert f"\n  {line}" in played.output
    assert [name for name, carried in sight.marks(cluster).items() if carried] == []
    left = [
        key for key in cluster.dump() if "nvidia" in key.lower() or "specialresource" in key.lower()
    ]
    assert [key for key in left if "NodeFeature" not in key] == []
    runner.play("disable", hardware_enablement_recipe="nvidia-gpu").unchanged()

    narrow, file = Runner(cluster, "narrow", tmp_path), tmp_path / "rights.yaml"
    recipe = {"hardware_enablement_recipe": "nvidia-gpu"}
    subjects = [{"kind": "User", "name": "narrow"}]
    settings = {
        "hardware_enablement_rights_file": str(file),
        "hardware_enablement_rights_subjects": subjects,
    }
    narrow.without_kubeconfig().play("rights", **recipe, **settings).check()
    cluster.kubectl("apply", "-f", str(file))
    for verb, kind, namespace, expected in (
        ("create", "daemonsets", "nvidia-gpu", "yes"),
        ("create", "daemonsets", "default", "no"),
        ("get", "secrets", "nvidia-gpu", "no"),
        ("patch", "runtimeclasses/nvidia", "default", "yes"),
        ("patch", "runtimeclasses/other", "default", "no"),
        ("patch", "specialresources.hardware-enablement.io/other", "default", "no"),
        ("create", "namespaces", "default", "no"),
    ):
        asked = ("auth", "can-i", verb, kind, "-n", namespace, "--as", "narrow")
        assert answer(cluster, *asked) == expected, asked
    narrow.play("enable_gpu").check()
    narrow.play("enable_gpu").unchanged()
    narrow.play("disable", **recipe, hardware_enablement_delete_crd=True).check()
    cluster.kubectl("delete", "-f", str(file))


@pytest.mark.parametrize("case", sorted(path.name for path in BROKEN.iterdir()))
def test_a_broken_recipe_is_refused_before_the_first_write(
    cluster: Cluster, runner: Runner, case: str
) -> None:
    mark = cluster.mark()
    played = runner.play(
        "enable", hardware_enablement_recipe=case, hardware_enablement_recipe_dir=str(BROKEN)
    )
    assert played.code != 0
    assert "Traceback" not in played.output
    assert runner.writes(mark) == []
