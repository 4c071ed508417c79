# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One cluster with two real nodes for all tests that a process runs, and one namespace for each
test file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.integration.kubelet.bench import Bench


@pytest.fixture(scope="session")
def cluster(worker_id: str) -> Iterator[Cluster]:
    """A cluster with two real nodes, which know the image python-base, and a simulated one; pods with
    the scheduler of scheduler-plugins run it."""
    with Cluster.up(f"test-kubelet-{worker_id}", kubelets=2, numa=True, say=print) as started:
        started.load_image("python-base")
        started.add_nodes(1, profile="cpu-only")
        yield started


@pytest.fixture(scope="module")
def bench(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A namespace of its own."""
    stem = Path(str(request.module.__file__)).stem
    namespace = stem.removeprefix("test_").replace("_", "-")
    cluster.kubectl("create", "namespace", namespace)
    yield Bench(cluster, namespace)
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")
