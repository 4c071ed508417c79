# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of rmd_workload ask for, and how they judge what they get."""

from __future__ import annotations

from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.rmd import Injection

OLD: Obj = {"uuid": "w", "core_ids": ["1-2"], "cache": {"max": 2, "min": 2}}
NEW: Obj = {"uuid": "w", "core_ids": ["2", "1"], "cache": {"max": 3, "min": 3}}
OTHER: Obj = {"uuid": "other", "core_ids": ["3"], "cache": {"max": 1, "min": 1}}
NO_CLOS = Injection("POST", status=500, text="No free CLOS available")


def good(result: Obj) -> Obj:
    """The same, of a run that went well."""
    assert not result.get("failed"), result["msg"]
    return result


def failed(result: Obj, *words: str) -> Obj:
    """The same, of a run that failed and says these words, in one line."""
    assert result.get("failed"), result
    for word in words:
        assert word in result["msg"], result["msg"]
    assert "\n" not in result["msg"], result["msg"]
    return result


def outcomes(bed: WorkloadBed, result: Obj) -> list[str]:
    """What became of each node, in the nodes' order."""
    found = bed.by_node(result)
    return [found[node]["outcome"] for node in bed.nodes]
