# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that was killed is repaired by the next one, and a node has one writer at a time."""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import pytest

from tests.integration.plays import PLAYBOOKS
from tests.integration.processes import below, lives
from tests.integration.rmd.asking import NEW, OLD, OTHER, failed, good
from tests.integration.rmd.bed import Obj
from tests.integration.rmd.workload_bed import WorkloadBed
from tests.integration.waiting import wait_until, wait_until_none
from tests.rmd import Injection

pytestmark = pytest.mark.rmd


def killed(bed: WorkloadBed, **wanted: Any) -> None:
    """A playbook that is killed by -9 when a server has had its DELETE, and has not answered the
    POST."""
    server = bed.server(0)
    # Longer than any test waits: what has not ended by then was not killed.
    server.faults.inject(Injection("POST", hang=600.0))
    mark = server.mark()
    process = bed.runner.start(
        PLAYBOOKS / "rmd_workload.yml",
        nodes=bed.nodes[:1],
        workload=wanted,
        out=str(bed.runner.folder / "killed.json"),
        ansible_python_interpreter=sys.executable,
    )
    hanging = server.wait_for(lambda seen: seen.method == "POST", timeout=120, since=mark)
    workers = below(process.pid)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    # A worker of its own session ends when it sees that its parent is dead.
    wait_until_none(lambda: list(filter(lives, workers)), "workers of the run")
    assert [body["uuid"] for body in server.workloads()] == []
    server.stop()
    wait_until(lambda: hanging.status is not None, "the end of the request that hung")
    server.faults.clear()
    server.start()
    # The hold of a dead run lasts a minute; the test has not that much patience.
    assert bed.lease(bed.nodes[0])["spec"]["holderIdentity"]
    bed.cluster.kubectl(
        "patch",
        "lease",
        f"rmd.{bed.nodes[0]}",
        "-n",
        "hardware-enablement",
        "--type=merge",
        "-p",
        '{"spec":{"leaseDurationSeconds":1}}',
    )


def test_the_next_run_repairs_what_a_killed_one_has_left(bed: WorkloadBed) -> None:
    node = bed.nodes[0]
    good(bed.workload(**OLD, nodes=[node]))
    killed(bed, **NEW)
    assert [body["uuid"] for body in bed.saved(node)] == ["w"]
    check = good(bed.workload(check=True, **OTHER, nodes=[node]))
    assert {"uuid": "w", "action": "restore"} in check["nodes"][0]["actions"]
    # A run about something else puts back what was there.
    result = good(bed.workload(**OTHER, nodes=[node]))
    assert result["nodes"][0]["actions"] == [
        {"uuid": "w", "action": "restore"},
        {"uuid": "other", "action": "post"},
    ]
    assert [body["uuid"] for body in bed.workloads()[node]] == ["w", "other"]
    assert bed.saved(node) == []


def test_the_same_run_again_ends_what_it_began(v03: WorkloadBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    killed(v03, **NEW)
    good(v03.workload(**NEW, nodes=[node]))
    (body,) = v03.workloads()[node]
    assert body.get("rdt", body)["cache"] == {"max": 3, "min": 3}
    assert v03.saved(node) == []
    assert not good(v03.workload(**NEW, nodes=[node]))["changed"]


def test_what_should_be_gone_is_not_put_back(v03: WorkloadBed) -> None:
    node = v03.nodes[0]
    good(v03.workload(**OLD, nodes=[node]))
    killed(v03, **NEW)
    mark = v03.fleet.mark()
    good(v03.workload(uuid="w", state="absent", nodes=[node]))
    assert set(v03.methods(mark)[node]) == {"G"}
    assert v03.workloads()[node] == []
    assert v03.saved(node) == []


def test_another_run_is_waited_for(v03: WorkloadBed) -> None:
    node = v03.nodes[0]
    v03.server(0).faults.inject(Injection("POST", after=1, hang=2.0))
    results: list[Obj] = []
    first = threading.Thread(
        target=lambda: results.append(v03.workload(**OLD, nodes=[node], run_id="first"))
    )
    mark = v03.server(0).mark()
    first.start()
    v03.server(0).wait_for(lambda seen: seen.method == "POST" and b"uuid" in seen.body, since=mark)
    refused = failed(
        v03.workload(**OTHER, nodes=[node], run_id="second", lock_wait=0),
        "first has the lock since",
    )
    assert refused["nodes"][0]["kind"] == "locked"
    second = good(v03.workload(**OTHER, nodes=[node], run_id="second", lock_wait=20))
    first.join()
    good(results[0])
    assert second["changed"]
    assert [body["uuid"] for body in v03.workloads()[node]] == ["w", "other"]
