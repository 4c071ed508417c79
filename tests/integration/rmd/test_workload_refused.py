# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What no RMD takes, what the machine does not have, and what the dialect does not know is never
sent."""

from __future__ import annotations

import pytest

from tests.integration.rmd.asking import OLD, OTHER, failed, good
from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.rmd import Dialect

pytestmark = pytest.mark.rmd


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"uuid": "w", "core_ids": ["x"], "cache": {"max": 1, "min": 1}}, '"x" is no list of CPUs'),
        ({"uuid": "w", "core_ids": ["1"]}, "asks for nothing"),
        ({"uuid": "w", "cache": {"max": 1, "min": 1}}, "names no core"),
        ({"core_ids": ["1"]}, "either one workload or a list"),
        ({"workloads": [OLD], "uuid": "x"}, "either one workload or a list"),
        ({"workloads": [OLD, OLD]}, "more than once"),
        ({"workloads": [OLD, {**OTHER, "core_ids": ["2"]}]}, "belongs to workload"),
        ({**OLD, "nodes": None}, "give nodes or node_selector"),
        ({**OLD, "mba": {"percentage": 101}}, "not from 1 to 100"),
    ],
)
def test_what_no_rmd_takes_is_said_before_anything_is_asked(
    v03: WorkloadBed, params: Obj, words: str
) -> None:
    mark, asked = v03.fleet.mark(), v03.cluster.mark()
    failed(v03.workload(**params), words)
    assert set(v03.methods(mark).values()) == {""}
    assert v03.cluster.audit(user="runner", since=asked) == []


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"core_ids": ["99"]}, "unknown_core"),
        ({"core_ids": ["3"]}, "conflict_core"),
        ({"core_ids": ["1"], "cache": {"max": 12, "min": 12}}, "no_cache"),
        ({"core_ids": ["1"], "cache": {"max": 6, "min": 6}}, "no_cache"),
        ({"core_ids": ["1"], "policy": "platinum"}, "policy_unknown"),
        ({"core_ids": ["1"], "cache": None, "mba": {"percentage": 50}}, "mba_unsupported"),
    ],
)
def test_what_the_machine_does_not_have_is_never_sent(
    bed: WorkloadBed, params: Obj, kind: str
) -> None:
    good(bed.workload(**OTHER))
    before, mark = bed.fleet.dump(), bed.fleet.mark()
    result = failed(bed.workload(**{"uuid": "w", "cache": {"max": 2, "min": 2}, **params}))
    assert {entry["kind"] for entry in result["nodes"]} == {kind}
    assert set("".join(bed.methods(mark).values())) == {"G"}
    assert bed.fleet.dump() == before


def test_the_older_dialect_has_no_mba(bed: WorkloadBed) -> None:
    if bed.server(0).settings.dialect is Dialect.V03:
        pytest.skip("the newer one has")
    result = failed(bed.workload(**OLD, mba={"percentage": 50}), "which RMD v0.2 does not know")
    assert result["nodes"][0]["kind"] == "mba_unsupported"
    assert set(bed.workloads()[bed.nodes[0]]) == set()
