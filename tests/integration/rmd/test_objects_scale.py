# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Four workloads on each of 100 nodes of two sockets, whose RMD v0.3 divides the wrong one now and
then: in force or named after each run, all in force after three, and the run after that only
looks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from typing import cast

import pytest

from tests.cluster import Cluster
from tests.integration.plays import REPO, Played, Runner
from tests.integration.rmd.objects_bed import ObjectsBed, make_bed
from tests.integration.rmd.user_objects import workload
from tests.integration.waiting import PATIENTLY
from tests.rmd import Dialect

NODES = 100
pytestmark = pytest.mark.scale


@pytest.fixture(scope="module")
def bed(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ObjectsBed]:
    with make_bed(cluster, tmp_path_factory.mktemp("rmd"), NODES, Dialect.V03) as made:
        yield made


def counted(bed: ObjectsBed, runner: Runner) -> tuple[Played, Counter[str], Counter[str]]:
    """(the run, requests to RMD by method, to the API server by verb) of a run."""
    mark, api, start = bed.fleet.mark(), bed.cluster.mark(), time.monotonic()
    played = runner.play("rmd_workloads", timeout=500)
    seconds = time.monotonic() - start
    rmd = Counter(
        entry.method for entries in bed.fleet.requests(mark).values() for entry in entries
    )
    asked = bed.cluster.audit(user=runner.user, since=api)
    verbs = Counter(
        f"{event['verb']} {event.get('objectRef', {}).get('subresource', '')}".strip()
        for event in asked
        if event["stage"] == "ResponseComplete"
    )
    print(f"{seconds:.1f} s, RMD {dict(rmd)}, API server {dict(verbs)}")
    return played, rmd, verbs


def wrong(bed: ObjectsBed) -> set[tuple[str, str]]:
    """(node, uuid) of each workload that does not have one way of its cache alone."""
    found = set()
    for node, server in bed.fleet.servers.items():
        groups, machine = server.node.resctrl.dump(), server.machine
        masks: dict[str, dict[int, int]] = {}
        for entry in server.workloads():
            core = int(entry["core_ids"][0])
            here = next(cache for cache in machine.caches if core in machine.cpus_of(cache))
            lines = cast("dict[int, str]", groups[entry["cos_name"]]["L3"])
            masks[entry["uuid"]] = {cache: int(mask, 16) for cache, mask in lines.items()}
            masks[entry["uuid"]][-1] = here
        for uuid, mine in masks.items():
            here = mine[-1]
            others = [each for name, each in masks.items() if name != uuid and each[-1] == here]
            alone = not any(mine[here] & each[here] for each in others)
            if mine[here].bit_count() != 1 or mine[1 - here] != machine.full or not alone:
                found.add((node, uuid))
    return found


def told(bed: ObjectsBed) -> dict[tuple[str, str], str]:
    """(node, uuid) of each workload that its object says is not in force, and why."""
    names = [f"web-{number}" for number in range(4)]
    return {
        (node, name): state["response"]
        for name in names
        for node, state in bed.get("rmdworkload", name)["status"]["workloadStates"].items()
        if not state.get("enforced")
    }


def test_four_hundred_workloads_are_in_force_after_three_runs(
    bed: ObjectsBed, runner: Runner
) -> None:
    bed.cluster.kubectl("apply", "--server-side", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    bed.cluster.kubectl(
        "wait", "--for=condition=Established", "crd", "rmdworkloads.intel.com", PATIENTLY
    )
    for number in range(4):
        spec = {
            "coreIds": [str(2 * number)],
            "cache": {"max": 1, "min": 1},
            "nodes": sorted(bed.fleet),
        }
        bed.create(workload(f"web-{number}", spec))
    for _run in range(3):
        played, rmd, _verbs = counted(bed, runner)
        assert all(len(bed.uuids(node)) == 4 for node in bed.fleet)
        named = told(bed)
        assert set(named) == wrong(bed), named
        assert (played.code == 0) == (not wrong(bed))
        if played.code == 0:
            break
    assert wrong(bed) == set()
    assert rmd["POST"] <= 3 * 4 * NODES

    mark = bed.cluster.mark()
    _played, rmd, verbs = counted(bed, runner)
    assert rmd == {"GET": NODES}
    assert verbs["get log"] == NODES
    assert runner.writes(mark) == []
