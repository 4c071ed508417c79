# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on the virtual machine: enabled, disabled, and over a reboot."""

from __future__ import annotations

from typing import Any

from tests.integration.kernel.machine import Machine
from tests.integration.kubelet.kmod_site import SUMMARY, Site
from tests.integration.plays import Played

RECIPE = "simple-kmod"
MODULE = "simple_kmod"


def enable(site: Site, repository: str = "drivers/simple-kmod", **options: Any) -> Played:
    """Enable it with more options; recipe_dir among them is where another recipe of that name is, and
    timeout how long a state may take, in seconds."""
    variables = site.variables(repository)
    if folder := options.pop("recipe_dir", None):
        variables["hardware_enablement_recipe_dir"] = str(folder)
    if timeout := options.pop("timeout", None):
        variables["hardware_enablement_timeout"] = timeout
    variables["hardware_enablement_options"].update(options)
    return site.runner.play("enable", timeout=400, **variables)


def summary(site: Site, machine: Machine) -> str:
    """What our label says of the machine; written down."""
    said = site.summaries()[machine.vm.name]
    machine.transcript.say(f"{SUMMARY}={said}")
    return said


def disable_unloads_it(site: Site, machine: Machine) -> None:
    machine.transcript.say("disable")
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()
    assert not machine.loaded(MODULE)


def other_kernel(site: Site, machine: Machine) -> str:
    """The one of the two that the machine does not run."""
    return site.built if machine.kernel == site.prebuilt else site.prebuilt


def it_reboots(site: Site, machine: Machine, kernel: str) -> None:
    before = machine.boot
    site.cluster.reboot(machine.vm.name, kernel)
    assert machine.boots() != before


def gap(machine: Machine, said: str, what: str = "loaded") -> None:
    """Write down for how long the node was Ready without its driver. said: by the kernel when that was
    over."""
    moment = machine.said_at(said)
    machine.transcript.say(
        f"{what} {moment:.0f} s after the kernel's start, and {moment - machine.ready:.0f} s after the node was Ready"
    )
