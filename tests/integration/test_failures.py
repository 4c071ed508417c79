# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong is reported in time and in words, costs no gate that was proven, no pod and no
other node.

The tests build on each other: five faults on five nodes before anything was proven, then again on a
cluster that was ready. A sixth node is sound throughout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.plays import Played, Runner

pytestmark = pytest.mark.faults

GRACE_S = 5
SOUND, DEAD = "gpu-more-3", "gpu-more-2"
KERNEL = "6.8.0-71-generic"


@dataclass(frozen=True)
class Case:
    """A fault on a node: the state that it shows in, and what the sentence about it must hold."""

    node: str
    operand: str
    play: str
    state: str
    words: tuple[str, ...]
    params: tuple[tuple[str, Any], ...] = ()

    def set(self, cluster: Cluster) -> None:
        set_fault(cluster.kubeconfig, self.node, self.operand, self.play, **dict(self.params))


CRASH = Case(
    "gpu-old-1",
    "driver",
    "crash",
    "driver",
    (
        "pod nvidia-gpu/nvidia-driver-",
        "container driver",
        "CrashLoopBackOff",
        "exit code 3",
        "Key was rejected",
    ),
    (
        ("exit_code", 3),
        ("message", "modprobe: could not insert 'nvidia': Key was rejected by service"),
    ),
)
IMAGE = Case(
    "gpu-old-2",
    "driver",
    "image-pull",
    "driver",
    (
        "pod nvidia-gpu/nvidia-driver-",
        "ImagePullBackOff",
        "nvcr.io/nvidia/driver:595-6.8.0-60-generic",
    ),
)
PLACE = Case(
    "gpu-new-1",
    "runtime-hook",
    "never-scheduled",
    "runtime_hook",
    (
        "pod nvidia-gpu/nvidia-container-toolkit-",
        "finds no place",
        "node(s) didn't match Pod's node affinity/selector",
    ),
)
CUDA = Case(
    "gpu-more-1",
    "driver-validator",
    "fail",
    "driver_validation",
    (
        "pod nvidia-gpu/validate-driver-validation-",
        "exit code 4",
        "no CUDA-capable device is detected",
    ),
    (("exit_code", 4), ("message", "cudaErrorNoDevice: no CUDA-capable device is detected")),
)
PLUGIN = Case(
    DEAD,
    "device-plugin",
    "dead",
    "device_plugin",
    (
        "pod nvidia-gpu/nvidia-device-plugin-",
        "no longer ready",
        "the socket of the kubelet is gone",
    ),
    (("message", "the socket of the kubelet is gone"),),
)
HOOK_CRASH = Case(
    "gpu-more-4",
    "runtime-hook",
    "crash",
    "runtime_hook",
    (
        "pod nvidia-gpu/nvidia-container-toolkit-",
        "CrashLoopBackOff",
        "exit code 5",
        "no such runtime",
    ),
    (("exit_code", 5), ("message", "no such runtime")),
)
PLUGIN_CRASH = Case(
    "gpu-more-5",
    "device-plugin",
    "crash",
    "device_plugin",
    (
        "pod nvidia-gpu/nvidia-device-plugin-",
        "CrashLoopBackOff",
        "exit code 6",
        "could not register",
    ),
    (("exit_code", 6), ("message", "could not register")),
)
NEVER_PROVEN = (CRASH, IMAGE, PLACE, CUDA)
PROVEN = (*NEVER_PROVEN, PLUGIN, HOOK_CRASH, PLUGIN_CRASH)
GPU_NODES = (*(case.node for case in PROVEN), SOUND)


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Cluster:
    """Eight GPU nodes."""
    cluster.add_nodes(5, prefix="gpu-more", kernel=KERNEL)
    return cluster


def run_with_faults(runner: Runner) -> Played:
    """One run. It would be ended in the middle if it waited until a state's own time is over: the
    recipe gives each of these states at least ten minutes, and a play has five."""
    return runner.play("enable_gpu", hardware_enablement_failure_grace=GRACE_S)


def check_report(cluster: Cluster, played: Played, case: Case) -> None:
    """One sentence with node, object, reason and last log line, in the output and in the record."""
    problem = sight.problems(cluster)[(case.node, case.state)]
    for word in case.words:
        assert word in problem["message"], problem
    assert len(problem["message"]) < 320
    assert "\n" not in problem["message"]
    assert "{" not in problem["message"].replace("{nvidia.com", "")
    line = next(
        line for line in played.output.splitlines() if f"! node {case.node}, {case.state} " in line
    )
    assert line.endswith(problem["message"])


def make_ready(cluster: Cluster, runner: Runner) -> None:
    """After the faults are gone a run makes everything ready, and a further one changes nothing."""
    clear_faults(cluster.kubeconfig)
    runner.play("enable_gpu").check()
    assert {sight.gates(cluster, node)[""] for node in GPU_NODES} == {"ready"}
    mark = cluster.mark()
    again = runner.play("enable_gpu").check()
    assert (again.changed, runner.writes(mark)) == (0, []), again.output


@pytest.fixture(scope="module")
def first(scene: Cluster, runner: Runner) -> Played:
    """A first run with faults."""
    for case in NEVER_PROVEN:
        case.set(scene)
    return run_with_faults(runner)


@pytest.fixture(scope="module")
def before(scene: Cluster) -> dict[tuple[str, str], str]:
    """The pods of the cluster that became ready after that."""
    return sight.uids(scene)


