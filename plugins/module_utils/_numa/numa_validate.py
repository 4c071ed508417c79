# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a cluster place pods by NUMA node, and is what it believes true? The core of numa_validate."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Optional

from .._cluster.api_client.client import connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import EnablementError
from .._json import Obj
from .._nodes.pools import parse_pools
from .._runs.context import RunContext
from .._runs.report_file import writing
from .._runs.task import Task
from .._schema.requests import ParameterGroup
from .fingerprints import require_xxhash
from .kubelet_reading import KubeletRequest, require_one_at_a_time
from .numa_checks import CHECKS
from .numa_cluster import SEVERITIES, NumaCluster
from .numa_reading import NumaReader, NumaScope, WorkloadScope
from .numa_report import by_check, counted, findings_of, junit_of, summary_of, table_of

_PAUSE_S = 2.0


@dataclass(frozen=True)
class NumaWorkloadsRequest(ParameterGroup):
    """Where exporters and scheduler are, and their labels. scheduler_namespace: None for that of the
    exporters."""

    namespace: str
    exporter_labels: Mapping[str, Any]
    scheduler_namespace: Optional[str]
    scheduler_labels: Mapping[str, Any]


@dataclass(frozen=True)
class FindingsRequest(ParameterGroup):
    """What becomes of findings. fail_on: the least severity that counts as a failure. json, junit:
    files that they are written to. show: whether they are told as a table."""

    fail_on: Literal["error", "warning", "none"]
    json: Optional[str]
    junit: Optional[str]
    show: bool

    @property
    def failing(self) -> Sequence[str]:
        """The severities that count as failures."""
        return () if self.fail_on == "none" else SEVERITIES[: 1 + SEVERITIES.index(self.fail_on)]


@dataclass(frozen=True)
class NumaValidateRequest:
    """What numa_validate is to check. kubelets: whether they are asked. settle: seconds in which
    what may pass by itself has to."""

    connection: ConnectionRequest
    which: KubeletRequest
    places: NumaWorkloadsRequest
    findings: FindingsRequest
    kubelets: bool
    settle: int


def run(
    request: NumaValidateRequest,
    context: RunContext,
    sleep: Callable[[float], None] = time.sleep,
) -> Obj:
    """numa_validate. Reads only; writes no files in check mode. Raises EnablementError where a check
    of the severities that count does not hold."""
    require_xxhash()
    reader = NumaReader(connect(request.connection), _scope(request), context.clock)
    cluster, findings = _settled(reader, float(request.settle), context.clock, sleep)
    asked, failing = request.findings, request.findings.failing
    summary = summary_of(cluster, CHECKS, findings)
    result: Obj = {
        "changed": False,
        "findings": findings,
        "summary": summary,
        "nodes": sorted(cluster.nodes.facts),
        "pools": [
            {"name": name, "nodes": nodes} for name, nodes in sorted(cluster.nodes.pools.items())
        ],
        "table": table_of(summary, cluster.nodes.pools, findings),
    }
    if not context.check_mode:
        _write(asked.json, json.dumps(_as_json(result), indent=2, ensure_ascii=False) + "\n")
        _write(asked.junit, junit_of(cluster, CHECKS, findings, failing))
    for line in result["table"] if asked.show else ():
        context.notice(line)
    failed = [finding for finding in findings if finding["severity"] in failing]
    if failed:
        raise _failure(failed, result)
    return result


def _scope(request: NumaValidateRequest) -> NumaScope:
    """What is looked at, by what is asked. Raises InvalidInput for what cannot be meant."""
    which, places = request.which, request.places
    require_one_at_a_time(which.at_a_time)
    return NumaScope(
        selector=which.selector or (),
        pools=parse_pools(which.pools),
        exporters=WorkloadScope(places.namespace, places.exporter_labels),
        schedulers=WorkloadScope(
            places.scheduler_namespace or places.namespace, places.scheduler_labels
        ),
        reads_kubelets=request.kubelets,
        at_a_time=which.at_a_time,
    )


def _settled(
    reader: NumaReader,
    patience_s: float,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> tuple[NumaCluster, list[Obj]]:
    """The cluster and what does not hold of it, once nothing is found any more that may pass by
    itself, or patience ends."""
    until = clock() + patience_s
    while True:
        cluster = reader.read()
        findings = findings_of(cluster, CHECKS)
        passing = any(CHECKS[finding["id"]].settles for finding in findings)
        if not passing or clock() >= until:
            return cluster, findings
        sleep(_PAUSE_S)


def _as_json(result: Obj) -> Obj:
    """What a file has of a result."""
    return {name: result[name] for name in ("summary", "nodes", "pools", "findings")}


def _write(path: str | None, text: str) -> None:
    if path:
        with writing("The findings", path):
            Path(path).write_text(text, encoding="utf-8")


def _failure(failed: Sequence[Obj], result: Obj) -> EnablementError:
    error = EnablementError(
        "NUMA placement is not as it should be",
        where=f"{counted(len(result['nodes']), 'node')} looked at",
        why=by_check(failed),
        todo="do what is said of each after -> (of findings their remediation), and run again",
    )
    error.result = result
    return error


TASK = Task(NumaValidateRequest, run)
