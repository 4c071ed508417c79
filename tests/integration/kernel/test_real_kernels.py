# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on a real kernel: built, loaded, exchanged, refused and unloaded. What is true is read
over the serial console, never through the pod that is tested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.pki import Authority
from tests.cluster.vms.machine import API_NAME
from tests.cluster.vms.secure_boot import Firmware
from tests.integration.kernel.machine import Machine
from tests.integration.kernel.vendor_recipe import DEVICE, FIRMWARE_IN_IMAGE, write_recipe
from tests.integration.kubelet.bench import PYTHON
from tests.integration.kubelet.host_network import with_api_server
from tests.integration.kubelet.kmod_site import NAMESPACE, SUMMARY, Site
from tests.integration.plays import Played
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kernel

OURS = "our modules"
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


OPTIONS: dict[str, Any] = {
    "module_parameters": {MODULE: "greeting=good-morning"},
    "softdeps": [BEFORE],
    "remove_modules": [IN_TREE],
}


def other_kernel(site: Site, machine: Machine) -> str:
    """The one of the two that the machine does not run."""
    return site.built if machine.kernel == site.prebuilt else site.prebuilt


def it_reboots(site: Site, machine: Machine, kernel: str) -> None:
    before = machine.boot
    site.cluster.reboot(machine.vm.name, kernel)
    assert machine.boots() != before


def gap(machine: Machine, said: str) -> None:
    """Write down for how long the node was Ready without its driver. said: by the driver's module."""
    loaded = machine.said_at(said)
    machine.transcript.say(
        f"loaded {loaded:.0f} s after the kernel's start, and {loaded - machine.ready:.0f} s after the node was Ready"
    )


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
    it_reboots(site, machine, kernel)
    assert not machine.loaded(MODULE)
    site.cluster.relabel(machine.vm.name)
    # What the last run has proven, as docs/decisions/0126 says.
    assert summary(site, machine) == "ready"
    it_is_built_and_loaded(site, machine, kernel)
    gap(machine, f"{MODULE}: good-morning")


def what_was_removed_for_it_is_put_back(site: Site, machine: Machine) -> None:
    disable_unloads_it(site, machine)
    assert f"{MODULE}: goodbye" in machine.kernel_says(MODULE)
    assert machine.loaded(IN_TREE)


def test_a_module_from_its_build_to_its_end(site: Site, machine: Machine) -> None:
    """One story: each step goes on from the one before."""
    with machine.transcript.story("from its build to its end"):
        it_is_built_and_loaded(site, machine, machine.kernel)
        the_second_run_writes_nothing(site)
        a_reboot_takes_it_away_until_a_run(site, machine, other_kernel(site, machine))
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
    assert any(all(part in line for part in parts) for line in shown), played.output
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


FEATURES = "/etc/kubernetes/node-feature-discovery/features.d"
AGENT = {"readiness": "nfd", "node_agent_image": PYTHON}
GREETING: dict[str, Any] = {"prebuilt_repository": "", **AGENT}


@contextmanager
def on_the_host_network(cluster: Cluster) -> Iterator[None]:
    """The agent of nodes that prove themselves reaches the API server from the machine."""
    items = with_api_server(
        cluster, "vm-agent", "hardware-enablement-node-agent", "node-agent", API_NAME
    )
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    cluster.kubectl("apply", "-f", "-", stdin=listed)
    try:
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", stdin=listed)


def it_boots_with_secure_boot(site: Site, machine: Machine, firmware: Firmware) -> None:
    machine.transcript.say("reboot with secure boot: UEFI firmware that trusts one certificate")
    machine.vm.equip(firmware)
    it_reboots(site, machine, machine.kernel)
    said = machine.run("dmesg | grep -e 'ecure' -e 'Loaded X.509'")
    assert "Kernel is locked down from EFI Secure Boot" in said
    assert f"integrity: Loaded X.509 cert '{OURS}" in said


def what_nobody_has_signed_is_refused(site: Site, machine: Machine) -> None:
    refused_by_secure_boot(site, machine, f"{MODULE} is not signed", **GREETING)


