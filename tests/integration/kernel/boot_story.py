# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of what a boot changes: modules before the kubelet, what a label is worth, secure boot, and a
kernel whose driver was staged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.cluster.pki import Authority
from tests.cluster.vms.machine import API_NAME
from tests.cluster.vms.secure_boot import Firmware
from tests.integration.guides import shell_block
from tests.integration.kernel.machine import Machine
from tests.integration.kernel.vm_driver import (
    MODULE,
    RECIPE,
    enable,
    gap,
    it_reboots,
    other_kernel,
    summary,
)
from tests.integration.kubelet.bench import PYTHON
from tests.integration.kubelet.host_network import with_api_server
from tests.integration.kubelet.kmod_site import NAMESPACE, Site
from tests.integration.plays import Played
from tests.integration.waiting import wait_until

OURS = "our modules"
MODPROBE, FILE = "modprobe", "hardware-enablement-modprobe.conf"
# Hardware that the machine has, and its driver.
FOUND, LISTED = "virtio:d00000004v", "virtio_rng"
FEATURES = "/etc/kubernetes/node-feature-discovery/features.d"
SIGNED_ONLY = "feature.node.kubernetes.io/kernel-modules.signed_only"
GREETING: dict[str, Any] = {
    "prebuilt_repository": "",
    "readiness": "nfd",
    "node_agent_image": PYTHON,
}


@contextmanager
def on_the_host_network(cluster: Cluster) -> Iterator[None]:
    """Pods of the machine that ask the API server reach it."""
    pods = {"module-files": "files", "hardware-enablement-node-agent": "node-agent"}
    items = [
        item
        for app, container in pods.items()
        for item in with_api_server(cluster, f"vm-{app}", app, container, API_NAME)
    ]
    listed = json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
    cluster.kubectl("apply", "-f", "-", stdin=listed)
    try:
        yield
    finally:
        cluster.kubectl("delete", "-f", "-", stdin=listed)


def modules_at_boot(site: Site, grace: int, **options: Any) -> Played:
    """Enable the recipe modprobe on the machine. grace: seconds for a failure."""
    chosen = {"image": PYTHON, "node_selector": {"kmod": "wanted"}, **options}
    return site.runner.play(
        "enable",
        hardware_enablement_recipe=MODPROBE,
        hardware_enablement_options=chosen,
        hardware_enablement_failure_grace=grace,
    )


BEFORE_THE_KUBELET: dict[str, Any] = {
    "load": ["loop"],
    "parameters": {"loop": "max_loop=3"},
    "blacklist": [LISTED],
}


def files_count_at_the_next_boot(site: Site, machine: Machine) -> None:
    assert (machine.loaded("loop"), machine.loaded(LISTED)) == (False, True)
    machine.transcript.say(f"enable modprobe: load loop with max_loop=3, not {LISTED}")
    played = modules_at_boot(site, 5, **BEFORE_THE_KUBELET)
    assert played.code != 0
    line = f"module {LISTED} is loaded, and is not to be: reboot the node"
    assert line in played.output, played.explained
    machine.transcript.say(line)
    machine.run(f"head -n 3 /etc/modprobe.d/{FILE} /etc/modules-load.d/{FILE}")


def the_node_proves_itself(site: Site, machine: Machine) -> None:
    machine.transcript.say("enable with readiness: nfd")
    enable(site, **GREETING).check()
    assert summary(site, machine) == "ready"
    assert machine.loaded(MODULE)


def it_boots_with_secure_boot(site: Site, machine: Machine, firmware: Firmware) -> None:
    kernel = other_kernel(site, machine)
    machine.transcript.say(
        f"reboot into {kernel} with secure boot: UEFI firmware that trusts one certificate"
    )
    machine.vm.equip(firmware)
    it_reboots(site, machine, kernel)
    said = machine.run("dmesg | grep -e 'ecure' -e 'Loaded X.509'")
    assert "Kernel is locked down from EFI Secure Boot" in said
    assert f"integrity: Loaded X.509 cert '{OURS}" in said


