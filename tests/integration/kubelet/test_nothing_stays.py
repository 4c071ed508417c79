# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What real nodes leave on the machine once they are gone: nothing, however they went."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster import Cluster, processes
from tests.cluster.kubelet import cgroups
from tests.cluster.kubelet.model import bridge_name, cgroup_name
from tests.cluster.paths import cluster_folder
from tests.integration.kubelet.bench import Bench, pod_spec
from tests.integration.waiting import wait_until_none

pytestmark = pytest.mark.kubelet
NAME = "test-kubelet-gone"
WORKER = f"{NAME}-worker-1"
SLEEP = "import time; time.sleep(3600)"
SETTINGS = (
    "vm/overcommit_memory",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
    "net/ipv4/ip_forward",
    "net/ipv4/conf/all/route_localnet",
)


@dataclass(frozen=True)
class Machine:
    """What a machine shows of its real nodes."""

    mounts: frozenset[str]
    links: frozenset[str]
    network_namespaces: frozenset[str]
    cgroups: frozenset[Path]
    settings: tuple[str, ...]

    @classmethod
    def observe(cls) -> Machine:
        """This machine, now, without what belongs to other clusters of this tool."""
        folder = cluster_folder(NAME)
        return cls(
            frozenset(Path("/proc/self/mountinfo").read_text().splitlines()),
            frozenset(links(bridge_name(folder))),
            frozenset(network_namespaces(cgroup_name(folder))),
            frozenset(
                root
                for root, _kind in cgroups.hierarchies()
                if (root / cgroup_name(folder)).exists()
            ),
            tuple((Path("/proc/sys") / name).read_text() for name in SETTINGS),
        )


def links(ours: str) -> Iterator[str]:
    """Network interfaces but other clusters' bridges and what is attached to those."""
    for path in Path("/sys/class/net").iterdir():
        bridge = (path / "master").resolve().name if (path / "master").exists() else path.name
        if bridge == ours or not bridge.startswith("he-"):
            yield path.name


def network_namespaces(ours: str) -> Iterator[str]:
    """Those that some process is in which is in no other cluster's cgroup."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            groups, space = (process / "cgroup").read_text(), os.readlink(process / "ns/net")  # noqa: PTH115 - no path
        except OSError:
            continue
        if ours in groups or "/hardware-enablement-" not in groups:
            yield space


@pytest.fixture
def before() -> Iterator[Machine]:
    """The machine before the test; nothing of the cluster is left after it."""
    Cluster(NAME).down()
    yield Machine.observe()
    Cluster(NAME).down()


def assert_gone(before: Machine) -> None:
    """Nothing of the cluster is left."""
    assert processes.marked(cluster_folder(NAME)) == []
    assert not cluster_folder(NAME).exists()
    after = Machine.observe()
    assert after.mounts == before.mounts
    assert after.links <= before.links
    assert after.network_namespaces <= before.network_namespaces
    assert after.cgroups <= before.cgroups
    assert after.settings == before.settings


def test_down_takes_everything_away(before: Machine) -> None:
    cluster = Cluster.up(NAME, kubelets=1)
    cluster.load_image("python-base")
    bench = Bench(cluster, "default")
    for name, more in (("bridge", {}), ("host", {"hostNetwork": True, "hostPID": True})):
        volume = {"name": "memory", "emptyDir": {"medium": "Memory"}}
        container = {"volumeMounts": [{"name": "memory", "mountPath": "/memory"}]}
        bench.pod(
            name, pod_spec(SLEEP, nodeName=WORKER, volumes=[volume], container=container, **more)
        )
        bench.wait_ready(name)
    while_it_runs = Machine.observe()
    # It is all there now, so that what is said below is about something.
    assert bridge_name(cluster.folder) in while_it_runs.links - before.links
    assert while_it_runs.network_namespaces - before.network_namespaces
    assert while_it_runs.cgroups - before.cgroups
    # Also while it runs, mounts and settings are the node's own.
    assert while_it_runs.mounts == before.mounts
    assert while_it_runs.settings == before.settings
    cluster.down()
    assert_gone(before)


def test_a_machine_whose_parent_is_killed_takes_its_pods_along(before: Machine) -> None:
    cluster = Cluster.up(NAME, kubelets=1)
    cluster.load_image("python-base")
    bench = Bench(cluster, "default")
    bench.pod("pod", pod_spec(SLEEP, nodeName=WORKER))
    bench.wait_ready("pod")
    [machine] = [
        process for process in processes.noted(cluster.folder) if process.program == WORKER
    ]
    machine.send(signal.SIGKILL)

    def processes_in_the_cgroup() -> str:
        root = next(
            root
            for root, _kind in cgroups.hierarchies()
            if (root / cgroup_name(cluster.folder)).exists()
        )
        return "".join(
            file.read_text() for file in (root / cgroup_name(cluster.folder)).rglob("cgroup.procs")
        )

    wait_until_none(processes_in_the_cgroup, "processes of pods")
    cluster.down()
    assert_gone(before)


@pytest.mark.parametrize("seconds", [4.5, 6, 7.5])
def test_down_after_a_start_that_was_killed(before: Machine, seconds: float) -> None:
    command = [sys.executable, "-m", "tests.cluster", "up", "--name", NAME, "--kubelets", "2"]
    tool = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    time.sleep(seconds)
    tool.kill()
    tool.wait()
    Cluster(NAME).down()
    assert_gone(before)
