# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes whose devices are at fault: taken out of use, mended by what the recipe has, given back, or left
in quarantine and named."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.conftest import documented, grant
from tests.integration.exchange_bed import AT_ONCE, RECIPE, TAINT, THEIRS, Site, budget
from tests.integration.plays import Played, Runner
from tests.integration.test_killed_runs import KILLS, chance, kill

pytestmark = pytest.mark.faults

NODES = [f"n-{number}" for number in range(1, 9)]
RESET = "remedies/gpu-reset.yaml.j2"
LOST = "XID 79: GPU has fallen off the bus"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Eight nodes with GPUs, enabled."""
    with Cluster.up("test-remedy") as cluster:
        cluster.add_nodes(len(NODES), profile="gpu-t4", prefix="n")
        cluster.kubectl("create", "namespace", THEIRS)
        made = Site(cluster, documented(cluster, tmp_path_factory.mktemp("runner")), NODES)
        made.deploy()
        yield made


@pytest.fixture(autouse=True)
def whole(site: Site) -> Iterator[None]:
    """Afterwards every node is in use again, and nobody remembers what was tried."""
    yield
    clear_faults(site.cluster.kubeconfig)
    site.cluster.kubectl("delete", "pods,poddisruptionbudgets", "--all", "-n", THEIRS, "--now")
    mark = "hardware-enablement.io/nvidia-gpu.upgrade"
    site.cluster.kubectl("annotate", "nodes", "--all", f"{mark}-")
    ready = [marks.get("nvidia-gpu") == "ready" for marks in sight.marks(site.cluster).values()]
    if site.taints() or not all(ready):
        site.runner.play("enable_gpu", **site.options()).check()
    site.is_whole()


def mend(site: Site, *arguments: str, **variables: Any) -> Played:
    """Play remedy."""
    return site.runner.play("remedy", *arguments, **RECIPE, **variables)


def reported(fault: str, *nodes: str) -> dict[str, Any]:
    """What somebody says of nodes."""
    return {"remedy_faults": [{"node": node, "fault": fault} for node in nodes]}


def lose(site: Site, node: str, mended_by: str) -> None:
    """A GPU that its device plugin does not find any more, which a run finds out."""
    set_fault(
        site.cluster.kubeconfig, node, "device-plugin", "crash", message=LOST, mended_by=mended_by
    )
    played = site.runner.play("enable_gpu", **{**RECIPE, **site.options()})
    assert played.code != 0
    assert sight.marks(site.cluster)[node]["nvidia-gpu.device_plugin"] == "degraded"


def test_a_gpu_that_a_reset_mends_is_reset_and_only_its_node_is_touched(site: Site) -> None:
    lose(site, "n-1", "nvidia-gpu-reset")
    for node in ("n-1", "n-2"):
        site.run_pod(f"user-{node}", node, runtimeClassName="nvidia")
    before = site.uids()
    played = mend(site).check()
    assert f"n-1: {RESET} is tried" in played.output
    assert "remedies: 1 of 1 nodes proven again" in played.output
    assert set(site.pods()) == {"user-n-2"}
    # A reset needs the driver that is there.
    assert site.uids() == before
    site.is_whole()
    assert len(site.upgrades()["n-1"]["tried"]) == 1
    assert mend(site).check().output.count("no node is at fault") == 1


def test_what_a_reset_does_not_mend_another_driver_does(site: Site) -> None:
    lose(site, "n-3", "driver")
    before = site.uids()
    played = mend(site).check()
    assert "n-3 is not mended: device_plugin, CrashLoopBackOff" in played.output
    assert LOST in played.output
    assert "restart is tried next" in played.output
    after = site.uids()
    assert {node for node in NODES if before[node] != after[node]} == {"n-3"}
    assert len(site.upgrades()["n-3"]["tried"]) == 2
    site.is_whole()


def test_a_driver_that_waits_for_a_restart_goes_on_waiting(site: Site) -> None:
    site.deploy()
    before = site.uids()
    mend(site, **reported("XID 48", "n-8")).check()
    assert site.uids() == before
    assert len(site.upgrades()["n-8"]["tried"]) == 1
    site.upgrade(**AT_ONCE).check()
    site.is_whole()


def test_what_nothing_mends_is_left_in_quarantine_and_named(site: Site) -> None:
    lose(site, "n-4", "nothing")
    before = site.uids()
    site.run_pod("other", "n-5", runtimeClassName="nvidia")
    played = mend(site, remedy_attempts=2)
    assert played.code != 0
    assert "n-4 in quarantine (n-4: device_plugin, CrashLoopBackOff" in played.output
    assert site.taints() == {"n-4": [TAINT]}
    assert site.cordoned() == set()
    assert "other" in site.pods()
    assert {node for node in NODES if before[node] != site.uids()[node]} == {"n-4"}
    assert "! n-4, in quarantine for" in site.runner.play("status").output
    # Enough for a day: a run later does nothing more to it.
    again = site.uids()
    mend(site, remedy_attempts=2).check()
    assert site.uids() == again
    assert site.taints() == {"n-4": [TAINT]}
    # The proofs see when it is over.
    clear_faults(site.cluster.kubeconfig)
    site.runner.play("enable_gpu", **site.options()).check()
    site.is_whole()


def test_what_was_reported_is_seen_to_although_every_proof_holds(site: Site) -> None:
    fault = reported("NvidiaGpuXidCritical", "n-6", "n-99")
    limits = {"remedy_attempts": 1, "remedy_cooldown": 60}
    played = mend(site, **fault, **limits).check()
    assert "n-6, which NvidiaGpuXidCritical was reported of" in played.output
    assert "n-99 is no node of nvidia-gpu" in played.output
    site.is_whole()
    # The alert goes on for a while.
    site.runner.run_program("remedy", **RECIPE, **fault, **limits).unchanged()
    limits["remedy_cooldown"] = 0
    played = mend(site, **fault, **limits)
    assert played.code != 0
    assert "NvidiaGpuXidCritical; 1 remedies within a day did not help" in played.output
    assert site.taints() == {"n-6": [TAINT]}
    # No proof sees it, so that no proof ends it.
    site.runner.play("enable_gpu", **site.options()).check()
    assert site.taints() == {"n-6": [TAINT]}
    mend(site, remedy_release=["n-6"]).check()
    site.is_whole()


def test_a_pod_that_may_not_go_is_named_and_nobody_else_gets_the_node(site: Site) -> None:
    site.run_pod("kept", "n-7", runtimeClassName="nvidia")
    budget(site, "kept")
    played = mend(site, remedy_drain={"timeout": 6}, **reported("NvidiaGpuXidCritical", "n-7"))
    assert played.code != 0
    assert "n-7: NvidiaGpuXidCritical; not freed: pod theirs/kept" in played.output
    assert site.taints() == {"n-7": [TAINT]}
    assert "kept" in site.pods()
    assert "tried" not in site.upgrades()["n-7"]
    # Once it has left, the next run does what is to be done, though nobody reports it again.
    site.cluster.kubectl("delete", "pod", "kept", "-n", THEIRS)
    mend(site).check()
    assert len(site.upgrades()["n-7"]["tried"]) == 1
    site.is_whole()


def test_a_plan_tells_a_viewer_what_would_be_tried(site: Site, tmp_path: Any) -> None:
    lose(site, "n-1", "driver")
    site.run_pod("alone", "n-2", owned=False, runtimeClassName="nvidia")
    grant(site.cluster, "viewer", "hardware-enablement-viewer")
    viewer = Runner(site.cluster, "viewer", tmp_path)
    since = site.cluster.mark()
    played = viewer.play("remedy", "--check", "--diff", **RECIPE, **reported("XID 48", "n-2"))
    rows = {line.split()[1]: line for line in played.check().output.splitlines() if RESET in line}
    assert rows.keys() == {"n-1", "n-2"}
    assert "device_plugin, device_plugin_validation degraded: " in rows["n-1"]
    assert f"XID 48: {RESET}" in rows["n-2"]
    assert "pod theirs/alone" in rows["n-2"]
    assert viewer.writes(since) == []
    assert "cannot be used" in mend(site, **reported("two\nlines", "n-2")).output


def test_what_fails_everywhere_is_not_the_devices(site: Site) -> None:
    for node in NODES[1:]:
        set_fault(site.cluster.kubeconfig, node, "device-plugin", "crash", message=LOST)
    lose(site, "n-1", "nothing")
    before = site.uids()
    played = mend(site, remedy_max_failures="25%", remedy_attempts=1)
    assert played.code != 0
    assert "no further node was begun: 3 nodes failed, and max_failures allows 2" in played.output
    assert len(site.taints()) == 3
    assert site.uids() == before


def test_a_run_that_is_killed_anywhere_is_taken_up_by_the_next(site: Site) -> None:
    since = site.cluster.mark()
    once = reported("XID 79", "n-1", "n-2")
    once |= {"remedy_cooldown": 0, "remedy_max_unavailable": "50%"}
    mend(site, **once).check()
    requests = len(site.cluster.audit(user=site.runner.user, since=since))
    for number in range(max(KILLS // 4, 1)):
        mend(site, remedy_release=["n-1", "n-2"]).check()
        site.run_pod("user", "n-1", runtimeClassName="nvidia")
        at = chance(number, "remedy", requests)
        since = site.cluster.mark()
        run = site.runner.start("remedy", **RECIPE, **once, remedy_attempts=1000)
        while run.poll() is None and (
            len(site.cluster.audit(user=site.runner.user, since=since)) < at
        ):
            time.sleep(0.005)
        kill(site.cluster, run, "nvidia-gpu")
        before = site.upgrades()
        mend(site, remedy_attempts=1000).check()
        site.is_whole()
        for node in ("n-1", "n-2"):
            begun, ended = (len(each[node].get("tried", ())) for each in (before, site.upgrades()))
            under_way = before[node]["phase"] == "remedy" and before[node]["remedy"] == "none"
            assert ended == begun + under_way, f"{node}, killed at {at}: {before[node]}"
