# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One of five nodes fails: all are rolled back, or what went well is kept, or nothing is begun."""

from __future__ import annotations

import pytest

from tests.integration.rmd.asking import NEW, NO_CLOS, OLD, OTHER, failed, good, outcomes
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.rmd import Injection

pytestmark = pytest.mark.rmd


def test_rolled_back_everywhere(bed: WorkloadBed) -> None:
    good(bed.workload(**OLD))
    before = bed.workloads()
    bed.server(2).faults.inject(NO_CLOS)
    result = failed(
        bed.workload(**NEW, parallel=1),
        f"on 1 of 5 nodes ({bed.nodes[2]})",
        'RMD says "No free CLOS available" (500)',
        "all nodes were rolled back to what they were",
        "remove a workload",
    )
    assert bed.workloads() == before
    assert outcomes(bed, result) == [
        "rolled_back",
        "rolled_back",
        "rolled_back",
        "withheld",
        "withheld",
    ]
    assert [entry["node"] for entry in result["nodes"] if entry["failed"]] == [bed.nodes[2]]
    assert not result["changed"]
    assert [bed.saved(node) for node in bed.nodes] == [[]] * 5
    # And then it works.
    assert outcomes(bed, good(bed.workload(**NEW))) == ["changed"] * 5


def test_new_ones_are_rolled_back_without_a_trace(bed: WorkloadBed) -> None:
    before = bed.fleet.dump()
    bed.server(4).faults.inject(
        Injection("POST", after=1, status=500, text="No free CLOS available")
    )
    failed(bed.workload(**OLD), "rolled back")
    assert bed.fleet.dump() == before


def test_what_went_well_is_kept(bed: WorkloadBed) -> None:
    good(bed.workload(**OLD))
    before = bed.workloads()
    bed.server(2).faults.inject(NO_CLOS)
    result = failed(
        bed.workload(**NEW, on_partial_failure="keep"),
        "4 of the other nodes were changed and kept so",
    )
    after = bed.workloads()
    assert after[bed.nodes[2]] == before[bed.nodes[2]]
    assert "the old one is in place" in bed.by_node(result)[bed.nodes[2]]["message"]
    assert outcomes(bed, result) == ["changed", "changed", "failed", "changed", "changed"]
    assert {node: bodies[0].get("rdt", bodies[0])["cache"] for node, bodies in after.items()} == {
        node: {"max": 2, "min": 2} if node == bed.nodes[2] else {"max": 3, "min": 3}
        for node in bed.nodes
    }
    assert result["changed"]
    assert bed.saved(bed.nodes[2]) == []


def test_other_workloads_of_the_same_node_are_kept(v03: WorkloadBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    v03.server(0).faults.inject(NO_CLOS)
    result = failed(v03.workload(workloads=[NEW, OTHER], nodes=[node], on_partial_failure="keep"))
    assert sorted(body["uuid"] for body in v03.workloads()[node]) == ["other", "w"]
    assert [("problem" in entry, entry["uuid"]) for entry in result["nodes"][0]["actions"]] == [
        (True, "w"),
        (False, "other"),
    ]


def test_a_workload_that_breaks_a_rule_stops_only_itself_where_asked(v03: WorkloadBed) -> None:
    node = v03.nodes[0]
    wrong = {**OTHER, "core_ids": ["99"]}
    failed(
        v03.workload(workloads=[OLD, wrong], nodes=[node], on_partial_failure="keep"),
        "names core 99",
    )
    assert [body["uuid"] for body in v03.workloads()[node]] == ["w"]


def test_nothing_is_written_while_one_cannot_be_asked(v03: WorkloadBed) -> None:
    v03.server(3).stop()
    mark = v03.fleet.mark()
    result = failed(
        v03.workload(**OLD), "no connection (Connection refused)", "nothing was written"
    )
    assert outcomes(v03, result) == ["withheld", "withheld", "withheld", "failed", "withheld"]
    assert set("".join(v03.methods(mark).values())) == {"G"}
    kept = failed(v03.workload(**OLD, on_partial_failure="keep"))
    assert outcomes(v03, kept) == ["changed", "changed", "changed", "failed", "changed"]


def test_nothing_is_written_while_one_would_refuse(bed: WorkloadBed) -> None:
    """The cores are somebody's on one node only, which is known before the first write."""
    good(bed.workload(**{**OTHER, "core_ids": ["2"]}, nodes=[bed.nodes[3]]))
    before, mark = bed.fleet.dump(), bed.fleet.mark()
    result = failed(
        bed.workload(**OLD), "core 2 of workload w belongs to workload other", "nothing was written"
    )
    assert outcomes(bed, result) == ["withheld", "withheld", "withheld", "failed", "withheld"]
    assert bed.fleet.dump() == before
    # The dialect may be asked for by a POST that every daemon refuses.
    posts = [
        seen.json
        for entries in bed.fleet.requests(mark).values()
        for seen in entries
        if seen.method == "POST"
    ]
    assert all(body == {"core_ids": ["0"]} for body in posts)


def test_a_daemon_that_dies_is_brought_back_by_the_next_run(bed: WorkloadBed) -> None:
    """Between DELETE and POST, for good: neither the new one nor the old one can be set."""
    good(bed.workload(**OLD))
    before = bed.workloads()
    bed.server(2).faults.inject(Injection("POST", die=True))
    result = failed(
        bed.workload(**NEW),
        f"but for {bed.nodes[2]}",
        "run again: what was saved is put back first",
    )
    assert bed.by_node(result)[bed.nodes[2]]["kind"] == "not_restored"
    assert [body["uuid"] for body in bed.saved(bed.nodes[2])] == ["w"]
    assert bed.by_node(bed.info())[bed.nodes[2]]["unfinished"] == ["w"]
    bed.server(2).faults.clear()
    bed.server(2).start()
    again = good(bed.workload(**OLD))
    assert bed.by_node(again)[bed.nodes[2]]["actions"][0] == {"uuid": "w", "action": "restore"}
    assert bed.workloads() == before
    assert bed.saved(bed.nodes[2]) == []
