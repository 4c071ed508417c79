# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from tests.cluster.simulation.model import Behaviour, condition
from tests.cluster.simulation.status import Place, lost_sight
from tests.unit.cluster.simulation.objects import CUDA, DRIVER, PLUGIN, TOOLKIT, Simulated, pod


def test_a_pod_becomes_ready_in_one_write() -> None:
    simulated = Simulated(pod(DRIVER)).until(0.9)
    assert simulated.writes == 0
    simulated.until(60)
    assert (simulated.writes, simulated.pod.phase, simulated.pod.ready) == (1, "Running", True)
    assert simulated.container["state"] == {"running": {"startedAt": "t1"}}
    assert simulated.pod.status["podIP"] == "10.1.0.2"


def test_other_conditions_and_addresses_are_kept() -> None:
    scheduled = {"type": "PodScheduled", "status": "True"}
    made = pod("x", status={"phase": "Pending", "conditions": [scheduled], "podIP": "10.9.9.9"})
    simulated = Simulated(made).until(5)
    assert simulated.pod.status["conditions"][0] == scheduled
    assert simulated.pod.status["podIP"] == "10.9.9.9"


def test_a_dependant_waits_in_its_init_container_until_all_is_there() -> None:
    simulated = Simulated(pod(TOOLKIT, init=True))
    simulated.missing = ["no driver"]
    simulated.until(30)
    assert (simulated.writes, simulated.pod.phase, simulated.waits_for) == (
        1,
        "Pending",
        "PodInitializing",
    )
    assert "running" in simulated.pod.status["initContainerStatuses"][0]["state"]
    simulated.missing = []
    simulated.until(31)
    assert (simulated.writes, simulated.pod.ready) == (2, True)
    assert simulated.pod.status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_dependant_whose_needs_come_soon_is_written_once() -> None:
    simulated = Simulated(pod(TOOLKIT, init=True))
    simulated.missing = ["no driver"]
    simulated.until(1)
    simulated.missing = []
    simulated.until(5)
    assert (simulated.writes, simulated.pod.ready) == (1, True)


def test_slow() -> None:
    simulated = Simulated(pod(DRIVER), Behaviour("slow", seconds=60)).until(59)
    assert (simulated.pod.phase, simulated.pod.ready, simulated.pod.restarts) == (
        "Running",
        False,
        0,
    )
    assert simulated.until(61).pod.ready


def test_a_crash_loop_grows_and_ends_when_the_fault_is_cleared() -> None:
    simulated = Simulated(pod(DRIVER), Behaviour("crash", exit_code=3)).until(1)
    assert (simulated.waits_for, simulated.pod.restarts) == ("CrashLoopBackOff", 1)
    assert simulated.container["lastState"]["terminated"]["exitCode"] == 3
    simulated.until(8)
    assert simulated.pod.restarts == 3  # after 0.5, 2.5 and 6.5 s
    assert simulated.events == ["BackOff"] * 3
    assert simulated.memory.last_log == "simulated crash, exit code 3"
    simulated.behaviour = Behaviour()
    simulated.until(10)
    assert (simulated.pod.ready, simulated.pod.restarts, simulated.memory.last_log) == (True, 3, "")
    assert simulated.container["lastState"]["terminated"]["exitCode"] == 3


def test_a_ready_pod_crashes_at_once_under_a_new_fault() -> None:
    simulated = Simulated(pod(DRIVER)).until(5)
    simulated.behaviour = Behaviour("crash")
    simulated.until(5)
    assert (simulated.waits_for, condition(simulated.pod.status, "Ready")) == (
        "CrashLoopBackOff",
        "False",
    )


def test_later_crash() -> None:
    simulated = Simulated(pod(DRIVER), Behaviour("later-crash", seconds=10)).until(5)
    assert simulated.pod.ready
    assert simulated.until(12).waits_for == "CrashLoopBackOff"
    assert simulated.until(60).pod.restarts > 2


def test_dead_keeps_the_containers_but_not_the_readiness() -> None:
    simulated = Simulated(pod(PLUGIN)).until(5)
    started = simulated.container["state"]
    simulated.behaviour = Behaviour("dead")
    simulated.until(6)
    assert (simulated.pod.phase, simulated.pod.ready, simulated.pod.restarts) == (
        "Running",
        False,
        0,
    )
    assert (simulated.container["state"], simulated.events) == (started, ["Unhealthy"])
    assert Simulated(pod(PLUGIN), Behaviour("dead")).until(9).pod.phase == "Running"


