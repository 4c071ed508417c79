# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four workloads on each of 100 nodes in one run, and the run after it, which only looks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.integration.plays import REPO, Runner
from tests.integration.rmd.objects_bed import ObjectsBed, make_bed

NODES = 100
pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def bed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectsBed]:
    with make_bed(cluster, tmp_path_factory.mktemp("rmd"), NODES) as made:
        yield made


def counted(bed: ObjectsBed, runner: Runner) -> tuple[Counter[str], Counter[str], float]:
    """(requests to RMD by method, to the API server by verb, seconds) of a run."""
    mark, api, start = bed.fleet.mark(), bed.cluster.mark(), time.monotonic()
    runner.play("rmd_workloads", timeout=500).check()
    seconds = time.monotonic() - start
    rmd = Counter(
        entry.method for entries in bed.fleet.requests(mark).values() for entry in entries
    )
    verbs = Counter(str(event["verb"]) for event in bed.cluster.audit(user=runner.user, since=api))
    print(f"{seconds:.1f} s, RMD {dict(rmd)}, API server {dict(verbs)}")
    return rmd, verbs, seconds


def test_four_hundred_workloads_in_one_run(bed: ObjectsBed, runner: Runner) -> None:
    bed.cluster.kubectl("apply", "--server-side", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    bed.cluster.kubectl(
        "wait", "--for=condition=Established", "crd", "rmdworkloads.intel.com", "--timeout=120s"
    )
    for number in range(4):
        spec = {"coreIds": [str(number)], "cache": {"max": 1, "min": 1}, "nodes": sorted(bed.fleet)}
        metadata = {"name": f"web-{number}", "namespace": "default"}
        bed.create(
            {
                "apiVersion": "intel.com/v1alpha1",
                "kind": "RmdWorkload",
                "metadata": metadata,
                "spec": spec,
            }
        )
    rmd, _verbs, _seconds = counted(bed, runner)
    assert all(len(bed.uuids(node)) == 4 for node in bed.fleet)
    # One more for each node tells the dialect.
    assert rmd["POST"] == 5 * NODES


def test_a_second_run_is_one_get_for_each_node(bed: ObjectsBed, runner: Runner) -> None:
    mark = bed.cluster.mark()
    rmd, _verbs, _seconds = counted(bed, runner)
    assert rmd == {"GET": NODES}
    assert runner.writes(mark) == []