def refused_by_secure_boot(site: Site, machine: Machine, why: str, **options: Any) -> None:
    """Enable fails, and says what the kernel says, why it does, whom it trusts and what to do."""
    machine.transcript.say(f"enable: {why}")
    played = enable(site, **options)
    assert played.code != 0
    shown = [
        line for line in played.output.splitlines() if f"! node {machine.vm.name}, driver " in line
    ]
    parts = (
        "is rejected; Secure Boot is on, and ",
        f"{why}: sign it with a key that the node trusts",
    )
    assert shown, played.output
    machine.transcript.say(shown[0])
    assert [part for part in (*parts, "; it trusts ") if part not in shown[0]] == [], shown[0]
    assert machine.kernel_says("is rejected")
    assert not machine.loaded(MODULE)
    # Between two starts of a container there is no log but the one before.
    says = "this node takes signed modules only: Secure Boot is on"
    wait_until(lambda: says in site.driver_log(machine.vm.name), "the driver says so")
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()


def signed_by(site: Site, authority: Authority, name: str) -> dict[str, Any]:
    """A Secret with the authority's key, and options that sign with it."""
    certificate = authority.certificate_file
    files = (
        f"--from-file=key={certificate.with_suffix('.key')}",
        f"--from-file=cert={certificate}",
    )
    site.cluster.kubectl("create", "secret", "generic", name, "-n", NAMESPACE, *files)
    return {**GREETING, "sign_key_secret": name, "sign_cert_secret": name}


def ours_is_loaded(site: Site, machine: Machine, folder: Path, **options: Any) -> None:
    machine.transcript.say(f"enable: {MODULE} is signed by {OURS}")
    played = enable(site, **options).check()
    assert machine.loaded(MODULE)
    assert f"{MODULE}: hello" in machine.kernel_says(MODULE)
    # Tainted as any module that is not the kernel's own, and not (E) as one without a signature.
    assert machine.run(f"cat /sys/module/{MODULE}/taint") == "O"
    wait_until(lambda: site.summaries()[machine.vm.name] == "ready", "the node says so", seconds=60)
    summary(site, machine)
    told = [played.output, site.driver_log(machine.vm.name)]
    told.append(site.cluster.kubectl("get", "jobs,configmaps,pods,sr", "-A", "-o", "json"))
    lines = (folder / f"{OURS}.key").read_text().splitlines()[1:-1]
    assert [line for line in lines if any(line in text for text in told)] == []


def the_next_kernel_is_staged(site: Site, machine: Machine, **options: Any) -> None:
    kernel = other_kernel(site, machine)
    machine.transcript.say(f"preflight with stage: {kernel}, which no node runs, is built for")
    variables = site.variables(kernels=[kernel], stage=True)
    variables["hardware_enablement_options"].update(options)
    site.runner.play("preflight", timeout=400, **variables).check()
    assert site.record()[kernel]["image"]
    assert machine.loaded(MODULE)


def a_boot_into_it_has_the_driver_with_no_run(site: Site, machine: Machine) -> None:
    kernel = other_kernel(site, machine)
    machine.transcript.say(f"reboot into {kernel}, without secure boot")
    machine.vm.equip(None)
    mark = site.cluster.mark()
    it_reboots(site, machine, kernel)
    site.cluster.relabel(machine.vm.name)
    wait_until(lambda: machine.loaded(MODULE), "the staged driver loads", seconds=120)
    gap(machine, f"{MODULE}: hello")
    wait_until(
        lambda: site.summaries()[machine.vm.name] == "ready", "the node says so", seconds=120
    )
    summary(site, machine)
    assert (machine.kernel, site.runner.writes(mark)) == (kernel, [])


def the_agent_takes_its_labels_along(site: Site, machine: Machine) -> None:
    assert machine.run(f"ls {FEATURES}") == ""
    wait_until(lambda: site.summaries()[machine.vm.name] == "", "the node says nothing")


def test_secure_boot_and_the_next_kernel(site: Site, machine: Machine, tmp_path: Path) -> None:
    """One story: each step goes on from the one before."""
    ours, others = Authority(tmp_path, OURS), Authority(tmp_path, "somebody else")
    story = machine.transcript.story("secure boot and the next kernel")
    with on_the_host_network(site.cluster), story:
        site.cluster.discover_features(machine.vm.name)
        it_boots_with_secure_boot(site, machine, Firmware(ours.certificate_file.read_bytes()))
        what_nobody_has_signed_is_refused(site, machine)
        foreign = signed_by(site, others, "signing-others")
        refused_by_secure_boot(site, machine, f"{MODULE} is signed by somebody else", **foreign)
        signed = signed_by(site, ours, "signing-ours")
        ours_is_loaded(site, machine, tmp_path, **signed)
        the_next_kernel_is_staged(site, machine, **signed)
        a_boot_into_it_has_the_driver_with_no_run(site, machine)
        disable_unloads_it(site, machine)
        the_agent_takes_its_labels_along(site, machine)
