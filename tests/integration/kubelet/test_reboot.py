# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A real node that boots another kernel: the kubelet, the node's pods and NFD's labels, each in its
time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.kubelet.bench import Bench, pod_spec
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet
KERNEL = "6.1.0-99-cloud-amd64"
LABEL = "feature.node.kubernetes.io/kernel-version.full"
UNAME = "import os, time; print(os.uname().release, flush=True); time.sleep(3600)"


@pytest.fixture(scope="module", autouse=True)
def _own_kernel(cluster: Cluster) -> Iterator[None]:
    """The node is left to the next tests with the kernel that it had."""
    yield
    node = cluster.workers[1]
    cluster.reboot(node, "")
    cluster.relabel(node)


def test_after_a_reboot_node_and_pods_tell_the_new_kernel_and_labels_lag(bench: Bench) -> None:
    node = bench.cluster.workers[1]
    bench.pod("uname", pod_spec(UNAME, nodeName=node))
    bench.wait_ready("uname")
    before = bench.get("node", node)
    old = before["status"]["nodeInfo"]["kernelVersion"]
    assert bench.kubectl("logs", "uname").strip() == old

    bench.cluster.reboot(node, KERNEL)

    after = bench.get("node", node)
    assert after["status"]["nodeInfo"]["kernelVersion"] == KERNEL
    assert after["status"]["nodeInfo"]["bootID"] != before["status"]["nodeInfo"]["bootID"]
    assert after["metadata"]["labels"][LABEL] == old
    wait_until(lambda: bench.container("uname")["restartCount"] == 1, "the pod's restart")
    wait_until(lambda: bench.kubectl("logs", "uname").strip() == KERNEL, "the pod's new kernel")
    assert bench.kubectl("exec", "uname", "--", "uname", "-nr").split() == ["uname", KERNEL]

    bench.cluster.relabel(node)
    assert bench.get("node", node)["metadata"]["labels"][LABEL] == KERNEL


def test_the_other_node_has_not_changed(bench: Bench) -> None:
    assert (
        bench.get("node", bench.cluster.workers[0])["status"]["nodeInfo"]["kernelVersion"] != KERNEL
    )


def test_a_node_takes_pods_again_after_a_restart_of_its_kubelet_alone(bench: Bench) -> None:
    real = bench.cluster.real_node(bench.cluster.workers[1])
    real.stop_kubelet()
    assert bench.kubectl("get", "pod", "uname", "--no-headers").split()[2] == "Running"
    real.start_kubelet()
    bench.pod("later", pod_spec(UNAME, nodeName=real.name))
    bench.wait_ready("later")
