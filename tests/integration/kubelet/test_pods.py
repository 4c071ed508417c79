# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods on real nodes: what a kubelet and a container runtime do with them, next to simulated nodes."""

from __future__ import annotations

import platform
import signal
from pathlib import Path

import pytest

from tests.cluster import ClusterError
from tests.integration.kubelet.bench import Bench, pod_spec
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet
LINUX = {"kubernetes.io/os": "linux"}
SLEEP = "import time; time.sleep(3600)"
HELLO = "import os, time; print('hello from', os.uname().nodename, flush=True); time.sleep(3600)"


def test_a_daemon_set_is_ready_on_real_and_simulated_nodes_and_all_tell_their_logs(
    bench: Bench,
) -> None:
    bench.daemon_set("hello", pod_spec(HELLO), LINUX)
    pods = {pod["spec"]["nodeName"]: pod["metadata"]["name"] for pod in bench.pods_of("hello")}
    assert sorted(pods) == ["cpu-only-1", *bench.cluster.workers]
    for node in bench.cluster.workers:
        assert bench.kubectl("logs", pods[node]).strip() == f"hello from {pods[node]}"
    assert "simulated" in bench.kubectl("logs", pods["cpu-only-1"])


def test_what_runs_on_a_node_hears_sighup_also_under_nohup(bench: Bench) -> None:
    """A runtime hook restarts containerd by it."""
    node = bench.cluster.real_node(bench.cluster.workers[0])
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(ClusterError):
            node.run("sh", "-c", "kill -HUP $$; echo deaf")
    finally:
        signal.signal(signal.SIGHUP, before)


def test_exec_runs_in_the_container(bench: Bench) -> None:
    bench.pod("shell", pod_spec(SLEEP, nodeName=bench.cluster.workers[0]))
    bench.wait_ready("shell")
    assert bench.kubectl("exec", "shell", "--", "uname", "-nr").split() == [
        "shell",
        platform.release(),
    ]


def test_pods_reach_each_other_across_nodes(bench: Bench) -> None:
    first, second = bench.cluster.workers
    server = "import http.server as s; s.HTTPServer(('', 8080), s.SimpleHTTPRequestHandler).serve_forever()"
    probe = {
        "readinessProbe": {"httpGet": {"path": "/etc/hostname", "port": 8080}, "periodSeconds": 1}
    }
    bench.pod("server", pod_spec(server, nodeName=first, container=probe))
    bench.pod("client", pod_spec(SLEEP, nodeName=second))
    for pod in ("server", "client"):
        bench.wait_ready(pod)
    address = bench.get("pod", "server")["status"]["podIP"]
    get = f"import urllib.request as u; print(u.urlopen('http://{address}:8080/etc/hostname').read().decode())"
    assert bench.kubectl("exec", "client", "--", "python3", "-c", get).strip() == "server"


def test_a_container_that_ends_is_started_again_ever_later(bench: Bench) -> None:
    script = "import sys; print('no device'); sys.exit(3)"
    bench.pod("crash", pod_spec(script, nodeName=bench.cluster.workers[0]))

    def backs_off() -> bool:
        status = bench.container("crash")
        return status.get("state", {}).get("waiting", {}).get("reason") == "CrashLoopBackOff"

    wait_until(backs_off, "CrashLoopBackOff")
    assert bench.container("crash")["restartCount"] >= 1
    assert bench.container("crash")["lastState"]["terminated"]["exitCode"] == 3

    def says_why() -> bool:
        return bench.kubectl("logs", "crash", "--previous").strip() == "no device"

    # The kubelet removes the log of the end before last, and may still be asked for that one.
    wait_until(says_why, "the log of its last end")


def test_an_image_that_is_nowhere_is_told(bench: Bench) -> None:
    node = bench.cluster.workers[0]
    bench.pod(
        "absent", pod_spec(SLEEP, nodeName=node, container={"image": "registry.test:1/absent:1"})
    )

    def waiting() -> dict[str, str]:
        found: dict[str, str] = bench.container("absent").get("state", {}).get("waiting", {})
        return found if found.get("reason") in ("ErrImagePull", "ImagePullBackOff") else {}

    wait_until(waiting, "ErrImagePull")
    # The registry's name is this machine's loopback, where nobody listens on port 1.
    assert "127.0.0.1:1: connect: connection refused" in bench.kubectl("describe", "pod", "absent")


def test_a_pod_on_the_host_network_reaches_this_machines_loopback(bench: Bench) -> None:
    url = f"{bench.cluster.server}/version"
    get = (
        "import ssl, urllib.request as u\n"
        f"answer = u.urlopen('{url}', context=ssl._create_unverified_context())\n"
        "print(answer.read().decode(), flush=True)"
    )
    spec = pod_spec(get, hostNetwork=True, restartPolicy="Never", nodeName=bench.cluster.workers[1])
    bench.pod("host-network", spec)
    wait_until(
        lambda: bench.get("pod", "host-network")["status"]["phase"] == "Succeeded", "the pod's end"
    )
    assert '"gitVersion": "v1.' in bench.kubectl("logs", "host-network")
    address = bench.get("pod", "host-network")["status"]["podIP"]
    assert (
        address == bench.get("node", bench.cluster.workers[1])["status"]["addresses"][0]["address"]
    )


def test_a_privileged_pod_changes_its_node_and_not_this_machine(bench: Bench) -> None:
    script = (
        "import os; open('/host/etc/made-by-a-pod', 'w').close();"
        " os.mknod('/host/dev/made-by-a-pod', 0o20666, 259)"
    )
    host = {"name": "host", "hostPath": {"path": "/"}}
    container = {
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "host", "mountPath": "/host"}],
    }
    node = bench.cluster.workers[0]
    bench.pod(
        "driver",
        pod_spec(script, restartPolicy="Never", nodeName=node, volumes=[host], container=container),
    )
    wait_until(
        lambda: bench.get("pod", "driver")["status"]["phase"] == "Succeeded", "the pod's end"
    )
    real = bench.cluster.real_node(node)
    assert real.run("ls", "/etc/made-by-a-pod", "/dev/made-by-a-pod").split() == [
        "/dev/made-by-a-pod",
        "/etc/made-by-a-pod",
    ]
    assert not Path("/etc/made-by-a-pod").exists()
    assert not Path("/dev/made-by-a-pod").exists()
