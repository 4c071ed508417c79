# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong is reported in time and in words, costs no gate that was proven, no pod and no
other node.

Faults on some nodes before anything was proven, then on more of a cluster that was ready; one node is
sound throughout. Each is one run that all tests about it share, with what the cluster showed then."""

from __future__ import annotations

import json
import re
import tarfile
from dataclasses import dataclass
from pathlib import Path
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
        "nvcr.io/nvidia/driver:595.91.07-ubuntu24.04",
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
UNHEALTHY = Case(
    "gpu-more-6",
    "device-plugin",
    "unhealthy",
    "device_plugin",
    ("1 of the node's 8 nvidia.com/gpu is unhealthy, 0 may be",),
    (("devices", 1),),
)
NEVER_PROVEN = (CRASH, IMAGE, PLACE, CUDA)
PROVEN = (*NEVER_PROVEN, PLUGIN, HOOK_CRASH, PLUGIN_CRASH, UNHEALTHY)
GPU_NODES = (*(case.node for case in PROVEN), SOUND)


@pytest.fixture(scope="module")
def scene(cluster: Cluster) -> Cluster:
    """Nine GPU nodes."""
    cluster.add_nodes(6, prefix="gpu-more", kernel=KERNEL)
    return cluster


def run_with_faults(runner: Runner) -> Played:
    """One run. It would be ended in the middle if it waited until a state's own time is over: the
    recipe gives each of these states at least ten minutes, and a play has five."""
    return runner.play("enable_gpu", hardware_enablement_failure_grace=GRACE_S)


@dataclass(frozen=True)
class Seen:
    """A run, and what the cluster showed after it."""

    played: Played
    writes: list[str]
    record: dict[str, Any]
    problems: dict[tuple[str, str], dict[str, Any]]
    nodes: dict[str, dict[str, Any]]
    gates: dict[str, dict[str, str]]
    proofs: dict[str, dict[str, Any]]
    uids: dict[tuple[str, str], str]
    events: list[tuple[str, str, int]]


def observe(cluster: Cluster, runner: Runner, **variables: Any) -> Seen:
    """One run. It would be ended in the middle if it waited until a state's own time is over: the
    recipe gives each of these states at least ten minutes, and a play has five."""
    mark = cluster.mark()
    played = runner.play("enable_gpu", **variables)
    return Seen(
        played,
        runner.writes(mark),
        sight.record(cluster),
        sight.problems(cluster),
        sight.nodes(cluster),
        {node: sight.gates(cluster, node) for node in GPU_NODES},
        {node: sight.proofs(cluster, node) for node in GPU_NODES},
        sight.uids(cluster),
        sight.phase_events(cluster),
    )


def mend(cluster: Cluster, runner: Runner) -> tuple[Seen, Seen]:
    """What a run makes of it after the faults are gone, and a further one."""
    clear_faults(cluster.kubeconfig)
    return observe(cluster, runner), observe(cluster, runner)


@pytest.fixture(scope="module")
def first(scene: Cluster, runner: Runner) -> Seen:
    """A first run with faults."""
    for case in NEVER_PROVEN:
        case.set(scene)
    return observe(scene, runner, hardware_enablement_failure_grace=GRACE_S)


@pytest.fixture(scope="module")
def mended(scene: Cluster, runner: Runner, first: Seen) -> tuple[Seen, Seen]:
    """The cluster became ready after that."""
    assert first.problems
    return mend(scene, runner)


# In a Secret, in an address, in a header: a log says all of them.
PLANTED = ("planted-one", "planted-two", "planted-three")


def plant(cluster: Cluster) -> None:
    """A pod beside the operands that cannot keep secrets."""
    said = "login {} at https://me:{}@db.example.com, then Bearer {}".format(*PLANTED)
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "planted", "namespace": sight.NAMESPACE},
        "stringData": {"password": PLANTED[0]},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "talker",
            "namespace": sight.NAMESPACE,
            "annotations": {"sim.hardware-enablement.io/log": said},
        },
        "spec": {
            "nodeName": SOUND,
            "containers": [{"name": "talker", "image": "registry.example.com/team/talker:1"}],
        },
    }
    for obj in (secret, pod):
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(obj))


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where support bundles are, once the second run has failed."""
    return tmp_path_factory.mktemp("bundles")


