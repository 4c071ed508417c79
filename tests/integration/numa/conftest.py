# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of nodes with two NUMA nodes each, where pods of the recipe's scheduler run the real one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster import Cluster
from tests.integration.conftest import grant, name_of
from tests.integration.plays import REPO, Runner

KUBELETS = REPO / "docs" / "admin" / "kubelets.md"


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """Two such nodes, numa-1 and numa-2, and one without."""
    with Cluster.up(name_of(request), numa=True, nfd=False) as started:
        started.add_nodes(2, profile="numa")
        started.add_nodes(1, profile="cpu-only")
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the rights that the playbook rights writes down for the recipe, and that
    to read what kubelets run, as its page has it."""
    return numa_runner(cluster, tmp_path_factory.mktemp("runner"))


def numa_runner(cluster: Cluster, folder: Path) -> Runner:
    """A user who may do what the playbooks of NUMA need."""
    runner = Runner(cluster, "runner", folder)
    runner.play(
        "rights",
        hardware_enablement_recipe="numa",
        hardware_enablement_rights_scope="cluster",
        hardware_enablement_rights_any_options=True,
        hardware_enablement_rights_file=str(folder / "rights.yaml"),
    ).check()
    cluster.kubectl("apply", "-f", str(folder / "rights.yaml"))
    (kubelets,) = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", KUBELETS.read_text(), re.DOTALL)
    cluster.kubectl("apply", "-f", "-", stdin=kubelets)
    for role in ("hardware-enablement-runner", "hardware-enablement-kubelets"):
        grant(cluster, "runner", role)
    return runner
