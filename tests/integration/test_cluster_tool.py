# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster tool starts, finds and ends its processes, whatever happens to itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.cluster import Cluster, ClusterError, processes
from tests.cluster.lifecycle import Record
from tests.cluster.paths import REPO, cluster_folder
from tests.cluster.ports import is_free
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.bed

NAME = "tool"


@pytest.fixture(autouse=True)
def _own_clusters(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setenv("HE_CLUSTERS", str(tmp_path_factory.mktemp("clusters")))
    yield
    for name in (NAME, f"{NAME}-2"):
        Cluster(name).down()


def test_a_tool_killed_in_the_middle_of_a_start_leaves_nothing_that_down_does_not_end() -> None:
    folder = cluster_folder(NAME)
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cluster", "up", "--name", NAME], cwd=REPO
    ) as tool:
        wait_until(
            (folder / "run" / "kube-controller-manager.json").exists,
            "the controller manager is started",
        )
        tool.send_signal(signal.SIGKILL)
    ports = _ports(folder)
    # As if the tool had been killed between the start of a program and its noting.
    (folder / "run" / "kube-apiserver.json").unlink()
    assert len(processes.marked(folder)) >= 3

    Cluster(NAME).down()

    assert processes.marked(folder) == []
    assert [port for port in ports if not is_free(port)] == []
    assert not folder.exists()


def test_up_again_does_nothing_or_repairs_and_clusters_live_side_by_side() -> None:
    said: list[str] = []
    folder = cluster_folder(NAME)
    Cluster.up(NAME)
    first = _pids(folder)
    assert {"etcd", "kube-apiserver", "nfd-master", "simulation"} <= set(first)

    for nfd in (True, False):
        Cluster.up(NAME, nfd=nfd, say=said.append)
        assert _pids(folder) == first
        assert "runs already" in said[-1]
    with pytest.raises(ClusterError, match="runs already, but as"):
        Cluster.up(NAME, openshift=True)

    os.kill(first["kube-scheduler"], signal.SIGKILL)
    # On a busy machine a killed process is there for a moment longer.
    wait_until(
        lambda: processes.start_time(first["kube-scheduler"]) is None,
        "the scheduler's end",
    )
    with (
        Cluster.up(NAME, say=said.append) as repaired,
        Cluster.up(f"{NAME}-2", openshift=True, nfd=False) as other,
    ):
        assert any("only partly there" in line for line in said)
        assert not set(_pids(folder).values()) & set(first.values())
        assert repaired.server != other.server
        assert "clusterversions.config.openshift.io" in other.kubectl("get", "crd", "-o", "name")
        assert "clusterversions.config.openshift.io" not in repaired.kubectl(
            "get", "crd", "-o", "name"
        )
        ports = _ports(folder) + _ports(other.folder)
        _check_loopback_only(repaired)
        assert "nfd-master" not in _pids(other.folder)
        _check_nodes(repaired)
        _check_nodes(other)
        _check_audit_and_dump(repaired)

    assert processes.marked(folder) == processes.marked(other.folder) == []
    assert [port for port in ports if not is_free(port)] == []


def _check_loopback_only(cluster: Cluster) -> None:
    """No process of the cluster listens anywhere but on 127.0.0.1."""
    sockets = {
        str(link.readlink())
        for process in processes.marked(cluster.folder)
        for link in Path(f"/proc/{process.pid}/fd").iterdir()
        if link.is_symlink()
    }
    listening = [
        (fields[1], f"socket:[{fields[9]}]")
        for table in ("/proc/net/tcp", "/proc/net/tcp6")
        for fields in (line.split() for line in Path(table).read_text().splitlines()[1:])
        if fields[3] == "0A"
    ]
    ours = [address.partition(":")[0] for address, socket in listening if socket in sockets]
    assert len(ours) >= 6
    assert set(ours) == {"0100007F"}


def _check_nodes(cluster: Cluster) -> None:
    names = cluster.add_nodes(
        2, profile="gpu-t4", kernel="5.15.0-1+x", os="ubuntu:22.04", prefix="gpu"
    )
    assert names == ["gpu-1", "gpu-2"]
    cluster.reboot("gpu-1", "5.15.0-2+x")
    label = "feature.node.kubernetes.io/kernel-version.full"
    before = cluster.api.get("/api/v1/nodes/gpu-1")
    assert before["status"]["nodeInfo"]["kernelVersion"] == "5.15.0-2+x"
    assert before["metadata"]["labels"][label] == "5.15.0-1_x"
    node_feature = (
        "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/node-feature-discovery/nodefeatures/gpu-1"
    )
    cluster.api.patch(
        node_feature,
        {"spec": {"labels": {"feature.node.kubernetes.io/storage-nonrotationaldisk": None}}},
    )
    cluster.relabel("gpu-1")
    assert "storage-nonrotationaldisk" not in str(
        cluster.api.get("/api/v1/nodes/gpu-1")["metadata"]["labels"]
    )
    assert cluster.api.get("/api/v1/nodes/gpu-1")["metadata"]["labels"][label] == "5.15.0-2_x"
    cluster.set_ready("gpu-2", False)
    wait_until(
        lambda: "unreachable" in str(cluster.api.get("/api/v1/nodes/gpu-2")["spec"]),
        "the taint of a node that is unreachable",
    )
    cluster.remove_nodes("gpu-2")
    assert cluster.add_nodes(1, profile="cpu-only", prefix="gpu") == ["gpu-2"]


def _check_audit_and_dump(cluster: Cluster) -> None:
    wait_until(
        lambda: "unreachable" not in str(cluster.api.get("/api/v1/nodes/gpu-2")["spec"]),
        "the taint is gone",
    )
    before = cluster.dump()
    assert "v1 Node /gpu-1" in before
    mark = cluster.mark()
    kubeconfig = cluster.kubeconfig_for("alice", ["viewers"])
    with pytest.raises(ClusterError, match="cannot list resource"):
        cluster.kubectl("--kubeconfig", str(kubeconfig), "get", "pods")
    events = cluster.audit(user="alice", since=mark)
    assert [event["objectRef"]["resource"] for event in events if event["verb"] == "list"] == [
        "pods"
    ]
    assert "viewers" in events[-1]["user"]["groups"]
    assert cluster.audit(user="alice", since=cluster.mark()) == []
    assert cluster.dump() == before


def _pids(folder: Path) -> dict[str, int]:
    return {process.program: process.pid for process in processes.noted(folder)}


def _ports(folder: Path) -> list[int]:
    record = Record.read(folder)
    assert record is not None
    return list(asdict(record.ports).values())
