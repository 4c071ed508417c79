# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on a real kernel: built, loaded, exchanged, refused and unloaded. What is true is read
over the serial console, never through the pod that is tested."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.errors import ClusterError
from tests.integration.kernel.machine import Machine
from tests.integration.kernel.vendor_recipe import DEVICE, FIRMWARE, write_recipe
from tests.integration.kubelet.kmod_site import SUMMARY, Site
from tests.integration.plays import Played
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kernel

RECIPE = "simple-kmod"
MODULE = "simple_kmod"
# Of Debian's own modules two that nothing here needs: one that stands in the way, one to be loaded before.
IN_TREE, BEFORE = "dummy", "ifb"
HOLDER: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "holder", "namespace": "default"},
    "spec": {
        "selector": {"matchLabels": {"app": "holder"}},
        "template": {
            "metadata": {"labels": {"app": "holder"}},
            "spec": {
                "nodeSelector": {"kmod": "wanted"},
                "terminationGracePeriodSeconds": 1,
                "containers": [
                    {
                        "name": "main",
                        "image": "localhost/kmod-base:1",
                        "command": ["bash", "-c", f"exec 3< {DEVICE}; sleep 100000"],
                        "securityContext": {"privileged": True},
                        "volumeMounts": [{"name": "device", "mountPath": DEVICE}],
                    }
                ],
                "volumes": [{"name": "device", "hostPath": {"path": DEVICE}}],
            },
        },
    },
}


def enable(site: Site, repository: str = "drivers/simple-kmod", **options: Any) -> Played:
    """Enable it with more options; recipe_dir among them is where another recipe of that name is."""
    variables = site.variables(repository)
    if folder := options.pop("recipe_dir", None):
        variables["hardware_enablement_recipe_dir"] = str(folder)
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


OPTIONS: dict[str, Any] = {
    "module_parameters": {MODULE: "greeting=good-morning"},
    "softdeps": [BEFORE],
    "remove_modules": [IN_TREE],
}


def it_is_built_and_loaded(site: Site, machine: Machine, kernel: str) -> None:
    assert not machine.loaded(MODULE)
    machine.vm.run(f"modprobe {IN_TREE}")
    machine.transcript.say("enable: the module is built by a Job on another node, and loaded")
    enable(site, **OPTIONS).check()
    assert summary(site, machine) == "ready"
    assert f"{MODULE}: good-morning" in machine.kernel_says(MODULE)
    found = machine.run(f"uname -r; cd /sys/module/{MODULE}; cat version parameters/greeting")
    assert found.split() == [kernel, "1.0", "good-morning"]
    assert site.record()[kernel]["image"]
    assert (machine.loaded(IN_TREE), machine.loaded(BEFORE)) == (False, True)


def the_second_run_writes_nothing(site: Site) -> None:
    mark = site.cluster.mark()
    enable(site, **OPTIONS).unchanged()
    assert site.runner.writes(mark) == []


def a_reboot_takes_it_away_until_a_run(site: Site, machine: Machine, kernel: str) -> None:
    machine.transcript.say(f"reboot into {kernel}")
    before = machine.boot
    site.cluster.reboot(machine.vm.name, kernel)
    assert machine.boots() != before
    assert not machine.loaded(MODULE)
    site.cluster.relabel(machine.vm.name)
    # What the last run has proven, as docs/decisions/0126 says.
    assert summary(site, machine) == "ready"
    it_is_built_and_loaded(site, machine, kernel)


def what_was_removed_for_it_is_put_back(site: Site, machine: Machine) -> None:
    disable_unloads_it(site, machine)
    assert f"{MODULE}: goodbye" in machine.kernel_says(MODULE)
    assert machine.loaded(IN_TREE)


def test_a_module_from_its_build_to_its_end(site: Site, machine: Machine) -> None:
    """One story: each step goes on from the one before."""
    kernel = machine.kernel
    other = next(each for each in (site.prebuilt, site.built) if each != kernel)
    it_is_built_and_loaded(site, machine, kernel)
    the_second_run_writes_nothing(site)
    a_reboot_takes_it_away_until_a_run(site, machine, other)
    what_was_removed_for_it_is_put_back(site, machine)


