# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drivers exchanged in waves on twenty nodes: what is planned, who is freed and how, what is stopped,
put back and taken up again."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster, processes
from tests.cluster.cluster import DEFAULT_KERNEL as KERNEL
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.conftest import documented, grant
from tests.integration.exchange_bed import AT_ONCE, RECIPE, TAINT, THEIRS, Site, budget
from tests.integration.plays import PLAYBOOKS, REPO, Runner
from tests.integration.test_killed_runs import KILLS, chance, kill
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.faults

NODES = [f"n-{number}" for number in range(1, 21)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Twenty nodes with GPUs in three zones."""
    with Cluster.up("test-upgrade") as started:
        started.add_nodes(20, profile="gpu-t4", prefix="n")
        for number, node in enumerate(NODES):
            started.kubectl("label", "node", node, f"topology.kubernetes.io/zone=z{number % 3}")
        started.kubectl("create", "namespace", THEIRS)
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the documented rights."""
    return documented(cluster, tmp_path_factory.mktemp("runner"))


@pytest.fixture(scope="module")
def site(cluster: Cluster, runner: Runner) -> Site:
    """GPUs enabled."""
    made = Site(cluster, runner, NODES)
    made.deploy()
    return made


@pytest.fixture(autouse=True)
def whole(site: Site) -> Iterator[None]:
    """Every node runs what is deployed; afterwards nobody's pods are there."""
    if site.current() != set(NODES) or site.cordoned() or site.taints():
        site.upgrade(**AT_ONCE).check()
    yield
    clear_faults(site.cluster.kubeconfig)
    site.cluster.kubectl("delete", "pods,poddisruptionbudgets", "--all", "-n", THEIRS, "--now")
    site.cluster.kubectl(
        "delete", "lease", "nvidia-gpu", "-n", "hardware-enablement", "--ignore-not-found"
    )


def test_a_plan_says_which_nodes_why_who_is_there_and_what_is_in_the_way(
    site: Site, tmp_path: Path
) -> None:
    site.deploy()
    site.run_pod("asks", "n-2", container={"resources": {"limits": {"nvidia.com/gpu": "1"}}})
    site.run_pod("kept", "n-3", runtimeClassName="nvidia")
    budget(site, "kept")
    site.run_pod("alone", "n-4", owned=False, runtimeClassName="nvidia")
    grant(site.cluster, "viewer", "hardware-enablement-viewer")
    viewer = Runner(site.cluster, "viewer", tmp_path)
    before = site.uids()
    for each in (site.runner, viewer):
        since = site.cluster.mark()
        played = each.play("upgrade", "--check", "--diff", **RECIPE).check()
        rows = {line.split()[1]: line for line in played.output.splitlines() if " image " in line}
        assert rows.keys() == set(NODES)
        assert (
            f"image driver {site.version - 1}-ubuntu24.04 -> {site.version}-ubuntu24.04"
            in rows["n-1"]
        )
        assert rows["n-2"].split()[-2:] == ["1", "-"]
        assert "PodDisruptionBudget theirs/kept (pod theirs/kept)" in rows["n-3"]
        assert "pod theirs/alone" in rows["n-4"]
        assert "drain.force" in rows["n-4"]
        assert rows["n-4"].split()[0] == "-"
        assert "19 nodes in 4 waves, at most 2 at a time" in played.output
        assert each.writes(since) == []
    other = site.upgrade(hardware_enablement_options={"driver_version": "7"})
    assert other.code != 0
    assert f"driver_version is given as '7', and '{site.version}' is deployed" in other.output
    assert site.uids() == before


def test_one_node_that_fails_and_one_that_cannot_be_freed_hold_up_no_other(site: Site) -> None:
    site.deploy()
    set_fault(site.cluster.kubeconfig, "n-5", "driver", "crash", message="no such device")
    site.run_pod("kept", "n-3", runtimeClassName="nvidia")
    budget(site, "kept")
    mounted = [{"name": "v", "hostPath": {"path": "/dev/nvidia0"}}]
    site.run_pod("by-path", "n-4", volumes=mounted)
    site.cluster.kubectl("cordon", "n-6")
    before = site.uids()
    played = site.upgrade(
        upgrade_waves=["1", "50%"],
        upgrade_max_unavailable="50%",
        upgrade_drain={"timeout": 8},
        hardware_enablement_timeout=20,
    )
    assert played.code != 0
    assert "n-5 is in quarantine: driver, CrashLoopBackOff" in played.output
    assert "no such device" in played.output
    assert "n-3 is left as it was: pod theirs/kept" in played.output
    assert "The disruption budget kept needs 1 healthy pods and has 1 currently" in played.output
    assert site.current() == set(NODES) - {"n-3", "n-5"}
    assert site.uids()["n-3"] == before["n-3"]
    assert "kept" in site.pods()
    assert "by-path" not in site.pods()
    # As it was before.
    assert site.cordoned() == {"n-6"}
    assert site.taints() == {"n-5": [TAINT]}
    assert site.upgrades()["n-5"]["phase"] == "quarantined"
    assert "n-3" not in site.upgrades()
    record = sight.record(site.cluster)["upgrades"]
    assert [(row["node"], row["phase"]) for row in record] == [("n-5", "quarantined")]
    status = site.runner.play("status")
    assert "! n-5, in quarantine for" in status.output

    # Once it is mended the next run finds it proven, and ends the quarantine.
    clear_faults(site.cluster.kubeconfig)
    site.cluster.kubectl("uncordon", "n-6")
    site.cluster.kubectl("delete", "pod", "kept", "-n", THEIRS)
    site.upgrade(**AT_ONCE).check()
    site.is_whole()
    assert "upgrades" not in sight.record(site.cluster)


def test_a_canary_that_fails_stops_everything_and_is_put_back(site: Site) -> None:
    before, version = site.uids(), site.version
    site.deploy()
    set_fault(site.cluster.kubeconfig, "n-1", "driver", "crash", message="no such device")
    run = site.runner.start("upgrade", upgrade_rollback=True, **RECIPE)
    # What is broken is the new driver: with the one before, the node works.
    wait_until(
        lambda: site.upgrades().get("n-1", {}).get("phase") == "quarantined",
        "n-1 is quarantined",
    )
    clear_faults(site.cluster.kubeconfig)
    assert run.wait(timeout=120) != 0
    output = (site.runner.folder / "upgrade.log").read_text()
    assert "1 node of the first wave failed" in output
    assert "1 of 1 nodes run the version before" in output
    site.version = version
    site.is_whole()
    after = site.uids()
    assert {node for node in NODES if before[node] != after[node]} == {"n-1"}
    site.runner.play("enable_gpu", **site.options()).unchanged()


def test_a_daemonset_of_others_makes_room_and_comes_back(site: Site) -> None:
    template = {
        "metadata": {"labels": {"app": "exporter"}},
        "spec": {
            "runtimeClassName": "nvidia",
            "terminationGracePeriodSeconds": 1,
            "nodeSelector": {"kubernetes.io/hostname": "n-7"},
            "containers": [{"name": "c", "image": "example.com/exporter:1"}],
        },
    }
    body = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "exporter", "namespace": THEIRS},
        "spec": {"selector": {"matchLabels": {"app": "exporter"}}, "template": template},
    }
    site.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(body))
    wait_until(site.pods, "a pod of the exporter runs")
    first = set(site.pods())
    site.deploy()
    site.upgrade(**AT_ONCE).check()
    site.is_whole()
    wait_until(
        lambda: site.pods() and not first & set(site.pods()),
        "other pods of the exporter run",
    )
    site.cluster.kubectl("delete", "daemonset", "exporter", "-n", THEIRS)


