# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole recipe nvidia-gpu on real nodes, with programs that behave like NVIDIA's: from driver
to metrics and back.

Two nodes have GPUs, of which the second one's are broken at first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.cluster.images.gpu.gpus import Gpus
from tests.integration.kubelet.bench import Bench, pod_spec
from tests.integration.kubelet.gpu_site import (
    COMPUTE,
    FAULT,
    NAMESPACE,
    RESOURCE,
    SUMMARY,
    VECTOR_ADD,
    Site,
    gpu_site,
)
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.kubelet

USER = "gpu-run"
TEMPERATURE = "DCGM_FI_DEV_GPU_TEMP"
OTHER_KERNEL = "6.1.0-99-cloud-amd64"
ON_DRIVER = ("nvidia-driver", "nvidia-container-toolkit", "nvidia-device-plugin")
PROVEN = ("True", "Ready")
SLEEP = "import time; time.sleep(3600)"


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Both real nodes with two GPUs each; the second one's do not work."""
    with gpu_site(cluster, USER, tmp_path_factory.mktemp("runner")) as made:
        made.options = {"node_condition": True}
        first, second = cluster.workers
        made.install(first, Gpus(nouveau=True))
        made.install(second, Gpus(fault=FAULT))
        for node in cluster.workers:
            cluster.equip(node, "gpu-t4")
            cluster.discover_features(node)
        yield made


def what_is_broken_is_named_with_its_evidence(site: Site) -> None:
    first, second = site.cluster.workers
    played = site.play(env={"monitoring": {"STAND_IN_LACKS": TEMPERATURE}})
    assert played.code != 0
    # The validation pod's last line is what the user needs to know.
    assert f"error code {FAULT}" in played.output
    assert f"serves no {TEMPERATURE}" in played.output
    assert site.summaries() == {first: "monitoring.failed", second: "driver_validation.failed"}
    assert site.conditions() == {
        first: ("False", "MonitoringFailed"),
        second: ("False", "DriverValidationFailed"),
    }
    # Nothing that needs a working driver has come to the second node.
    offered = site.allocatable()
    # Of devices that a node has had in a test before, a kubelet says that there are none.
    assert (offered[first], offered[second] or "0") == ("2", "0")
    assert site.pod("nvidia-device-plugin", second) == ""


def mended_every_state_becomes_ready(site: Site) -> None:
    site.install(site.cluster.workers[1], Gpus())
    mark = site.cluster.mark()
    played = site.play().check()
    assert "nvidia-gpu: ready, 2/2 nodes" in played.output
    assert set(site.summaries().values()) == {"ready"}
    assert set(site.conditions().values()) == {PROVEN}
    assert set(site.allocatable().values()) == {"2"}
    products = {
        node["metadata"]["labels"].get(f"{RESOURCE}.product") for node in site.nodes().values()
    }
    assert products == {"Tesla-T4"}
    # The first one's kernel had its own driver loaded.
    first = site.cluster.workers[0]
    log = ("logs", "-n", NAMESPACE, site.pod("nvidia-driver", first), "-c", "driver")
    assert "unloading nouveau" in site.cluster.kubectl(*log)
    linked = site.cluster.real_node(first).run("readlink", "/dev/char/195:0")
    assert linked.strip() == "/run/nvidia/driver/dev/nvidia0"
    read = [
        event
        for event in site.cluster.audit(user=site.runner.user, since=mark)
        if "/proxy/" in event["requestURI"]
    ]
    assert len(read) >= len(site.cluster.workers)


def metrics_come_from_the_pod(site: Site) -> None:
    for node in site.cluster.workers:
        name = site.pod("nvidia-dcgm-exporter", node)
        text = site.cluster.kubectl(
            "get", "--raw", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}:9400/proxy/metrics"
        )
        values = re.findall(rf'^{TEMPERATURE}{{.*Hostname="{node}".*}} (\d+)$', text, re.MULTILINE)
        assert len(values) == 2
        assert all(30 < int(value) < 50 for value in values)


def the_second_run_changes_and_writes_nothing(site: Site) -> None:
    mark = site.cluster.mark()
    site.play().unchanged()
    assert site.runner.writes(mark) == []
    assert not [
        event
        for event in site.cluster.audit(user=USER, since=mark)
        if "/proxy/" in event["requestURI"]
    ]