@pytest.fixture(scope="module")
def second(scene: Cluster, runner: Runner, before: dict[tuple[str, str], str]) -> Played:
    """A run with faults after everything was ready."""
    assert before
    for case in PROVEN:
        case.set(scene)
    # A pod that runs needs neither an image nor a place, and a proof that holds is not run again.
    sight.delete_pod(scene, IMAGE.node, IMAGE.state)
    sight.delete_pod(scene, PLACE.node, PLACE.state)
    scene.reboot(CUDA.node, KERNEL)
    return run_with_faults(runner)


class TestNeverProven:
    """Faults in a first run: no gate where nothing was proven."""

    @pytest.mark.parametrize("case", NEVER_PROVEN, ids=lambda case: case.node)
    def test_each_is_reported_in_words(self, cluster: Cluster, first: Played, case: Case) -> None:
        check_report(cluster, first, case)

    @pytest.mark.parametrize("case", NEVER_PROVEN, ids=lambda case: case.node)
    @pytest.mark.usefixtures("first")
    def test_no_gate_and_no_dependant(self, cluster: Cluster, case: Case) -> None:
        gates = sight.gates(cluster, case.node)
        assert gates.pop("") == f"{case.state}.failed"
        assert case.state not in gates
        assert "device_plugin" not in gates
        assert not {"device_plugin", "monitoring", "feature_discovery"} & {
            state for node, state in sight.pods(cluster) if node == case.node
        }

    def test_the_run_fails_and_other_nodes_are_ready(self, cluster: Cluster, first: Played) -> None:
        assert first.code != 0
        assert "4 of 8 nodes are ready" in first.output
        assert "Traceback" not in first.output
        assert [sight.gates(cluster, node)[""] for node in (SOUND, DEAD)] == ["ready", "ready"]

    @pytest.mark.usefixtures("first")
    def test_after_the_cause_is_mended_a_run_makes_ready(
        self, cluster: Cluster, runner: Runner
    ) -> None:
        make_ready(cluster, runner)


class TestProven:
    """The same faults on nodes that were ready: the gate says so, and nobody loses a pod."""

    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: case.node)
    def test_each_is_reported_in_words(self, cluster: Cluster, second: Played, case: Case) -> None:
        check_report(cluster, second, case)

    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: case.node)
    @pytest.mark.usefixtures("second")
    def test_the_gate_stays_and_tells_the_truth(self, cluster: Cluster, case: Case) -> None:
        gates = sight.gates(cluster, case.node)
        assert gates[case.state] == "degraded"
        assert gates[""] == f"{case.state}.degraded"
        assert case.state not in sight.proofs(cluster, case.node)

    @pytest.mark.parametrize(
        "case", [CRASH, PLUGIN, HOOK_CRASH, PLUGIN_CRASH], ids=lambda case: case.node
    )
    def test_what_stands_on_it_is_blocked_by_it_and_called_so(
        self, cluster: Cluster, second: Played, case: Case
    ) -> None:
        assert sight.gates(cluster, case.node)["device_plugin_validation"] == "degraded"
        # Nothing was wrong with it, so it is not proven again when its cause has been mended.
        assert "device_plugin_validation" in sight.proofs(cluster, case.node)
        rows = {row["name"]: row for row in sight.record(cluster)["states"]}
        assert rows["device_plugin_validation"]["phase"] == "blocked"
        assert rows["device_plugin_validation"]["ready"] == 1, "only the sound node"
        assert "behind it: " in second.output

    @pytest.mark.usefixtures("second")
    def test_all_other_pods_are_the_ones_from_before(
        self, cluster: Cluster, before: dict[tuple[str, str], str]
    ) -> None:
        after = sight.uids(cluster)
        replaced = {(IMAGE.node, IMAGE.state), (PLACE.node, PLACE.state)}
        assert {place: uid for place, uid in before.items() if place not in replaced} == {
            place: uid for place, uid in after.items() if place in before and place not in replaced
        }

    def test_the_run_ends_as_soon_as_what_is_left_is_blocked_or_final(self, second: Played) -> None:
        assert second.code != 0

    def test_other_nodes_stay_ready(self, cluster: Cluster, second: Played) -> None:
        assert "1 of 8 nodes are ready" in second.output
        assert set(sight.gates(cluster, SOUND).values()) == {"ready"}

    @pytest.mark.usefixtures("second")
    def test_capacity_stays_where_the_plugin_died(self, cluster: Cluster) -> None:
        status = sight.nodes(cluster)[DEAD]["status"]
        assert (status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]) == (
            "8",
            "0",
        )

    def test_the_record_is_degraded(self, cluster: Cluster, second: Played) -> None:
        assert second.code != 0
        conditions = {item["type"]: item for item in sight.record(cluster)["conditions"]}
        assert (conditions["Degraded"]["status"], conditions["Degraded"]["reason"]) == (
            "True",
            "Regressed",
        )
        assert conditions["Ready"]["status"] == "False"
        assert sight.record(cluster)["causes"][0]["state"] in {case.state for case in PROVEN}

    @pytest.mark.usefixtures("second")
    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: str(case.node))
    def test_one_event_on_its_node_says_so(self, cluster: Cluster, case: Case) -> None:
        found = [
            event
            for event in sight.phase_events(cluster)
            if event[:2] == (case.node, "HardwareDegraded")
        ]
        assert found == [(case.node, "HardwareDegraded", 1)]

    @pytest.mark.usefixtures("second")
    def test_after_the_cause_is_mended_a_run_makes_ready(
        self, cluster: Cluster, runner: Runner
    ) -> None:
        make_ready(cluster, runner)
