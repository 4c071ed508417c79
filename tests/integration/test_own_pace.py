# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each node walks at its own pace, and states that do not require each other walk side by side."""

from __future__ import annotations

import re

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.plays import Played, Runner

pytestmark = pytest.mark.faults

DRIVER_S, EXPORTER_S = 25, 12
SLOW, QUICK, SLOW_EXPORTER = "gpu-new-1", "gpu-old-1", "gpu-old-2"
STATES = {
    "driver",
    "runtime_hook",
    "driver_validation",
    "device_plugin",
    "device_plugin_validation",
    "monitoring",
    "feature_discovery",
}


@pytest.fixture(scope="module")
def played(cluster: Cluster, runner: Runner) -> Played:
    """One run: a driver that takes its time on one node, an exporter that does on another."""
    set_fault(cluster.kubeconfig, SLOW, "driver", "slow", seconds=DRIVER_S)
    set_fault(cluster.kubeconfig, SLOW_EXPORTER, "exporter", "slow", seconds=EXPORTER_S)
    done = runner.play("enable_gpu").check()
    clear_faults(cluster.kubeconfig)
    return done


@pytest.mark.usefixtures("played")
def test_a_slow_driver_delays_no_other_nodes_last_state(cluster: Cluster) -> None:
    slow_driver = sight.proven_at(cluster, SLOW, "driver")
    for node in (QUICK, SLOW_EXPORTER):
        assert set(sight.proofs(cluster, node)) == STATES
        last = max(sight.proven_at(cluster, node, state) for state in STATES)
        assert last < slow_driver, f"{node} was last proven {last - slow_driver:.0f} s after the slow driver"
    # The slow node itself was not waited for by halves: its later states come after its driver.
    assert all(sight.proven_at(cluster, SLOW, state) >= slow_driver for state in STATES)


@pytest.mark.usefixtures("played")
def test_the_slow_driver_was_slow(cluster: Cluster) -> None:
    delay = sight.proven_at(cluster, SLOW, "driver") - sight.proven_at(cluster, QUICK, "driver")
    assert delay > DRIVER_S - 10


@pytest.mark.usefixtures("played")
def test_monitoring_and_feature_discovery_run_side_by_side(cluster: Cluster) -> None:
    monitoring = sight.proven_at(cluster, SLOW_EXPORTER, "monitoring")
    discovery = sight.proven_at(cluster, SLOW_EXPORTER, "feature_discovery")
    assert monitoring - discovery > EXPORTER_S - 6
    assert discovery - sight.proven_at(cluster, SLOW_EXPORTER, "device_plugin_validation") < EXPORTER_S - 6


def test_progress_names_the_slow_node_and_does_not_flood(played: Played) -> None:
    lines = [line for line in played.output.splitlines() if re.match(r"\s*\[ *\d+ s\]", line)]
    assert 2 <= len(lines) <= 6
    assert any(f"slowest: {SLOW} driver" in line or f", {SLOW} driver" in line for line in lines)
