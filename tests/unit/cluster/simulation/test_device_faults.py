# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A device's fault lasts until what mends it is done."""

from __future__ import annotations

from dataclasses import replace

from tests.cluster.simulation.device_faults import DeviceFaults
from tests.cluster.simulation.model import Behaviour, Node, Pod
from tests.unit.cluster.simulation.objects import CUDA, DRIVER, PLUGIN, node, pod, ready_pod

PLUGIN_POD = ready_pod(PLUGIN, name="plugin")
RESET = replace(
    pod(CUDA, name="reset", restart="Never", command=["nvidia-smi --gpu-reset"]),
    status={"phase": "Running"},
)
DONE = replace(RESET, status={"phase": "Succeeded"})
OLD, NEW = (replace(ready_pod(DRIVER, name=name), uid=name) for name in ("old", "new"))


def faulty(mended_by: str) -> Node:
    """A node whose plugin crashes until that."""
    return replace(node(), faults={"device-plugin": Behaviour("crash", mended_by=mended_by)})


def is_faulty(faults: DeviceFaults, on: Node, *pods: Pod) -> bool:
    """What is seen of it now."""
    faults.observe(on, pods)
    return faults.behaviour_for(on, PLUGIN_POD).name == "crash"


def test_a_reset_mends_when_it_has_succeeded() -> None:
    faults, on = DeviceFaults(), faulty("nvidia-gpu-reset")
    assert is_faulty(faults, on, OLD)
    assert is_faulty(faults, on, NEW, RESET)
    assert is_faulty(faults, on, NEW, replace(DONE, status={"phase": "Failed"}))
    assert not is_faulty(faults, on, NEW, DONE)
    # The pod goes, what it has done stays.
    assert not is_faulty(faults, on, NEW)


def test_what_was_there_before_the_fault_mends_nothing() -> None:
    faults, on = DeviceFaults(), faulty("driver")
    assert is_faulty(faults, on, OLD)
    assert is_faulty(faults, on, OLD)
    assert not is_faulty(faults, on, NEW)
    # Another fault is another one.
    assert not is_faulty(faults, node(), NEW)
    assert is_faulty(faults, on, NEW)


def test_a_reboot_mends_and_nothing_mends_what_nothing_does() -> None:
    faults, on = DeviceFaults(), faulty("reboot")
    assert is_faulty(faults, on, NEW, DONE)
    assert not is_faulty(faults, replace(on, boot_id="another"), OLD)
    assert is_faulty(DeviceFaults(), faulty("nothing"), NEW, DONE)
