# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""verify=resctrl: what the agent has read on the node decides, not RMD's word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.integration.plays import REPO
from tests.integration.rmd.asking import OLD, failed, good
from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed

pytestmark = pytest.mark.rmd


def verified(bed: WorkloadBed, node: str, **params: Any) -> Obj:
    """Post, then compare with what the agent reads in the server's tree."""
    bed.workload(nodes=[node], **params)
    bed.report(node)
    return bed.workload(nodes=[node], verify="resctrl", verify_timeout=0, **params)


def test_a_good_node_is_verified(bed: WorkloadBed) -> None:
    mark = bed.fleet.mark()
    two_sockets = {"uuid": "w", "core_ids": ["1", "5"], "cache": {"max": 2, "min": 2}}
    assert not good(verified(bed, bed.nodes[0], **two_sockets))["changed"]
    assert bed.methods(mark)[bed.nodes[0]].endswith("G")


def test_the_wrong_socket_is_reported(bed: WorkloadBed) -> None:
    bed.server(0).faults.wrong_socket = True
    result = failed(
        verified(bed, bed.nodes[0], **OLD), "workload w has all 11 ways of its cache 0 instead of 2"
    )
    assert result["nodes"][0]["kind"] == "verify"
    assert "workload w restricts cache 1 to 2 ways, and has no core there" in result["msg"]
    bed.server(0).faults.wrong_socket = False
    good(bed.workload(**OLD, nodes=bed.nodes[:1], recreate=True))
    good(verified(bed, bed.nodes[0], **OLD))


def test_nothing_set_is_reported(bed: WorkloadBed) -> None:
    bed.server(0).faults.silent_noop = True
    result = failed(verified(bed, bed.nodes[0], **OLD))
    assert result["nodes"][0]["kind"] == "verify"


def test_a_ghost_is_reported_and_made_true(bed: WorkloadBed) -> None:
    """After a restart RMD shows what it has not set again."""
    node, server = bed.nodes[0], bed.server(0)
    good(bed.workload(**OLD, nodes=[node]))
    cos = server.workloads()[0]["cos_name"]
    group = server.node.resctrl.folder / cos  # type: ignore[operator]
    (group / "cpus_list").write_text("\n")
    (group / "schemata").write_text("L3:0=7ff;1=7ff\n")
    bed.report(node)
    failed(bed.workload(**OLD, nodes=[node], verify="resctrl", verify_timeout=0), "recreate: true")


def test_what_a_failed_patch_of_somebody_has_taken_is_reported(v03: WorkloadBed) -> None:
    """GET still says Successful; the group is gone."""
    node, server = v03.nodes[0], v03.server(0)
    good(v03.workload(**OLD, nodes=[node]))
    server.node.resctrl.remove(server.workloads()[0]["cos_name"])
    v03.report(node)
    failed(
        v03.workload(**OLD, nodes=[node], verify="resctrl", verify_timeout=0), "has no such group"
    )


def test_memory_bandwidth_is_verified(v03: WorkloadBed) -> None:
    good(verified(v03, v03.nodes[0], **OLD, mba={"percentage": 50}))


def test_without_an_agent_nothing_is_verified(v03: WorkloadBed) -> None:
    good(v03.workload(**OLD, nodes=v03.nodes[:1]))
    result = failed(v03.workload(**OLD, nodes=v03.nodes[:1], verify="resctrl", verify_timeout=0))
    assert result["nodes"][0]["kind"] == "unverified"


def test_the_pages_playbook(v03: WorkloadBed, tmp_path: Path) -> None:
    """docs/admin/rmd-modules.md, on our nodes."""
    page = (REPO / "docs" / "admin" / "rmd-modules.md").read_text()
    text = page.split("```yaml\n")[1].split("```")[0]
    for number, node in enumerate(v03.nodes[:2], start=1):
        text = text.replace(f"worker-node-{number}", node)
    (tmp_path / "cache.yml").write_text(text)
    good(
        v03.workload(uuid="web", core_ids=["1-3"], cache={"max": 2, "min": 2}, nodes=v03.nodes[:2])
    )
    for node in v03.nodes[:2]:
        v03.report(node)
    played = v03.runner.play(tmp_path / "cache.yml").unchanged()
    assert f'"msg": "{v03.nodes[0]}: [' in played.output