def what_was_listed_is_there_before_the_kubelet(site: Site, machine: Machine) -> None:
    assert machine.run("cat /sys/module/loop/parameters/max_loop") == "3"
    assert FOUND in machine.run("cat /sys/bus/virtio/devices/*/modalias")
    assert not machine.loaded(LISTED)
    # Both in seconds since the boot.
    loaded = machine.said_at("loop: module loaded")
    started = int(machine.vm.run("cut -d ' ' -f 22 /proc/$(pidof kubelet)/stat")) / 100
    machine.transcript.say(
        f"loop is loaded after {loaded:.1f} s, the kubelet starts after {started:.1f} s"
    )
    assert loaded < started
    # After a boot its containers have yet to be started again.
    modules_at_boot(site, 120, **BEFORE_THE_KUBELET).check()


def the_label_goes_by_itself(site: Site, machine: Machine) -> None:
    site.cluster.relabel(machine.vm.name)
    machine.transcript.say("no run: the node's own agent says what holds in this boot")
    wait_until(lambda: site.summaries()[machine.vm.name] != "ready", "the label goes")
    summary(site, machine)
    assert not machine.loaded(MODULE)


def what_nobody_has_signed_is_refused(site: Site, machine: Machine) -> None:
    refused_by_secure_boot(site, machine, f"{MODULE} is not signed", **GREETING)
    gap(machine, "is rejected", "by a run the kernel is asked to load it")


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
    assert shown, played.explained
    machine.transcript.say(shown[0])
    assert [part for part in (*parts, "; it trusts ") if part not in shown[0]] == [], shown[0]
    assert machine.kernel_says("is rejected")
    assert not machine.loaded(MODULE)
    # Between two starts of a container there is no log but the one before.
    says = "this node takes signed modules only: Secure Boot is on"
    wait_until(lambda: says in site.driver_log(machine.vm.name), "the driver says so")
    site.runner.play("disable", hardware_enablement_recipe=RECIPE).check()


def a_node_that_says_so_is_told_before_the_first_write(site: Site, machine: Machine) -> None:
    script = shell_block("driver-images.md", "Signed modules", "features.d")
    machine.transcript.say(f"what docs/admin/driver-images.md has run at boot:\n{script}")
    machine.vm.run(script)
    wait_until(
        lambda: (
            site.cluster.api.get(f"/api/v1/nodes/{machine.vm.name}")["metadata"]["labels"].get(
                SIGNED_ONLY
            )
            == "true"
        ),
        "the label of NFD",
    )
    played = enable(site, **GREETING)
    assert played.code != 0
    assert (
        "nodes with this kernel take signed modules only, and nothing signs these" in played.output
    )
    # Nothing is built or deployed; the lock was taken.
    assert site.cluster.kubectl("get", "jobs,daemonsets", "-n", NAMESPACE, "-o", "name") == ""
    machine.vm.run(f"rm {FEATURES}/signed-modules")
    machine.transcript.say(
        next(line for line in played.output.splitlines() if "take signed modules only" in line)
    )


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
    wait_until(lambda: site.summaries()[machine.vm.name] == "ready", "the node says so")
    summary(site, machine)
    told = [played.output, site.driver_log(machine.vm.name)]
    told.append(site.cluster.kubectl("get", "jobs,configmaps,pods,sr", "-A", "-o", "json"))
    lines = (folder / f"{OURS}.key").read_text().splitlines()[1:-1]
    assert [line for line in lines if any(line in text for text in told)] == []


def the_files_are_given_back(site: Site, machine: Machine) -> None:
    machine.transcript.say("disable modprobe: its files go")
    site.runner.play("disable", hardware_enablement_recipe=MODPROBE).check()
    left = f"ls /etc/modprobe.d/{FILE} /etc/modules-load.d/{FILE} 2>/dev/null || true"
    assert machine.run(left) == ""


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
    # What modprobe had listed, and what it kept away.
    assert (machine.loaded("loop"), machine.loaded(LISTED)) == (False, True)
    site.cluster.relabel(machine.vm.name)
    wait_until(lambda: machine.loaded(MODULE), "the staged driver loads")
    gap(machine, f"{MODULE}: hello")
    wait_until(lambda: site.summaries()[machine.vm.name] == "ready", "the node says so")
    summary(site, machine)
    assert (machine.kernel, site.runner.writes(mark)) == (kernel, [])


def the_agent_takes_its_labels_along(site: Site, machine: Machine) -> None:
    assert machine.run(f"ls {FEATURES}") == ""
    wait_until(lambda: site.summaries()[machine.vm.name] == "", "the node says nothing")
