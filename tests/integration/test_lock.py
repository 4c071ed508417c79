# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two runs never mix on one special resource, and one that was killed stands in nobody's way for
long."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.plays import Runner
from tests.integration.processes import below, lives
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.faults

RECIPE = {
    "hardware_enablement_recipe": "two-states",
    "hardware_enablement_recipe_dir": str(Path(__file__).parents[1] / "recipes"),
}
CHANGED = {**RECIPE, "hardware_enablement_options": {"plugin_version": "2.0"}}
SLOW_NODE = "gpu-new-1"


def lease(cluster: Cluster) -> dict[str, Any]:
    """The lock's spec; {} where nobody has ever taken it."""
    text = cluster.kubectl(
        "get",
        "lease",
        "two-states",
        "-n",
        "hardware-enablement",
        "--ignore-not-found",
        "-o",
        "json",
    )
    return dict(json.loads(text)["spec"]) if text else {}


@pytest.fixture
def waiting(
    cluster: Cluster, runner: Runner, request: pytest.FixtureRequest
) -> Iterator[subprocess.Popen[str]]:
    """A run in the middle of its wait: one node's driver takes ten minutes, longer than any test waits."""
    set_fault(cluster.kubeconfig, SLOW_NODE, "driver", "slow", seconds=600)
    cluster.kubectl("delete", "pods", "-n", "two-states", "--all", "--wait=false")
    # Always another version, so that the run has something to write, and takes the lock, before it
    # waits.
    how, version = request.param
    run = runner.start(
        *("enable", "-e", f"ansible_connection={how}"),
        **RECIPE,
        hardware_enablement_options={"plugin_version": version},
    )
    # The last object that it makes before it waits.
    images = "jsonpath={.items[*].spec.template.spec.containers[*].image} "
    applied = ("get", "daemonsets", "-n", "two-states", "-o", images)
    wait_until(
        lambda: f":{version} " in cluster.kubectl(*applied), f"plugin_version {version} is applied"
    )
    yield run
    run.kill()
    run.wait()
    clear_faults(cluster.kubeconfig)


def test_check_mode_takes_no_lock(cluster: Cluster, runner: Runner) -> None:
    before = lease(cluster)
    runner.play("enable", "--check", **RECIPE).check()
    assert lease(cluster) == before


@pytest.mark.parametrize("waiting", [("local", "1.0")], indirect=True)
def test_the_second_run_stops_and_names_the_first(
    cluster: Cluster, runner: Runner, waiting: subprocess.Popen[str]
) -> None:
    mark = cluster.mark()
    played = runner.play("enable", **CHANGED)
    assert played.code != 0
    since = re.sub(r"\.\d+", "", lease(cluster)["acquireTime"])
    assert "Another run works on two-states" in played.output
    assert re.search(
        rf"ansible-playbook pid {waiting.pid} for localhost has the lock since {since}",
        played.output,
    )
    assert not [request for request in runner.writes(mark) if "daemonsets" in request]
    runner.play("enable", "--check", **CHANGED).check()

    clear_faults(cluster.kubeconfig)
    assert waiting.wait(60) == 0
    assert lease(cluster)["holderIdentity"] == ""


# A module has a process more: its own.
@pytest.mark.parametrize("waiting", [("local", "1.1"), ("elsewhere", "1.2")], indirect=True)
def test_a_killed_run_leaves_no_worker_and_its_lock_ends(
    cluster: Cluster, runner: Runner, waiting: subprocess.Popen[str]
) -> None:
    workers = below(waiting.pid)
    assert workers
    waiting.kill()
    # Long before the ten minutes that they would wait for the driver.
    wait_until_none(lambda: list(filter(lives, workers)), "workers of the run")

    played = runner.play("enable", **CHANGED)
    assert played.code != 0
    assert f"ansible-playbook pid {waiting.pid} for localhost has the lock since" in played.output

    # The holder says in the lock itself since when it holds, and how long. Nobody wants to wait a
    # minute here.
    cluster.kubectl(
        *("patch", "lease", "two-states", "-n", "hardware-enablement", "--type=merge"),
        *("-p", '{"spec": {"renewTime": "2026-01-01T00:00:00.000000Z"}}'),
    )
    clear_faults(cluster.kubeconfig)
    assert runner.play("enable", **CHANGED).check().changed > 0
    assert lease(cluster)["holderIdentity"] == ""
    assert lease(cluster)["leaseDurationSeconds"] == 60


def test_a_failed_run_releases_the_lock(cluster: Cluster, runner: Runner) -> None:
    set_fault(cluster.kubeconfig, SLOW_NODE, "driver", "crash")
    cluster.kubectl("delete", "pods", "-n", "two-states", "--all", "--wait=false")
    transitions = lease(cluster).get("leaseTransitions", -1)
    try:
        played = runner.play(
            "enable",
            hardware_enablement_failure_grace=1,
            **RECIPE,
            hardware_enablement_options={"plugin_version": "3.0"},
        )
    finally:
        clear_faults(cluster.kubeconfig)
    assert played.code != 0
    assert SLOW_NODE in played.output
    assert lease(cluster)["leaseTransitions"] > transitions
    assert lease(cluster)["holderIdentity"] == ""