def unpacked(archive: Path) -> dict[str, str]:
    """The texts of a bundle by their path, in their order."""
    with tarfile.open(archive) as opened:
        files = {entry.name.partition("/")[2]: opened.extractfile(entry) for entry in opened}
        return {path: file.read().decode() for path, file in files.items() if file}


@pytest.fixture(scope="module")
def second(scene: Cluster, runner: Runner, mended: tuple[Seen, Seen], bundles: Path) -> Seen:
    """A run with faults after everything was ready, and what is handed to others then."""
    check_ready(*mended)
    for case in PROVEN:
        case.set(scene)
    # A pod that runs needs neither an image nor a place, and a proof that holds is not run again.
    sight.delete_pod(scene, IMAGE.node, IMAGE.state)
    sight.delete_pod(scene, PLACE.node, PLACE.state)
    scene.reboot(CUDA.node, KERNEL)
    seen = observe(scene, runner, hardware_enablement_failure_grace=GRACE_S)
    plant(scene)
    mark = scene.mark()
    for anonymous in (False, True):
        runner.play(
            "support_bundle",
            hardware_enablement_support_file=str(bundles / f"{anonymous}.tar.gz"),
            hardware_enablement_support_anonymous=anonymous,
        ).check()
    assert runner.writes(mark) == []
    scene.kubectl(
        "delete", "pod,secret", "-n", sight.NAMESPACE, "talker", "planted", "--ignore-not-found"
    )
    return seen


def check_report(seen: Seen, case: Case) -> None:
    """One sentence with node, object, reason and last log line, in the output and in the record."""
    problem = seen.problems[(case.node, case.state)]
    for word in case.words:
        assert word in problem["message"], problem
    assert len(problem["message"]) < 320
    assert "\n" not in problem["message"]
    assert "{" not in problem["message"].replace("{nvidia.com", "")
    line = next(
        line
        for line in seen.played.output.splitlines()
        if f"! node {case.node}, {case.state} " in line
    )
    assert line.endswith(problem["message"])


def check_ready(run: Seen, again: Seen) -> None:
    """A run made everything ready, and a further one changed nothing."""
    run.played.check()
    assert {gates[""] for gates in run.gates.values()} == {"ready"}
    again.played.unchanged()
    assert again.writes == []


class TestNeverProven:
    """Faults in a first run: no gate where nothing was proven."""

    @pytest.mark.parametrize("case", NEVER_PROVEN, ids=lambda case: case.node)
    def test_each_is_reported_in_words(self, first: Seen, case: Case) -> None:
        check_report(first, case)

    @pytest.mark.parametrize("case", NEVER_PROVEN, ids=lambda case: case.node)
    def test_no_gate_and_no_dependant(self, first: Seen, case: Case) -> None:
        gates = dict(first.gates[case.node])
        assert gates.pop("") == f"{case.state}.failed"
        assert case.state not in gates
        assert "device_plugin" not in gates
        assert not {"device_plugin", "monitoring", "feature_discovery"} & {
            state for node, state in first.uids if node == case.node
        }

    def test_the_run_fails_and_other_nodes_are_ready(self, first: Seen) -> None:
        assert first.played.code != 0
        assert "5 of 9 nodes are ready" in first.played.output
        assert "Traceback" not in first.played.output
        assert [first.gates[node][""] for node in (SOUND, DEAD)] == ["ready", "ready"]

    def test_after_the_cause_is_mended_a_run_makes_ready(self, mended: tuple[Seen, Seen]) -> None:
        check_ready(*mended)


