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
from tests.integration.plays import REPO, Played, Runner
from tests.terminal import Picture, run_on_terminal

pytestmark = pytest.mark.faults

DRIVER_S, EXPORTER_S = 25, 12
# What each drawing begins with: clear to the end of the screen.
CLEAR = b"\x1b[J"
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
        assert last < slow_driver, (
            f"{node} was last proven {last - slow_driver:.0f} s after the slow driver"
        )
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
    assert (
        discovery - sight.proven_at(cluster, SLOW_EXPORTER, "device_plugin_validation")
        < EXPORTER_S - 6
    )


def told(output: str) -> list[str]:
    """The lines of progress."""
    return [line for line in output.splitlines() if re.match(r"  nvidia-gpu \d+ s: ", line)]


def test_a_log_gets_short_lines_that_name_the_slow_node_and_each_thing_once(played: Played) -> None:
    lines = told(played.output)
    assert 2 <= len(lines) <= 20
    assert max(map(len, lines)) <= 140
    assert any(f"driver on {SLOW}: " in line for line in lines)
    said = [line.partition(" s: ")[2] for line in lines]
    assert len(set(said)) == len(said), "two lines differ in nothing but their time"
    assert "\x1b" not in played.output


@pytest.mark.usefixtures("played")
def test_a_terminal_gets_one_block_that_is_drawn_over_itself(
    cluster: Cluster, runner: Runner
) -> None:
    # Slow until the block was seen four times, however long the run takes to get there.
    set_fault(cluster.kubeconfig, SLOW, "exporter", "slow", seconds=600)
    label = "hardware-enablement.io/state=monitoring"
    cluster.kubectl(
        "delete",
        "pods",
        "-n",
        "nvidia-gpu",
        "-l",
        label,
        "--field-selector",
        f"spec.nodeName={SLOW}",
        "--now",
    )

    def end_fault(written: bytes) -> None:
        if written.count(CLEAR) >= 4:
            clear_faults(cluster.kubeconfig)

    code, output = run_on_terminal(
        runner.command("enable_gpu"),
        REPO,
        {**runner.environment(), "TERM": "xterm", "CI": ""},
        columns=70,
        lines=40,
        watch=end_fault,
    )
    clear_faults(cluster.kubeconfig)
    picture = Picture(columns=70).feed(output)
    assert code == 0, output
    assert picture.drawn > 4
    assert picture.highest >= len(STATES) + 1
    # Of all drawings one is left: each state has one line with a bar, and these are followed by the
    # table.
    bars = [row for row in picture.rows if "#" in row or "----" in row]
    assert [row.split()[0] for row in bars if row.startswith("    ")].count("monitoring") == 1
    assert any(re.fullmatch(r"    monitoring +##########  3/3", row) for row in bars), picture.rows
    assert all(len(row) < 70 for row in bars)
    assert told(output) == []
