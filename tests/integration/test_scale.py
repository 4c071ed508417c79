# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand GPU nodes on three kernels. What is asserted is that all comes out right; how long it
took is printed."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.plays import Runner
from tests.scenes.fleet import KERNELS, add_fleet

pytestmark = [pytest.mark.scale, pytest.mark.slow]

NODES = 1000
SUMMARY = "hardware-enablement.io/nvidia-gpu"
KERNEL_LABEL = "feature.node.kubernetes.io/kernel-version.full"
Say = Callable[[str], None]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster of its own, whose nodes the first test adds."""
    with Cluster.up(f"scale-{os.getpid()}") as started:
        yield started


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Print past pytest."""

    def say(text: str) -> None:
        with capsys.disabled():
            print(f"\n    {text}", end="", flush=True)

    return say


def labels(cluster: Cluster, name: str) -> Counter[str]:
    """How many nodes carry which value of a label."""
    nodes = cluster.api.pages("/api/v1/nodes")
    return Counter(
        value
        for node in nodes
        if (value := node["metadata"].get("labels", {}).get(name)) is not None
    )


def test_a_thousand_nodes_are_ready_and_labelled(cluster: Cluster, say: Say) -> None:
    began = time.monotonic()
    add_fleet(cluster, NODES, say=say)
    say(f"{NODES} nodes added: {time.monotonic() - began:.0f} s (aim: 60 s)")
    by_kernel = labels(cluster, KERNEL_LABEL)
    assert set(by_kernel) == set(KERNELS)
    assert by_kernel.total() == NODES


def test_first_run_makes_all_nodes_ready(cluster: Cluster, runner: Runner, say: Say) -> None:
    mark, began = cluster.mark(), time.monotonic()
    runner.play("enable_gpu", timeout=1200).check()
    say(f"first run: {time.monotonic() - began:.0f} s (aim: 120 s)")
    say(f"requests per node: {len(cluster.audit(user=runner.user, since=mark)) / NODES:.1f}")
    assert labels(cluster, SUMMARY) == {"ready": NODES}


def test_second_run_changes_nothing(cluster: Cluster, runner: Runner, say: Say) -> None:
    mark, began = cluster.mark(), time.monotonic()
    played = runner.play("enable_gpu", timeout=600).check()
    say(f"second run: {time.monotonic() - began:.1f} s")
    say(f"requests: {len(cluster.audit(user=runner.user, since=mark))}")
    played.unchanged()
    assert runner.writes(mark) == []
    assert labels(cluster, SUMMARY) == {"ready": NODES}