class TestProven:
    """The same faults on nodes that were ready: the gate says so, and nobody loses a pod."""

    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: case.node)
    def test_each_is_reported_in_words(self, second: Seen, case: Case) -> None:
        check_report(second, case)

    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: case.node)
    def test_the_gate_stays_and_tells_the_truth(self, second: Seen, case: Case) -> None:
        gates = second.gates[case.node]
        assert gates[case.state] == "degraded"
        assert gates[""] == f"{case.state}.degraded"
        assert case.state not in second.proofs[case.node]

    @pytest.mark.parametrize(
        "case", [CRASH, PLUGIN, HOOK_CRASH, PLUGIN_CRASH, UNHEALTHY], ids=lambda case: case.node
    )
    def test_what_stands_on_it_is_blocked_by_it_and_called_so(
        self, second: Seen, case: Case
    ) -> None:
        assert second.gates[case.node]["device_plugin_validation"] == "degraded"
        # Nothing was wrong with it, so it is not proven again when its cause has been mended.
        assert "device_plugin_validation" in second.proofs[case.node]
        rows = {row["name"]: row for row in second.record["states"]}
        assert rows["device_plugin_validation"]["phase"] == "blocked"
        assert rows["device_plugin_validation"]["ready"] == 1, "only the sound node"
        assert "behind it: " in second.played.output

    def test_all_other_pods_are_the_ones_from_before(
        self, mended: tuple[Seen, Seen], second: Seen
    ) -> None:
        before = mended[1].uids
        replaced = {(IMAGE.node, IMAGE.state), (PLACE.node, PLACE.state)}
        assert {place: uid for place, uid in before.items() if place not in replaced} == {
            place: uid
            for place, uid in second.uids.items()
            if place in before and place not in replaced
        }

    def test_the_run_ends_as_soon_as_what_is_left_is_blocked_or_final(self, second: Seen) -> None:
        assert second.played.code != 0

    def test_other_nodes_stay_ready(self, second: Seen) -> None:
        assert "1 of 9 nodes are ready" in second.played.output
        assert set(second.gates[SOUND].values()) == {"ready"}

    def test_capacity_stays_where_the_plugin_died(self, second: Seen) -> None:
        status = second.nodes[DEAD]["status"]
        assert (status["capacity"]["nvidia.com/gpu"], status["allocatable"]["nvidia.com/gpu"]) == (
            "8",
            "0",
        )

    def test_the_record_is_degraded(self, second: Seen) -> None:
        conditions = {item["type"]: item for item in second.record["conditions"]}
        assert (conditions["Degraded"]["status"], conditions["Degraded"]["reason"]) == (
            "True",
            "Regressed",
        )
        assert conditions["Ready"]["status"] == "False"
        assert second.record["causes"][0]["state"] in {case.state for case in PROVEN}

    @pytest.mark.parametrize("case", PROVEN, ids=lambda case: case.node)
    def test_one_event_on_its_node_says_so(self, second: Seen, case: Case) -> None:
        found = [event for event in second.events if event[:2] == (case.node, "HardwareDegraded")]
        assert found == [(case.node, "HardwareDegraded", 1)]

    @pytest.mark.usefixtures("second")
    def test_who_was_not_there_finds_the_causes_in_the_first_file(self, bundles: Path) -> None:
        texts = unpacked(bundles / "False.tar.gz")
        first, *others = texts
        assert first == "README.md"
        assert "1 of 9 nodes" in texts[first] or "1/9 nodes" in texts[first]
        for case in (CRASH, PLUGIN_CRASH):
            assert all(word in texts[first] for word in case.words), texts[first]
        logs = [texts[path] for path in others if "/logs/nvidia-driver-" in path]
        assert any("Key was rejected by service" in log for log in logs)
        named = re.findall(r"the pod's log \((\S+)\)", texts[first])
        assert named
        assert set(named) <= texts.keys()
        assert SOUND in texts["nodes.yaml"]
        assert "All objects are as the recipe has them" in texts["nvidia-gpu/differences.txt"]
        talked = texts["nvidia-gpu/logs/talker-talker.log"]
        assert talked.startswith("login ********")
        assert not [path for path, text in texts.items() if any(each in text for each in PLANTED)]

    @pytest.mark.usefixtures("second")
    def test_whose_cluster_it_is_need_not_be_said(self, bundles: Path) -> None:
        texts = unpacked(bundles / "True.tar.gz")
        named = [*GPU_NODES, "nvcr.io", "registry.example.com"]
        said = [(path, f"{path}\n{text}") for path, text in texts.items()]
        assert not [(path, name) for path, text in said for name in named if name in text]
        assert "node-" in texts["README.md"]
        assert all(word in texts["README.md"] for word in ("CrashLoopBackOff", "exit code 3"))

    def test_after_the_cause_is_mended_a_run_makes_ready(
        self, cluster: Cluster, runner: Runner, second: Seen
    ) -> None:
        assert second.problems
        check_ready(*mend(cluster, runner))
