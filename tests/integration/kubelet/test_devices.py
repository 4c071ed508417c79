# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Extended resources as the real kubelet manages them: a device plugin in Python, and CDI."""

from __future__ import annotations

import pytest

from tests.integration.kubelet.bench import Bench, Obj, pod_spec
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet
RESOURCE = "hardware.test/gpu"
SLEEP = "import time; time.sleep(3600)"


def start_plugin(bench: Bench, node: str) -> None:
    """The plugin as a pod on one node."""
    bench.cluster.load_image("gpu", nodes=[node])
    folders = {"sockets": "/var/lib/kubelet/device-plugins", "cdi": "/etc/cdi"}
    volumes: list[Obj] = [
        {"name": name, "hostPath": {"path": path}} for name, path in folders.items()
    ]
    container = {
        "image": "localhost/gpu:1",
        "command": ["device-plugin", RESOURCE, "4"],
        "volumeMounts": [{"name": name, "mountPath": path} for name, path in folders.items()],
        "securityContext": {"privileged": True},
    }
    bench.pod("plugin", pod_spec("", nodeName=node, volumes=volumes, container=container))
    bench.wait_ready("plugin")


def counts(bench: Bench, node: str) -> tuple[str | None, str | None]:
    """(capacity, allocatable) of the resource on the node."""
    status = bench.get("node", node)["status"]
    return status["capacity"].get(RESOURCE), status["allocatable"].get(RESOURCE)


def a_device_plugin_brings_its_devices_and_takes_them_away(bench: Bench) -> None:
    node = bench.cluster.workers[0]
    assert counts(bench, node) == (None, None)
    start_plugin(bench, node)
    wait_until(lambda: counts(bench, node) == ("4", "4"), "allocatable 4")


def a_pod_with_a_device_gets_what_the_cdi_specification_says(bench: Bench) -> None:
    container = {"resources": {"limits": {RESOURCE: "1"}}}
    bench.pod("user", pod_spec(SLEEP, container=container))
    bench.wait_ready("user")
    assert bench.get("pod", "user")["spec"]["nodeName"] == bench.cluster.workers[0]
    variables = bench.kubectl("exec", "user", "--", "env").splitlines()
    assert (
        len(
            [
                line
                for line in variables
                if line.startswith("TEST_DEVICE_") and line.endswith("=from-cdi")
            ]
        )
        == 1
    )


def more_devices_than_there_are_keep_a_pod_pending(bench: Bench) -> None:
    bench.pod("greedy", pod_spec(SLEEP, container={"resources": {"limits": {RESOURCE: "5"}}}))
    events = wait_until(
        lambda: bench.kubectl("events", "--for=pod/greedy"), "an event of the scheduler"
    )
    assert f"Insufficient {RESOURCE}" in events


def without_its_plugin_the_devices_are_there_but_not_to_be_had(bench: Bench) -> None:
    bench.kubectl("delete", "pod", "plugin", "--grace-period=1")
    wait_until(lambda: counts(bench, bench.cluster.workers[0]) == ("4", "0"), "allocatable 0")


def test_devices_come_are_given_and_go(bench: Bench) -> None:
    """One story: each step goes on from the one before."""
    a_device_plugin_brings_its_devices_and_takes_them_away(bench)
    a_pod_with_a_device_gets_what_the_cdi_specification_says(bench)
    more_devices_than_there_are_keep_a_pod_pending(bench)
    without_its_plugin_the_devices_are_there_but_not_to_be_had(bench)