def a_users_pod_gets_the_device_that_it_asks_for_and_no_other(site: Site, bench: Bench) -> None:
    asks = {"resources": {"limits": {RESOURCE: "1"}}}
    bench.pod("user", pod_spec(SLEEP, container=asks))
    guest = {"image": VECTOR_ADD, "command": None}
    bench.pod(
        "guest",
        pod_spec("", restartPolicy="Never", nodeName=site.cluster.workers[0], container=guest),
    )
    bench.wait_ready("user")
    assert len(bench.kubectl("exec", "user", "--", "nvidia-smi", "-L").splitlines()) == 1
    devices = bench.kubectl("exec", "user", "--", "sh", "-c", "ls /dev/nvidia*").split()
    assert len(devices) == 2
    assert "/dev/nvidiactl" in devices
    wait_until(
        lambda: bench.get("pod", "guest")["status"]["phase"] == "Failed",
        "the end of the pod without a GPU",
    )
    assert "CUDA driver version is insufficient" in bench.kubectl("logs", "guest")
    # Its node has one left, which our own proof must not be in need of.
    site.play().unchanged()
    bench.kubectl("delete", "pod", "user", "--grace-period=1")


def a_container_that_ends_is_back_by_itself(site: Site) -> None:
    node = site.cluster.workers[0]
    # The container runtime was restarted under it by the toolkit, which it has not noticed.
    assert site.status("nvidia-driver", node, "restartCount") == "0"
    pod = site.pod("nvidia-device-plugin", node)
    site.cluster.kubectl(
        "exec", "-n", NAMESPACE, pod, "-c", "device-plugin", "--", "sh", "-c", "kill 1"
    )
    wait_until(
        lambda: site.status("nvidia-device-plugin", node, "restartCount") == "1",
        "the plugin's restart",
    )
    wait_until(lambda: site.allocatable()[node] == "2", "the devices again")
    site.play().unchanged()


def without_its_plugin_the_devices_are_missed_and_a_run_brings_them_back(site: Site) -> None:
    absent = "device-plugin=localhost/absent:1"
    site.cluster.kubectl("set", "image", "daemonset/nvidia-device-plugin", "-n", NAMESPACE, absent)
    # The update stops at the first node, whose plugin is gone.
    wait_until(lambda: "0" in site.allocatable().values(), "allocatable 0")
    (node,) = [name for name, count in site.allocatable().items() if count == "0"]
    # With that the kubelet has written its node's status.
    assert set(site.conditions().values()) == {PROVEN}
    wait_until(
        lambda: "ImagePull" in site.status("nvidia-device-plugin", node, "state"),
        "the pod tells its trouble",
    )
    told = site.play("status").output
    assert re.search(rf"node {node}, device_plugin \w+ .*ImagePull", told), told
    site.play().check()
    assert set(site.allocatable().values()) == {"2"}
    assert set(site.summaries().values()) == {"ready"}


