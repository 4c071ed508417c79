# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from tests.cluster.simulation.model import Play, condition
from tests.cluster.simulation.status import Place, lost_sight
from tests.unit.cluster.simulation.objects import CUDA, DRIVER, PLUGIN, TOOLKIT, Played, pod


def test_a_pod_becomes_ready_in_one_write() -> None:
    played = Played(pod(DRIVER)).until(0.9)
    assert played.writes == 0
    played.until(60)
    assert (played.writes, played.pod.phase, played.pod.ready) == (1, "Running", True)
    assert played.container["state"] == {"running": {"startedAt": "t1"}}
    assert played.pod.status["podIP"] == "10.1.0.2"


def test_other_conditions_and_addresses_are_kept() -> None:
    scheduled = {"type": "PodScheduled", "status": "True"}
    made = pod("x", status={"phase": "Pending", "conditions": [scheduled], "podIP": "10.9.9.9"})
    played = Played(made).until(5)
    assert played.pod.status["conditions"][0] == scheduled
    assert played.pod.status["podIP"] == "10.9.9.9"


def test_a_dependant_waits_in_its_init_container_until_all_is_there() -> None:
    played = Played(pod(TOOLKIT, init=True))
    played.missing = ["no driver"]
    played.until(30)
    assert (played.writes, played.pod.phase, played.waits_for) == (1, "Pending", "PodInitializing")
    assert "running" in played.pod.status["initContainerStatuses"][0]["state"]
    played.missing = []
    played.until(31)
    assert (played.writes, played.pod.ready) == (2, True)
    assert played.pod.status["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0


def test_a_dependant_whose_needs_come_soon_is_written_once() -> None:
    played = Played(pod(TOOLKIT, init=True))
    played.missing = ["no driver"]
    played.until(1)
    played.missing = []
    played.until(5)
    assert (played.writes, played.pod.ready) == (1, True)


def test_slow() -> None:
    played = Played(pod(DRIVER), Play("slow", seconds=60)).until(59)
    assert (played.pod.phase, played.pod.ready, played.pod.restarts) == ("Running", False, 0)
    assert played.until(61).pod.ready


def test_a_crash_loop_grows_and_ends_when_the_fault_is_cleared() -> None:
    played = Played(pod(DRIVER), Play("crash", exit_code=3)).until(1)
    assert (played.waits_for, played.pod.restarts) == ("CrashLoopBackOff", 1)
    assert played.container["lastState"]["terminated"]["exitCode"] == 3
    played.until(8)
    assert played.pod.restarts == 3  # after 0.5, 2.5 and 6.5 s
    assert played.events == ["BackOff"] * 3
    assert played.memory.last_log == "simulated crash, exit code 3"
    played.play = Play()
    played.until(10)
    assert (played.pod.ready, played.pod.restarts, played.memory.last_log) == (True, 3, "")
    assert played.container["lastState"]["terminated"]["exitCode"] == 3


def test_a_ready_pod_crashes_at_once_under_a_new_fault() -> None:
    played = Played(pod(DRIVER)).until(5)
    played.play = Play("crash")
    played.until(5)
    assert (played.waits_for, condition(played.pod.status, "Ready")) == (
        "CrashLoopBackOff",
        "False",
    )


def test_later_crash() -> None:
    played = Played(pod(DRIVER), Play("later-crash", seconds=10)).until(5)
    assert played.pod.ready
    assert played.until(12).waits_for == "CrashLoopBackOff"
    assert played.until(60).pod.restarts > 2


def test_dead_keeps_the_containers_but_not_the_readiness() -> None:
    played = Played(pod(PLUGIN)).until(5)
    started = played.container["state"]
    played.play = Play("dead")
    played.until(6)
    assert (played.pod.phase, played.pod.ready, played.pod.restarts) == ("Running", False, 0)
    assert (played.container["state"], played.events) == (started, ["Unhealthy"])
    assert Played(pod(PLUGIN), Play("dead")).until(9).pod.phase == "Running"


def test_image_pull() -> None:
    played = Played(pod(DRIVER, init=True), Play("image-pull", message="manifest unknown")).until(1)
    assert (played.pod.phase, played.waits_for) == ("Pending", "ErrImagePull")
    assert played.container["state"]["waiting"]["message"] == "manifest unknown"
    played.until(60)
    assert (played.waits_for, played.writes, played.events) == (
        "ImagePullBackOff",
        2,
        ["Failed", "BackOff"],
    )
    played.play = Play()
    assert played.until(70).pod.ready


def test_a_running_pod_does_not_mind_that_its_image_is_gone() -> None:
    played = Played(pod(DRIVER)).until(5)
    played.play = Play("image-pull")
    assert played.until(60).pod.ready


def test_a_driver_for_another_kernel_crashes() -> None:
    played = Played(pod(DRIVER), kernel="6.8.0-60-generic").until(5)
    assert played.waits_for == "CrashLoopBackOff"
    assert "6.8.0-60-generic" in played.memory.last_log


def test_when_the_kubelet_is_back_nothing_has_been_lost() -> None:
    played = Played(pod(PLUGIN)).until(5)
    played.pod.status |= lost_sight(played.pod, Place("t6", "", ""))
    assert (played.pod.ready, played.pod.serves) == (False, True)
    played.missing = ["whatever"]
    played.until(6)
    assert (played.pod.ready, played.pod.restarts, played.writes) == (True, 0, 2)


def test_a_reboot_restarts_everything() -> None:
    played = Played(pod(DRIVER)).until(5)
    played.memory.rebooted = True
    played.until(5.5)
    assert (played.pod.ready, played.pod.restarts) == (False, 1)
    assert played.until(7).pod.ready
    assert played.pod.restarts == 1


def test_a_reboot_runs_init_containers_again() -> None:
    played = Played(pod(TOOLKIT, init=True)).until(5)
    played.memory.rebooted, played.missing = True, ["no driver"]
    played.until(60)
    assert (played.waits_for, played.pod.restarts, played.pod.ready) == (
        "PodInitializing",
        1,
        False,
    )
    played.missing = []
    assert played.until(61).pod.ready
    assert played.pod.restarts == 1


def test_a_validator_passes_or_says_what_is_missing() -> None:
    passed = Played(pod(CUDA, restart="Never")).until(5)
    assert (
        passed.pod.phase,
        passed.writes,
        passed.container["state"]["terminated"]["exitCode"],
    ) == ("Succeeded", 1, 0)
    failed = Played(pod(CUDA, restart="Never"))
    failed.missing = ["no driver", "no hook"]
    failed.until(5)
    assert (failed.pod.phase, failed.container["state"]["terminated"]["exitCode"]) == ("Failed", 1)
    assert failed.memory.last_log == "no driver"


def test_plays_of_pods_that_end() -> None:
    assert (
        Played(pod(CUDA, restart="Never"), Play("fail", exit_code=7))
        .until(5)
        .container["state"]["terminated"]["exitCode"]
        == 7
    )
    slow = Played(pod(CUDA, restart="Never"), Play("slow", seconds=30)).until(29)
    assert slow.pod.phase == "Running"
    assert slow.until(31).pod.phase == "Succeeded"
    assert Played(pod(CUDA, restart="Never"), Play("run")).until(999).pod.ready
    again = Played(pod(CUDA, restart="OnFailure"), Play("fail", exit_code=2)).until(10)
    assert again.waits_for == "CrashLoopBackOff"


def test_a_pod_that_does_not_fit_is_rejected() -> None:
    played = Played(pod(CUDA, restart="Never", gpus=1))
    played.short = "OutOfnvidia.com/gpu: Pod was rejected: none is left"
    played.until(5)
    assert (played.pod.phase, played.pod.status["reason"]) == ("Failed", "OutOfnvidia.com/gpu")
