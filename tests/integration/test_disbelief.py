# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine is not believed: without its gates the operands fail by themselves, and without proofs
there are no gates."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.plays import REPO, Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.faults

Obj = dict[str, Any]

CRASHING, SLOW, SOUND = "gpu-old-1", "gpu-old-2", "gpu-new-1"
DEPENDANTS = ("runtime_hook", "device_plugin", "monitoring", "feature_discovery")
CUDA = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04"


def without_gates(daemonset: Obj) -> Obj:
    """A DaemonSet as kubectl may apply it again, whose pods wait for no label of ours."""
    kept = {key: daemonset["metadata"][key] for key in ("name", "namespace", "labels")}
    spec = daemonset["spec"]["template"]["spec"]
    required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    for term in required["nodeSelectorTerms"]:
        term["matchExpressions"] = [
            item for item in term["matchExpressions"] if not item["key"].startswith(sight.SUMMARY)
        ]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": kept,
        "spec": daemonset["spec"],
    }


def validator(node: str) -> Obj:
    """The CUDA sample on a node, started by hand."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"by-hand-{node}"},
        "spec": {
            "restartPolicy": "Never",
            "nodeSelector": {"kubernetes.io/hostname": node},
            "containers": [{"name": "c", "image": CUDA}],
        },
    }


def phase_of(cluster: Cluster, node: str) -> str:
    """How far that pod is."""
    return str(
        cluster.api.get(f"/api/v1/namespaces/default/pods/by-hand-{node}")["status"]["phase"]
    )


def without_validation(cluster: Cluster, runner: Runner) -> None:
    """There is no gate and no dependant."""
    set_fault(cluster.kubeconfig, CRASHING, "driver", "crash")
    set_fault(cluster.kubeconfig, SLOW, "driver", "slow", seconds=300)
    runner.play("enable_gpu", "--skip-tags", "validation").check()
    wait_until(
        lambda: sight.is_ready(sight.pods(cluster).get((SOUND, "driver"), {})),
        f"the driver is ready on {SOUND}",
    )
    assert all(carried == {} for carried in sight.marks(cluster).values())
    assert {state for _node, state in sight.pods(cluster)} == {"driver"}


def with_gates_taken_away(cluster: Cluster) -> None:
    """Dependants start everywhere and serve only where the driver does."""
    path = f"/apis/apps/v1/namespaces/{sight.NAMESPACE}/daemonsets"
    daemonsets = [without_gates(item) for item in cluster.api.get(path)["items"]]
    cluster.kubectl(
        "replace",
        "-f",
        "-",
        stdin=json.dumps({"apiVersion": "v1", "kind": "List", "items": daemonsets}),
    )
    wanted = {(node, state) for node in (CRASHING, SLOW, SOUND) for state in DEPENDANTS}
    wait_until(lambda: wanted <= sight.pods(cluster).keys(), "the dependants' pods")
    wait_until(
        lambda: all(sight.is_ready(sight.pods(cluster)[(SOUND, state)]) for state in DEPENDANTS),
        f"the dependants are ready on {SOUND}",
    )
    for node in (CRASHING, SLOW):
        assert not any(sight.is_ready(sight.pods(cluster)[(node, state)]) for state in DEPENDANTS)
        assert sight.nodes(cluster)[node]["status"]["allocatable"].get("nvidia.com/gpu", "0") == "0"
    assert sight.nodes(cluster)[SOUND]["status"]["allocatable"]["nvidia.com/gpu"] == "8"


def with_validators_by_hand(cluster: Cluster) -> None:
    """They fail where the driver is missing and say so."""
    for node in (CRASHING, SLOW, SOUND):
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(validator(node)))
    wait_until(
        lambda: all(
            phase_of(cluster, n) in ("Succeeded", "Failed") for n in (CRASHING, SLOW, SOUND)
        ),
        "the end of all validators",
    )
    assert phase_of(cluster, SOUND) == "Succeeded"
    for node in (CRASHING, SLOW):
        assert phase_of(cluster, node) == "Failed"
        assert f"no NVIDIA driver is loaded on node {node}" in cluster.kubectl(
            "logs", f"by-hand-{node}"
        )


@pytest.fixture
def unproven(cluster: Cluster, runner: Runner) -> None:
    """Nothing was enabled, or is any more."""
    clear_faults(cluster.kubeconfig)
    if any(sight.marks(cluster).values()):
        runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()


@pytest.mark.usefixtures("unproven")
def test_without_the_engine_the_operands_fail_by_themselves(
    cluster: Cluster, runner: Runner
) -> None:
    without_validation(cluster, runner)
    with_gates_taken_away(cluster)
    with_validators_by_hand(cluster)


@pytest.mark.usefixtures("unproven")
def test_validations_that_never_run_make_no_gate_until_they_do(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    recipe = tmp_path / "nvidia-gpu"
    shutil.copytree(REPO / "recipes" / "nvidia-gpu", recipe)
    pod = recipe / "validation" / "cuda.yaml.j2"
    pod.write_text(
        pod.read_text().replace("\nspec:\n", "\nspec:\n  nodeSelector: {nowhere: to-be-found}\n")
    )
    played = runner.play(
        "enable_gpu",
        hardware_enablement_recipe_dir=str(tmp_path),
        hardware_enablement_failure_grace=3,
    )
    assert played.code != 0
    assert "driver_validation unknown" in played.output
    for node in (CRASHING, SLOW, SOUND):
        # Driver and hook are proven by their pods; what the validation would have proven is not,
        # nor what follows.
        gates = sight.gates(cluster, node)
        assert {state: value for state, value in gates.items() if state} == {
            "driver": "ready",
            "runtime_hook": "ready",
        }
        assert gates[""] != "ready"
        assert "driver_validation" not in sight.proofs(cluster, node)
    assert sight.record(cluster)["phase"] != "ready"

    # With the true recipe everything becomes ready.
    runner.play("enable_gpu").check()
    assert {sight.gates(cluster, node)[""] for node in (CRASHING, SLOW, SOUND)} == {"ready"}
