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
from tests.cluster.pki import Authority
from tests.cluster.vms.secure_boot import Firmware
from tests.integration.kernel.boot_story import (
    OURS,
    a_boot_into_it_has_the_driver_with_no_run,
    a_node_that_says_so_is_told_before_the_first_write,
    files_count_at_the_next_boot,
    it_boots_with_secure_boot,
    on_the_host_network,
    ours_is_loaded,
    refused_by_secure_boot,
    signed_by,
    the_agent_takes_its_labels_along,
    the_files_are_given_back,
    the_label_goes_by_itself,
    the_next_kernel_is_staged,
    the_node_proves_itself,
    what_nobody_has_signed_is_refused,
    what_was_listed_is_there_before_the_kubelet,
)
from tests.integration.kernel.machine import Machine
from tests.integration.kernel.vendor_recipe import DEVICE, FIRMWARE_IN_IMAGE, write_recipe
from tests.integration.kernel.vm_driver import (
    MODULE,
    RECIPE,
    disable_unloads_it,
    enable,
    summary,
)
from tests.integration.kubelet.kmod_site import Site
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.kernel

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


def what_was_removed_for_it_is_put_back(site: Site, machine: Machine) -> None:
    disable_unloads_it(site, machine)
    assert f"{MODULE}: goodbye" in machine.kernel_says(MODULE)
    assert machine.loaded(IN_TREE)


def test_a_module_from_its_build_to_its_end(site: Site, machine: Machine) -> None:
    """One story: each step goes on from the one before."""
    with machine.transcript.story("from its build to its end"):
        it_is_built_and_loaded(site, machine, machine.kernel)
        the_second_run_writes_nothing(site)
        what_was_removed_for_it_is_put_back(site, machine)


def what_the_kernel_refuses(
    site: Site, machine: Machine, module: str, *said: str, **options: Any
) -> None:
    """Enable fails, and shows the kernel's own line."""
    machine.transcript.say(f"enable with the module {module}")
    played = enable(site, modules=[module], **options)
    assert played.code != 0
    shown = [line for line in played.output.splitlines() if "the kernel says: " in line]
    assert any(all(part in line for part in said) for line in shown), played.explained
    machine.transcript.say(next(line for line in shown if "! node " in line))
    lines = machine.kernel_says(module)
    assert any(all(part in line for part in said) for line in lines), lines
    assert summary(site, machine) == "driver.failed"
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()


def one_that_hangs(site: Site, machine: Machine, **options: Any) -> None:
    """Enable fails when the state's time is over, and shows for how long, and the kernel's own line."""
    patience = "/proc/sys/kernel/hung_task_timeout_secs"
    machine.vm.run(f"echo 4 > {patience}")
    machine.transcript.say(
        "enable with the module stuck, whose start hangs, and 70 s for each state"
    )
    played = enable(site, modules=["stuck"], timeout=70, **options)
    assert played.code != 0
    shown = [line for line in played.output.splitlines() if "! node " in line]
    machine.transcript.say("\n".join(shown))
    parts = ("driver failed", "stuck is being loaded for ", "the kernel says: INFO: task insmod:")
    assert any(all(part in line for part in parts) for line in shown), played.explained
    assert machine.kernel_says("blocked for more than")
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()
    machine.vm.run(f"echo 120 > {patience}")


def two_modules_and_their_firmware(site: Site, machine: Machine, **options: Any) -> None:
    machine.transcript.say(f"enable with the modules {MODULE} and upper, and the image's firmware")
    enable(site, **options).check()
    assert summary(site, machine) == "ready"
    assert f"{MODULE}: hello, firmware of-a-vendor" in machine.kernel_says(MODULE)
    assert machine.loaded("upper")


def one_that_a_process_has_open_is_exchanged(
    site: Site, machine: Machine, folder: Path, **options: Any
) -> None:
    holder = json.dumps(HOLDER)
    site.cluster.kubectl("apply", "-f", "-", stdin=holder)
    site.cluster.kubectl("rollout", "status", "deployment/holder", PATIENTLY)
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
    firmware = {
        "firmware_path": "/var/lib/firmware/vendor",
        "firmware_directory": FIRMWARE_IN_IMAGE,
    }
    both = {"modules": [MODULE, "upper"], **firmware, **own}
    with machine.transcript.story("a vendor's driver"):
        what_the_kernel_refuses(site, machine, "foreign", "version magic", "should be", **own)
        what_the_kernel_refuses(site, machine, "upper", "Unknown symbol simple_kmod_answer", **own)
        one_that_hangs(site, machine, **own)
        two_modules_and_their_firmware(site, machine, **both)
        one_that_a_process_has_open_is_exchanged(site, machine, folder, **both)
        disable_unloads_it(site, machine)
        assert not machine.loaded("upper")


def test_what_a_boot_changes(site: Site, machine: Machine, tmp_path: Path) -> None:
    """One story: each step goes on from the one before."""
    ours, others = Authority(tmp_path, OURS), Authority(tmp_path, "somebody else")
    with on_the_host_network(site.cluster), machine.transcript.story("what a boot changes"):
        site.cluster.discover_features(machine.vm.name)
        files_count_at_the_next_boot(site, machine)
        the_node_proves_itself(site, machine)
        it_boots_with_secure_boot(site, machine, Firmware(ours.certificate_file.read_bytes()))
        the_label_goes_by_itself(site, machine)
        what_was_listed_is_there_before_the_kubelet(site, machine)
        what_nobody_has_signed_is_refused(site, machine)
        a_node_that_says_so_is_told_before_the_first_write(site, machine)
        foreign = signed_by(site, others, "signing-others")
        refused_by_secure_boot(site, machine, f"{MODULE} is signed by somebody else", **foreign)
        signed = signed_by(site, ours, "signing-ours")
        ours_is_loaded(site, machine, tmp_path, **signed)
        the_files_are_given_back(site, machine)
        the_next_kernel_is_staged(site, machine, **signed)
        a_boot_into_it_has_the_driver_with_no_run(site, machine)
        disable_unloads_it(site, machine)
        the_agent_takes_its_labels_along(site, machine)
