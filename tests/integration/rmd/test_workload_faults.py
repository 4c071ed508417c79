# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers that are lost or lie, and records that somebody else has made: nothing is sent twice,
nothing is believed."""

from __future__ import annotations

import contextlib
import json
import threading
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import RmdError
from tests.integration.rmd.asking import NEW, OLD, OTHER, failed, good, outcomes
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.rmd import Dialect, Injection, RmdServer, Workload

pytestmark = pytest.mark.rmd


def test_a_request_that_crashes_the_handler_is_not_sent_twice(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    before = bed.workloads()
    bed.server(0).faults.inject(Injection("POST", cut="before"))
    mark = bed.fleet.mark()
    result = failed(bed.workload(**NEW, nodes=[node]), "closed without an answer", "not sent again")
    assert result["nodes"][0]["kind"] == "server_panic"
    # The new one once; then the old one.
    assert bed.methods(mark)[node].count("P") == 2
    assert bed.workloads() == before


def test_an_answer_that_was_lost_is_looked_for(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    bed.server(0).faults.inject(Injection("POST", cut="after"))
    mark = bed.fleet.mark()
    good(bed.workload(**NEW, nodes=[node]))
    assert bed.methods(mark)[node].count("P") == 1
    bed.server(0).faults.inject(Injection("DELETE", cut="after"))
    good(bed.workload(uuid="w", state="absent", nodes=[node]))
    assert bed.workloads()[node] == []


def test_what_was_made_without_an_answer_is_rolled_back_too(bed: WorkloadBed) -> None:
    """The POST worked, its answer and the look afterwards are lost: nothing of it may stay."""
    good(bed.workload(**OLD))
    before = bed.workloads()
    faults = bed.server(1).faults
    faults.inject(Injection("POST", cut="after"))
    # Two looks and the one after the POST, which is tried four times.
    faults.inject(Injection("GET", path="/workloads", after=2, times=4, status=503, text="busy"))
    failed(bed.workload(**NEW), "rolled back")
    assert bed.workloads() == before


def race(bed: WorkloadBed, node: str) -> None:
    """Twenty POSTs of one uuid at the same time, by somebody who does not care."""
    server = bed.fleet[node]
    server.faults.enforce_seconds = 0.3
    dialect = server.settings.dialect
    cache = {"max": 1, "min": 1}
    body = {
        "uuid": "w",
        "core_ids": ["1", "2"],
        **({"rdt": {"cache": cache}} if dialect is Dialect.V03 else {"cache": cache}),
    }

    def post() -> None:
        with contextlib.suppress(RmdError):
            bed.post(node, body)

    threads = [threading.Thread(target=post) for _number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.faults.enforce_seconds = 0.0


def test_one_uuid_that_is_there_twice_is_made_one(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    race(bed, node)
    assert len(bed.workloads()[node]) > 1
    good(bed.workload(**OLD, nodes=[node]))
    (body,) = bed.workloads()[node]
    assert body["uuid"] == "w"
    assert not good(bed.workload(**OLD, nodes=[node]))["changed"]


def by_hand(server: RmdServer, **values: Any) -> None:
    """A record as somebody else's client has made it."""
    made = {
        "status": "Successful",
        "cos_name": "COS2",
        "origin": "REST",
        "max": 2,
        "min": 2,
        **values,
    }
    server.seed(Workload(**made))


def test_a_range_that_somebody_made_is_warned_of(v03: WorkloadBed) -> None:
    node, server = v03.nodes[0], v03.server(0)
    by_hand(server, uuid="w", core_ids=["1-2"])
    server.restart()
    server.node.resctrl.assign("COS2", {1, 2})
    server.node.resctrl.set_masks("COS2", {0: 0x60})
    assert not good(v03.workload(**OLD, nodes=[node]))["changed"]
    result = good(v03.workload(**NEW, nodes=[node]))
    assert "which RMD v0.3 does not free when it deletes it" in result["warnings"][0]
    assert v03.workloads()[node][0]["core_ids"] == ["1", "2"]


def test_what_openstack_made_is_not_touched(bed: WorkloadBed) -> None:
    node, server = bed.nodes[0], bed.server(0)
    by_hand(server, uuid="w", core_ids=["1", "2"], origin="OPENSTACK")
    mark = bed.fleet.mark()
    result = failed(bed.workload(**NEW, nodes=[node]), 'of origin "OPENSTACK"')
    assert result["nodes"][0]["kind"] == "foreign_origin"
    assert "D" not in bed.methods(mark)[node]


def test_a_record_that_failed_is_made_anew(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    by_hand(bed.server(0), uuid="w", core_ids=["1", "2"], status="Failed", cos_name="")
    assert good(bed.workload(**OLD, nodes=[node]))["changed"]
    assert [body["status"] for body in bed.workloads()[node]] == ["Successful"]


def test_an_empty_database_is_filled_again(bed: WorkloadBed) -> None:
    good(bed.workload(workloads=[OLD, OTHER]))
    bed.server(3).restart(empty_database=True)
    bed.server(3).reboot()
    mark = bed.fleet.mark()
    result = good(bed.workload(workloads=[OLD, OTHER]))
    assert outcomes(bed, result) == ["unchanged", "unchanged", "unchanged", "changed", "unchanged"]
    assert {methods for node, methods in bed.methods(mark).items() if node != bed.nodes[3]} == {"G"}


def test_a_post_that_enforces_nothing_is_undone(bed: WorkloadBed) -> None:
    """As a policy file in YAML makes v0.3 do it: 201, Successful, and no group."""
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    before = bed.workloads()
    lie = {**before[node][0], "id": "99", "cos_name": ""}
    bed.server(0).faults.inject(Injection("POST", status=201, text=json.dumps(lie)))
    result = failed(bed.workload(**NEW, nodes=[node]), "but set nothing")
    assert result["nodes"][0]["kind"] == "not_enforced"
    assert bed.workloads() == before


def test_a_write_without_effect_is_noticed(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    bed.server(0).faults.inject(Injection("DELETE", status=200))
    result = failed(
        bed.workload(uuid="w", state="absent", nodes=[node]), "w is not as it was asked for"
    )
    assert result["nodes"][0]["kind"] == "no_effect"
