# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A driver's modules stay loaded while somebody holds them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.cluster.simulation.kernel_modules import KernelModules
from tests.cluster.simulation.model import Pod
from tests.unit.cluster.simulation.objects import (
    CUDA,
    DRIVER,
    PLUGIN,
    TABLE,
    TOOLKIT,
    node,
    pod,
    ready_pod,
)

OTHER = DRIVER.replace("580", "595")
IN_USE = "Could not unload NVIDIA driver kernel modules, driver is in use"
USER = ready_pod("example.com/user:1", name="user")
HOLDERS = [
    ready_pod(PLUGIN, name="plugin"),
    ready_pod(TOOLKIT, name="toolkit"),
    replace(USER, runtime_class="nvidia"),
    replace(USER, host_paths=("/dev/nvidia0",)),
    replace(USER, extended={"nvidia.com/gpu": 1}),
    replace(USER, runtime_class="nvidia", deleting=True, grace=30),
]
OTHERS = [
    USER,
    replace(USER, runtime_class="other", host_paths=("/dev", "/run")),
    replace(USER, extended={"example.com/x": 1}),
    # It has not begun to run.
    replace(pod(PLUGIN, name="waits", init=True), runtime_class="nvidia"),
    replace(pod(CUDA, name="ended"), status={"phase": "Succeeded"}),
]


def loaded(*pods: Pod) -> KernelModules:
    """A node whose driver has been loaded, and has gone since."""
    modules = KernelModules(TABLE)
    modules.observe(node(), [ready_pod(DRIVER, name="old"), *pods])
    modules.observe(node(), list(pods))
    return modules


@pytest.mark.parametrize("holder", HOLDERS)
def test_another_driver_is_refused_while_one_is_held(holder: Pod) -> None:
    modules, new = loaded(holder), pod(OTHER, name="new")
    assert modules.refusal(node(), new, [holder, new]) == IN_USE
    # Once it has gone, it is unloaded.
    assert modules.refusal(node(), new, [new]) == ""
    # The same one takes the modules over.
    same = pod(DRIVER, name="same")
    assert modules.refusal(node(), same, [holder, same]) == ""


@pytest.mark.parametrize("other", OTHERS)
def test_who_does_not_hold_it_is_in_nobodys_way(other: Pod) -> None:
    new = pod(OTHER, name="new")
    assert loaded(other).refusal(node(), new, [other, new]) == ""


def test_what_nobody_holds_was_unloaded_by_the_pod_that_went() -> None:
    modules, new = loaded(), pod(OTHER, name="new")
    assert modules.refusal(node(), new, [HOLDERS[0], new]) == ""


def test_a_reboot_unloads_everything() -> None:
    modules, new = loaded(HOLDERS[0]), pod(OTHER, name="new")
    rebooted = replace(node(), boot_id="b2")
    modules.observe(rebooted, [HOLDERS[0], new])
    assert modules.refusal(rebooted, new, [HOLDERS[0], new]) == ""


def test_the_kernels_own_driver_has_to_be_unloaded_by_name() -> None:
    taken = replace(node(), in_tree=("nouveau",))
    modules = KernelModules(TABLE)
    assert "nouveau has the devices" in modules.refusal(taken, pod(DRIVER), [])
    assert modules.refusal(taken, pod(DRIVER, command=["rmmod", "nouveau"]), []) == ""