def what_the_kernel_refuses(
    site: Site, machine: Machine, module: str, *said: str, **options: Any
) -> None:
    """Enable fails, and shows the kernel's own line."""
    machine.transcript.say(f"enable with the module {module}")
    played = enable(site, modules=[module], **options)
    assert played.code != 0
    shown = [line for line in played.output.splitlines() if "the kernel says: " in line]
    assert any(all(part in line for part in said) for line in shown), played.output
    machine.transcript.say(next(line for line in shown if "! node " in line))
    lines = machine.kernel_says(module)
    assert any(all(part in line for part in said) for line in lines), lines
    assert summary(site, machine) == "driver.failed"
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()


def two_modules_and_their_firmware(site: Site, machine: Machine, **options: Any) -> None:
    machine.vm.write(f"/opt/firmware/{FIRMWARE}", "of-a-vendor")
    machine.transcript.say(f"enable with the modules {MODULE} and upper, and firmware of ours")
    enable(site, **options).check()
    assert summary(site, machine) == "ready"
    assert f"{MODULE}: hello, firmware of-a-vendor" in machine.kernel_says(MODULE)
    assert machine.loaded("upper")


def one_that_a_process_has_open_is_exchanged(
    site: Site, machine: Machine, folder: Path, **options: Any
) -> None:
    holder = json.dumps(HOLDER)
    site.cluster.kubectl("apply", "-f", "-", stdin=holder)
    site.cluster.kubectl("rollout", "status", "deployment/holder", "--timeout=60s")
    opened = f"ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c {DEVICE} || true"
    wait_until(lambda: machine.vm.run(opened).strip() == "1", "the device is open")
    with pytest.raises(ClusterError, match="Module upper is in use") as refused:
        machine.vm.run("rmmod upper")
    machine.transcript.say(f"a pod has {DEVICE} open: {refused.value}")
    machine.transcript.say("enable with version 2.0 of the modules: nothing is exchanged yet")
    write_recipe(folder, "2.0")
    enable(site, **options).check()
    version = f"cat /sys/module/{MODULE}/version /sys/module/upper/version"
    assert machine.run(version).split() == ["1.0", "1.0"]
    machine.transcript.say("upgrade")
    played = site.runner.play(
        "upgrade",
        hardware_enablement_recipe=RECIPE,
        hardware_enablement_recipe_dir=str(folder),
        hardware_enablement_failure_grace=10,
    ).check()
    machine.transcript.say(
        "\n".join(line for line in played.output.splitlines() if machine.vm.name in line)
    )
    assert machine.run(version).split() == ["2.0", "2.0"]
    assert summary(site, machine) == "ready"
    machine.kernel_says(MODULE)
    # Who had it open is back, and has the new one.
    wait_until(lambda: machine.vm.run(opened).strip() == "1", "the device is open again")
    site.cluster.kubectl("delete", "deployment", "holder", "--wait=true")
    wait_until(lambda: machine.vm.run(opened).strip() == "0", "it is closed")


def test_a_vendors_driver(
    site: Site, machine: Machine, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """One story: each step goes on from the one before."""
    folder = write_recipe(tmp_path_factory.mktemp("recipes"), "1.0")
    own: dict[str, Any] = {"repository": "drivers/vendor", "recipe_dir": folder}
    what_the_kernel_refuses(site, machine, "foreign", "version magic", "should be", **own)
    what_the_kernel_refuses(site, machine, "upper", "Unknown symbol simple_kmod_answer", **own)
    both = {"modules": [MODULE, "upper"], "firmware_path": "/opt/firmware", **own}
    two_modules_and_their_firmware(site, machine, **both)
    one_that_a_process_has_open_is_exchanged(site, machine, folder, **both)
    disable_unloads_it(site, machine)
    assert not machine.loaded("upper")
