# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What checks found, as data, as a table, and as JUnit. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from .._json import Obj
from .._runs.junit import JunitCase, to_xml
from .._states.validation.table import aligned
from .numa_cluster import SEVERITIES, NumaCheck, NumaCluster

_SUITE = "numa_validate"
_NAMED = 3
_UNREAD = "what it needs could not be read"


def findings_of(cluster: NumaCluster, checks: Mapping[str, NumaCheck]) -> list[Obj]:
    """All that does not hold, errors first, else in the order of the checks."""
    pools = {node: name for name, nodes in cluster.nodes.pools.items() for node in nodes}
    found = [
        check.finding(mismatch, pools.get(mismatch.node, ""))
        for check in checks.values()
        if not check.needs & cluster.reading.missing
        for mismatch in check.find(cluster)
    ]
    return sorted(found, key=lambda finding: SEVERITIES.index(finding["severity"]))


def summary_of(
    cluster: NumaCluster, checks: Mapping[str, NumaCheck], findings: Sequence[Obj]
) -> Obj:
    """How much was looked at, and how much of it does not hold."""
    counts = {
        severity: sum(finding["severity"] == severity for finding in findings)
        for severity in SEVERITIES
    }
    return {
        "errors": counts["error"],
        "warnings": counts["warning"],
        "infos": counts["info"],
        "nodes": len(cluster.nodes.facts),
        "checks": len(checks),
        "not_run": not_run(cluster, checks),
    }


def not_run(cluster: NumaCluster, checks: Mapping[str, NumaCheck]) -> list[str]:
    """Ids of the checks for which something could not be read."""
    return [check.id for check in checks.values() if check.needs & cluster.reading.missing]


def table_of(
    summary: Obj, pools: Mapping[str, Sequence[str]], findings: Sequence[Obj]
) -> list[str]:
    """A line for each finding, the nodes that share one together; then what to do about each."""
    head = _head(summary, pools)
    if not findings:
        return [head]
    together: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for finding in findings:
        key = tuple(finding[name] for name in ("severity", "id", "detected", "expected"))
        together[key].append(finding["object"] or finding["node"] or finding["pool"])
    rows = [(*key[:2], _named(places), *key[2:]) for key, places in together.items()]
    advice = {finding["id"]: finding["remediation"] for finding in findings}
    return [
        head,
        *aligned([("SEVERITY", "CHECK", "WHERE", "IS", "SHOULD BE"), *rows]),
        *(f"-> {id_}: {text}" for id_, text in advice.items()),
    ]


def _head(summary: Obj, pools: Mapping[str, Sequence[str]]) -> str:
    """How much was looked at, and what of it does not hold."""
    where = ", ".join(f"{name} {len(nodes)}" for name, nodes in sorted(pools.items()) if name)
    return (
        f"NUMA: {counted(summary['errors'], 'error')}, {counted(summary['warnings'], 'warning')}, "
        f"{counted(summary['nodes'], 'node')} looked at{f' ({where})' if where else ''}, "
        f"{summary['checks'] - len(summary['not_run'])} of {summary['checks']} checks"
    )


def by_check(findings: Sequence[Obj]) -> str:
    """How many findings there are of each severity, and of each check."""
    severities = Counter(finding["severity"] for finding in findings)
    checks = Counter(finding["id"] for finding in findings)
    numbers = ", ".join(counted(number, severity) for severity, number in severities.items())
    return f"{numbers}: {', '.join(f'{id_} ({number})' for id_, number in checks.items())}"


def counted(number: int, what: str) -> str:
    """The number with its noun."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _named(places: Sequence[str]) -> str:
    more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
    return f"{', '.join(places[:_NAMED])}{more}"


def junit_of(
    cluster: NumaCluster,
    checks: Mapping[str, NumaCheck],
    findings: Sequence[Obj],
    failing: Sequence[str],
) -> str:
    """JUnit's XML: a case for each check that holds, was not run, or, for each finding, does not.

    failing: the severities that count as failures; others are told as output.
    """
    skipped = set(not_run(cluster, checks))
    by_check: dict[str, list[Obj]] = defaultdict(list)
    for finding in findings:
        by_check[finding["id"]].append(finding)
    cases = []
    for check in checks.values():
        part = check.text.component.replace(" ", "_")
        cases += [_case(part, each, failing) for each in by_check[check.id]]
        if check.id in skipped:
            cases.append(JunitCase(check.id, "skipped", message=_UNREAD, part=part))
        elif not by_check[check.id]:
            cases.append(JunitCase(check.id, part=part))
    return to_xml({_SUITE: cases})


def _case(part: str, finding: Obj, failing: Sequence[str]) -> JunitCase:
    place = finding["object"] or finding["node"] or finding["pool"]
    name = f"{finding['id']} [{place}]" if place else finding["id"]
    text = f"{finding['message']}\n{finding['remediation']}"
    if finding["severity"] in failing:
        return JunitCase(name, "failure", finding["severity"], finding["message"], text, part)
    return JunitCase(name, "system-out", text=text, part=part)