def test_image_pull() -> None:
    simulated = Simulated(
        pod(DRIVER, init=True), Behaviour("image-pull", message="manifest unknown")
    ).until(1)
    assert (simulated.pod.phase, simulated.waits_for) == ("Pending", "ErrImagePull")
    assert simulated.container["state"]["waiting"]["message"] == "manifest unknown"
    simulated.until(60)
    assert (simulated.waits_for, simulated.writes, simulated.events) == (
        "ImagePullBackOff",
        2,
        ["Failed", "BackOff"],
    )
    simulated.behaviour = Behaviour()
    assert simulated.until(70).pod.ready


def test_a_running_pod_does_not_mind_that_its_image_is_gone() -> None:
    simulated = Simulated(pod(DRIVER)).until(5)
    simulated.behaviour = Behaviour("image-pull")
    assert simulated.until(60).pod.ready


def test_a_driver_for_another_kernel_crashes() -> None:
    simulated = Simulated(pod(DRIVER), kernel="6.8.0-60-generic").until(5)
    assert simulated.waits_for == "CrashLoopBackOff"
    assert "6.8.0-60-generic" in simulated.memory.last_log


def test_when_the_kubelet_is_back_nothing_has_been_lost() -> None:
    simulated = Simulated(pod(PLUGIN)).until(5)
    simulated.pod.status |= lost_sight(simulated.pod, Place("t6", "", ""))
    assert (simulated.pod.ready, simulated.pod.serves) == (False, True)
    simulated.missing = ["whatever"]
    simulated.until(6)
    assert (simulated.pod.ready, simulated.pod.restarts, simulated.writes) == (True, 0, 2)


def test_a_reboot_restarts_everything() -> None:
    simulated = Simulated(pod(DRIVER)).until(5)
    simulated.memory.rebooted = True
    simulated.until(5.5)
    assert (simulated.pod.ready, simulated.pod.restarts) == (False, 1)
    assert simulated.until(7).pod.ready
    assert simulated.pod.restarts == 1


def test_a_reboot_runs_init_containers_again() -> None:
    simulated = Simulated(pod(TOOLKIT, init=True)).until(5)
    simulated.memory.rebooted, simulated.missing = True, ["no driver"]
    simulated.until(60)
    assert (simulated.waits_for, simulated.pod.restarts, simulated.pod.ready) == (
        "PodInitializing",
        1,
        False,
    )
    simulated.missing = []
    assert simulated.until(61).pod.ready
    assert simulated.pod.restarts == 1


def test_a_validator_passes_or_says_what_is_missing() -> None:
    passed = Simulated(pod(CUDA, restart="Never")).until(5)
    assert (
        passed.pod.phase,
        passed.writes,
        passed.container["state"]["terminated"]["exitCode"],
    ) == ("Succeeded", 1, 0)
    failed = Simulated(pod(CUDA, restart="Never"))
    failed.missing = ["no driver", "no hook"]
    failed.until(5)
    assert (failed.pod.phase, failed.container["state"]["terminated"]["exitCode"]) == ("Failed", 1)
    assert failed.memory.last_log == "no driver"


def test_behaviours_of_pods_that_end() -> None:
    assert (
        Simulated(pod(CUDA, restart="Never"), Behaviour("fail", exit_code=7))
        .until(5)
        .container["state"]["terminated"]["exitCode"]
        == 7
    )
    slow = Simulated(pod(CUDA, restart="Never"), Behaviour("slow", seconds=30)).until(29)
    assert slow.pod.phase == "Running"
    assert slow.until(31).pod.phase == "Succeeded"
    assert Simulated(pod(CUDA, restart="Never"), Behaviour("run")).until(999).pod.ready
    again = Simulated(pod(CUDA, restart="OnFailure"), Behaviour("fail", exit_code=2)).until(10)
    assert again.waits_for == "CrashLoopBackOff"


def test_a_pod_that_does_not_fit_is_rejected() -> None:
    simulated = Simulated(pod(CUDA, restart="Never", gpus=1))
    simulated.short = "OutOfnvidia.com/gpu: Pod was rejected: none is left"
    simulated.until(5)
    assert (simulated.pod.phase, simulated.pod.status["reason"]) == (
        "Failed",
        "OutOfnvidia.com/gpu",
    )