def test_two_runs_at_once_and_an_api_server_that_is_gone_for_a_while(site: Site) -> None:
    site.deploy()
    # So that both happen while it is under way.
    set_fault(site.cluster.kubeconfig, "*", "driver", "slow", seconds=8)
    server = next(
        item for item in processes.noted(site.cluster.folder) if item.program == "kube-apiserver"
    )
    run = site.runner.start("upgrade", **RECIPE, **AT_ONCE)
    wait_until(
        lambda: "upgrading" in [each["phase"] for each in site.upgrades().values()],
        "a node is upgrading",
    )
    second = site.upgrade(**AT_ONCE)
    assert second.code != 0
    assert "Another run works on nvidia-gpu" in second.output
    server.send(signal.SIGSTOP)
    time.sleep(20)
    server.send(signal.SIGCONT)
    code = run.wait(timeout=200)
    output = (site.runner.folder / "upgrade.log").read_text()
    assert "Traceback" not in output
    if code:
        assert "API server" in output
        site.upgrade(**AT_ONCE).check()
    site.is_whole()


def test_a_run_that_is_killed_anywhere_is_taken_up_by_the_next(site: Site) -> None:
    # What an undisturbed run asks for.
    site.deploy()
    since = site.cluster.mark()
    site.upgrade(**AT_ONCE).check()
    requests = len(site.cluster.audit(user=site.runner.user, since=since))
    for number in range(max(KILLS // 4, 1)):
        site.deploy()
        for node in NODES[:4]:
            site.run_pod(f"user-{node}", node, runtimeClassName="nvidia")
        before = site.uids()
        at = chance(number, "upgrade", requests)
        since = site.cluster.mark()
        run = site.runner.start("upgrade", **RECIPE, **AT_ONCE)
        while run.poll() is None and (
            len(site.cluster.audit(user=site.runner.user, since=since)) < at
        ):
            time.sleep(0.005)
        kill(site.cluster, run, "nvidia-gpu")
        once = {node for node, uid in site.uids().items() if uid != before[node]}
        between = site.uids()
        site.upgrade(**AT_ONCE).check()
        site.is_whole()
        assert not {node for node in once if site.uids()[node] != between[node]}, f"killed at {at}"
        evictions = [
            event["requestURI"]
            for event in site.cluster.audit(user=site.runner.user, since=since)
            if event["requestURI"].split("?")[0].endswith("/eviction")
            and event["responseStatus"]["code"] < 300
        ]
        assert len(evictions) == len(set(evictions)), f"killed at {at}"
        site.runner.play("enable_gpu", **site.options()).unchanged()


def test_a_driver_that_cannot_be_unloaded_comes_with_a_reboot(site: Site) -> None:
    asked = "example.com/reboot"
    site.deploy()
    before = site.boots()
    run = site.runner.start(
        "upgrade",
        **RECIPE,
        upgrade_nodes=["n-1"],
        upgrade_reboot="annotation",
        upgrade_reboot_annotation=f"{asked}=now",
    )
    wait_until(
        lambda: asked in sight.nodes(site.cluster)["n-1"]["metadata"].get("annotations", {}),
        "the annotation that asks for a reboot",
    )
    assert site.upgrades()["n-1"]["boot"] == before["n-1"]
    site.cluster.reboot("n-1", KERNEL)
    assert run.wait(timeout=120) == 0, (site.runner.folder / "upgrade.log").read_text()
    assert asked not in sight.nodes(site.cluster)["n-1"]["metadata"]["annotations"]

    site.upgrade(
        upgrade_nodes=["n-2", "n-3"],
        upgrade_reboot_tasks=str(PLAYBOOKS / "reboot_nodes.yml"),
        reboot_cluster="test-upgrade",
        reboot_kernel=KERNEL,
        reboot_folder=str(REPO),
        **AT_ONCE,
    ).check()
    assert site.current() == {"n-1", "n-2", "n-3"}
    after = site.boots()
    assert {node for node in NODES if after[node] != before[node]} == {"n-1", "n-2", "n-3"}
