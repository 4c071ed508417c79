# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import pytest

from tests.cluster.simulation.logs import NotStartedError, log_lines, tail
from tests.cluster.simulation.model import Behaviour
from tests.unit.cluster.simulation.objects import CUDA, DRIVER, TOOLKIT, Simulated, pod


def lines(simulated: Simulated, container: str = "main", previous: bool = False) -> list[str]:
    last = simulated.memory.last_log
    return log_lines(
        simulated.pod, container, previous=previous, last_log=last, missing=simulated.missing
    )


def test_a_ready_driver_and_a_passed_validator() -> None:
    assert lines(Simulated(pod(DRIVER)).until(5))[-1] == "Done, now waiting for signal"
    assert "Test PASSED" in lines(Simulated(pod(CUDA, restart="Never")).until(5))


def test_failures_end_with_their_reason() -> None:
    crashed = Simulated(pod(DRIVER), Behaviour("crash", message="no GSP firmware")).until(5)
    assert lines(crashed)[-1] == lines(crashed, previous=True)[-1] == "no GSP firmware"
    assert "Done, now waiting for signal" not in lines(crashed)


def test_what_waits_has_no_log_but_its_init_container() -> None:
    simulated = Simulated(pod(TOOLKIT, init=True))
    with pytest.raises(NotStartedError, match="ContainerCreating"):
        lines(simulated)
    simulated.missing = ["no driver"]
    simulated.until(30)
    with pytest.raises(NotStartedError, match="PodInitializing"):
        lines(simulated)
    assert lines(simulated, "wait")[-1] == "waiting: no driver"
    with pytest.raises(KeyError):
        lines(simulated, "nope")
    pulled = Simulated(pod(DRIVER), Behaviour("image-pull")).until(5)
    with pytest.raises(NotStartedError, match="failing to pull image"):
        lines(pulled)


def test_tail() -> None:
    assert tail(["a", "b"], None) == "a\nb\n"
    assert tail(["a", "b"], 1) == "b\n"
    assert tail(["a", "b"], 0) == ""


def test_a_pod_may_bring_its_own_log() -> None:
    simulated = Simulated(pod(DRIVER)).until(5)
    simulated.pod.metadata.setdefault("annotations", {})["sim.hardware-enablement.io/log"] = (
        "one\ntwo"
    )
    assert lines(simulated) == ["one", "two"]