def a_driver_is_exchanged_under_a_pod_that_has_a_device(site: Site, bench: Bench) -> None:
    node = site.cluster.workers[1]
    spec = pod_spec(COMPUTE, container={"resources": {"limits": {RESOURCE: "1"}}})
    spec["nodeSelector"] = {"kubernetes.io/hostname": node}
    bench.deployment("training", spec)
    before = {app: site.pod(app, node) for app in ON_DRIVER}
    (training,) = [pod["metadata"]["name"] for pod in bench.pods_of("training")]

    site.modules = "open"
    assert "2 nodes run the driver version before" in site.play().check().output
    assert {app: site.pod(app, node) for app in ON_DRIVER} == before
    # A driver that is restarted without the node being freed gets nowhere, and harms nobody.
    site.cluster.kubectl("delete", "pod", "-n", NAMESPACE, before["nvidia-driver"], "--wait=false")
    refused = "Could not unload NVIDIA driver kernel modules, driver is in use"
    # Between two tries the kubelet says CrashLoopBackOff, or on a busy node only that it has ended.
    wait_until(
        lambda: (
            site.pod("nvidia-driver", node) != before["nvidia-driver"]
            and site.status("nvidia-driver", node, "restartCount") not in ("", "0")
        ),
        "the new driver pod is refused",
        # Of one alone kubectl shows the events.
        instead=lambda: site.cluster.kubectl(
            "describe", "pod", "-n", NAMESPACE, site.pod("nvidia-driver", node)
        ),
    )
    wait_until(
        lambda: re.search(rf"node {node}, driver .*{refused}", site.play("status").output),
        "status says why",
    )
    assert site.conditions()[node] == PROVEN
    played = site.play()
    assert played.code != 0
    assert refused in played.output, played.output
    assert site.conditions()[node] == ("False", "DriverDegraded")
    arguments = {"hardware_enablement_recipe": "nvidia-gpu", "hardware_enablement_failure_grace": 5}
    played = site.runner.run_program("upgrade", upgrade_nodes=[node], **arguments).check()
    assert re.search(rf"{node} +driver does not start +1 ", played.output), played.output
    assert "1 of 1 nodes proven again" in played.output
    after = {app: site.pod(app, node) for app in ON_DRIVER}
    assert not set(after.values()) & set(before.values())
    assert site.summaries()[node] == "ready"
    assert site.conditions()[node] == PROVEN
    assert site.nodes()[node]["spec"].get("unschedulable") is None
    # Its node was freed, and it is back with a device.
    bench.kubectl("rollout", "status", "deployment/training", PATIENTLY)
    names = [
        pod["metadata"]["name"]
        for pod in bench.pods_of("training")
        if "deletionTimestamp" not in pod["metadata"]
    ]
    assert names != [training]
    assert len(bench.kubectl("exec", names[0], "--", "nvidia-smi", "-L").splitlines()) == 1
    bench.kubectl("delete", "deployment", "training")


def after_a_reboot_all_wait_for_the_driver_and_are_proven_again(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, "")
    site.cluster.discover_features(node)
    waiting = "waiting for the driver pod on this node"
    for app, init in (
        ("nvidia-container-toolkit", "wait-for-driver"),
        ("nvidia-device-plugin", "wait-for-toolkit"),
    ):
        wait_until(
            lambda app=app, init=init: waiting in site.log(app, node, init),
            f"{app} says that it waits",
        )
    # Labels have outlived the reboot, as they do, and the condition with them.
    assert site.summaries()[node] == "ready"
    assert site.conditions()[node] == PROVEN
    played = site.play().check()
    assert played.changed > 0
    assert set(site.summaries().values()) == {"ready"}
    assert site.allocatable()[node] == "2"
    proofs = json.loads(site.nodes()[node]["metadata"]["annotations"][f"{SUMMARY}.proofs"])
    boot = site.nodes()[node]["status"]["nodeInfo"]["bootID"]
    assert {proof["boot"] for proof in proofs.values()} == {boot}


def on_another_kernel_the_driver_waits_and_says_so(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, OTHER_KERNEL)
    text = f"waiting: this pod is for kernel {site.kernel}, and the node runs {OTHER_KERNEL}"
    wait_until(lambda: text in site.log("nvidia-driver", node, "driver"), text)
    assert not (site.cluster.real_node(node).root / "run/nvidia/driver/usr").exists()


def disable_unloads_the_driver(site: Site) -> None:
    node = site.cluster.workers[0]
    mounts = "/proc/self/mounts"
    assert " /run/nvidia/driver " in site.cluster.real_node(node).run("cat", mounts)
    site.runner.play("disable", hardware_enablement_recipe="nvidia-gpu").check()
    assert set(site.conditions().values()) == {None}
    here = site.cluster.real_node(node)
    wait_until(
        lambda: " /run/nvidia/driver " not in here.run("cat", mounts),
        "the driver's files are gone",
    )


def test_a_node_from_all_that_is_broken_to_disabled(site: Site, bench: Bench) -> None:
    """One story: each step goes on from the one before."""
    what_is_broken_is_named_with_its_evidence(site)
    mended_every_state_becomes_ready(site)
    metrics_come_from_the_pod(site)
    the_second_run_changes_and_writes_nothing(site)
    a_users_pod_gets_the_device_that_it_asks_for_and_no_other(site, bench)
    a_container_that_ends_is_back_by_itself(site)
    without_its_plugin_the_devices_are_missed_and_a_run_brings_them_back(site)
    a_driver_is_exchanged_under_a_pod_that_has_a_device(site, bench)
    after_a_reboot_all_wait_for_the_driver_and_are_proven_again(site)
    on_another_kernel_the_driver_waits_and_says_so(site)
    disable_unloads_the_driver(site)
