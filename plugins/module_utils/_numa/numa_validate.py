# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a cluster place pods by NUMA node, and is what it believes true? The core of numa_validate."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .._cluster.api_client.client import connect
from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.pools import parse_pools
from .._runs.context import RunContext
from .._runs.task import Task
from .fingerprints import require_xxhash
from .kubelet_reading import kubelets_at_a_time
from .numa_checks import CHECKS
from .numa_cluster import SEVERITIES, NumaCluster
from .numa_reading import NumaReader, NumaScope
from .numa_report import findings_of, junit_of, summary_of, table_of

_PAUSE_S = 2.0
_SHOWN = 5


def run(
    params: Mapping[str, Any], context: RunContext, sleep: Callable[[float], None] = time.sleep
) -> Obj:
    """numa_validate. Reads only; writes no files in check mode. Raises EnablementError where a check
    of the severities that count does not hold."""
    require_xxhash()
    reader = NumaReader(connect(params), _scope(params), context.clock)
    cluster, findings = _settled(reader, float(params["settle"]), context.clock, sleep)
    fail_on = params["fail_on"]
    failing = () if fail_on == "none" else SEVERITIES[: 1 + SEVERITIES.index(fail_on)]
    summary = summary_of(cluster, CHECKS, findings)
    result: Obj = {
        "changed": False,
        "findings": findings,
        "summary": summary,
        "nodes": sorted(cluster.nodes),
        "pools": [{"name": name, "nodes": nodes} for name, nodes in sorted(cluster.pools.items())],
        "table": table_of(summary, cluster.pools, findings),
    }
    if not context.check_mode:
        _write(
            params.get("json"), json.dumps(_as_json(result), indent=2, ensure_ascii=False) + "\n"
        )
        _write(params.get("junit"), junit_of(cluster, CHECKS, findings, failing))
    for line in result["table"] if params["show"] else ():
        context.notice(line)
    failed = [finding for finding in findings if finding["severity"] in failing]
    if failed:
        raise _failure(failed, result)
    return result


def _scope(params: Mapping[str, Any]) -> NumaScope:
    return NumaScope(
        selector=params.get("selector") or (),
        pools=parse_pools(params.get("pools")),
        exporter_namespace=params["namespace"],
        exporter_labels=params["exporter_labels"],
        scheduler_namespace=params.get("scheduler_namespace") or params["namespace"],
        scheduler_labels=params["scheduler_labels"],
        reads_kubelets=bool(params["kubelets"]),
        at_a_time=kubelets_at_a_time(params),
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
        try:
            Path(path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise InvalidInput(
                "The findings cannot be written",
                where=path,
                why=error.strerror or str(error),
                todo="name a file in a folder that is there",
            ) from None


def _failure(failed: Sequence[Obj], result: Obj) -> EnablementError:
    more = f" and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    error = EnablementError(
        f"{len(failed)} findings of numa_validate count as failures",
        why="; ".join(finding["message"] for finding in failed[:_SHOWN]) + more,
        todo="do what findings say as remediation; the table shows all",
    )
    error.result = result
    return error


TASK = Task(None, run)
