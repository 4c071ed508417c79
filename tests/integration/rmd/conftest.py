# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For rmd_workload one cluster for all tests that a process runs; for all else an empty one for
each file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface import arguments
from ansible_collections.hardware.enablement.plugins.module_utils._rmd import reconcile_run
from tests.cluster import Cluster
from tests.integration.conftest import documented, name_of
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd.workload_bed import WorkloadBed, make_bed
from tests.rmd import Dialect
from tests.rmd.policies import SKYLAKE

# With the plugin loaded, v0.2 wants its values in every policy.
POLICIES = {
    name: {**tier, "pstate": {"ratio": 3.0, "monitoring": "on"}} for name, tier in SKYLAKE.items()
}


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster without nodes."""
    with Cluster.up(name_of(request)) as started:
        yield started


@pytest.fixture(scope="module")
def reconcile(runner: Runner) -> Module:
    """rmd_reconcile, as the role rmd_workloads calls it."""
    return Module(reconcile_run.TASK, arguments.RMD_RECONCILE, runner.kubeconfig)


@pytest.fixture(scope="session")
def shared_bed(worker_id: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkloadBed]:
    """Five nodes, with both dialects in turns."""
    folder = tmp_path_factory.mktemp("rmd")
    with Cluster.up(f"test-rmd-{worker_id}") as cluster:
        names = cluster.add_nodes(5, profile="cpu-only", prefix="rmd")
        runner = documented(cluster, folder)
        with make_bed(
            cluster, runner, folder, names, plugins=("pstate",), policies=POLICIES
        ) as made:
            yield made
        # Whatever a test has asked for, none of it was ever a PATCH, and no range was sent.
        for server in made.fleet.servers.values():
            for seen in server.requests():
                assert seen.method in ("GET", "POST", "DELETE"), seen
                if seen.method == "POST" and seen.json.get("uuid") != "others":
                    assert all(core.isdigit() for core in seen.json["core_ids"]), seen


@pytest.fixture(scope="module", params=list(Dialect), ids=lambda dialect: dialect.value)
def dialect_bed(request: pytest.FixtureRequest, shared_bed: WorkloadBed) -> WorkloadBed:
    """The bed, all of whose daemons are of one dialect."""
    for server in shared_bed.fleet.servers.values():
        server.install(request.param)
    return shared_bed


@pytest.fixture
def bed(dialect_bed: WorkloadBed) -> WorkloadBed:
    """The bed, with nothing left of the test before."""
    dialect_bed.clean()
    return dialect_bed


@pytest.fixture
def v03(dialect_bed: WorkloadBed) -> WorkloadBed:
    """The bed of the newer dialect only: v0.2 does not have what is tested, or once is enough."""
    if dialect_bed.dialect is not Dialect.V03:
        pytest.skip("only with v0.3")
    dialect_bed.clean()
    return dialect_bed
