# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Clusters for the integration tests: one for a module's tests, each with the four nodes of the demo."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.integration.plays import REPO, Runner
from tests.scenes.four_nodes import set_scene


def grant(cluster: Cluster, user: str, role: str) -> None:
    """Bind a user to a ClusterRole."""
    cluster.kubectl("create", "clusterrolebinding", f"{user}-{role}", f"--clusterrole={role}", f"--user={user}")


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster with 3 GPU nodes on two kernels and 1 node without a GPU."""
    name = f"test-{Path(str(request.module.__file__)).stem.removeprefix('test_').replace('_', '-')}"
    with Cluster.up(name) as started:
        set_scene(started)
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user who has the rights that the documentation says a run needs, and no more."""
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, "runner", "hardware-enablement-runner")
    return Runner(cluster, "runner", tmp_path_factory.mktemp("runner"))
