# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What checks found, as data, as a table, and as JUnit. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from .._json import Obj
from .._states.validation.table import aligned
from .numa_cluster import SEVERITIES, NumaCheck, NumaCluster

_SUITE = "numa_validate"
_NAMED = 3


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
        f"NUMA: {_counted(summary['errors'], 'error')}, {_counted(summary['warnings'], 'warning')}, "
        f"{_counted(summary['nodes'], 'node')} looked at{f' ({where})' if where else ''}, "
        f"{summary['checks'] - len(summary['not_run'])} of {summary['checks']} checks"
    )


def _counted(number: int, what: str) -> str:
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
    suite = Xml.Element("testsuite", name=_SUITE)
    skipped = set(not_run(cluster, checks))
    by_check: dict[str, list[Obj]] = defaultdict(list)
    for finding in findings:
        by_check[finding["id"]].append(finding)
    for check in checks.values():
        for finding in by_check[check.id]:
            _add_finding(_case(suite, check, finding), finding, failing)
        if not by_check[check.id]:
            case = _case(suite, check, {})
            if check.id in skipped:
                Xml.SubElement(case, "skipped", message="what it needs could not be read")
    for name, tag in (("tests", "testcase"), ("failures", "failure"), ("skipped", "skipped")):
        suite.set(name, str(sum(1 for _found in suite.iter(tag))))
    Xml.indent(suite)
    return Xml.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: Xml.Element, check: NumaCheck, finding: Mapping[str, Any]) -> Xml.Element:
    place = finding.get("object") or finding.get("node") or finding.get("pool")
    return Xml.SubElement(
        suite,
        "testcase",
        classname=f"{_SUITE}.{check.text.component.replace(' ', '_')}",
        name=f"{check.id} [{place}]" if place else check.id,
    )


def _add_finding(case: Xml.Element, finding: Obj, failing: Sequence[str]) -> None:
    text = f"{finding['message']}\n{finding['remediation']}"
    if finding["severity"] in failing:
        tag = Xml.SubElement(
            case, "failure", type=finding["severity"], message=_printable(finding["message"])
        )
    else:
        tag = Xml.SubElement(case, "system-out")
    tag.text = _printable(text)


def _printable(text: str) -> str:
    """Without characters that XML does not know, and that pods' messages may hold."""
    return "".join(each for each in text if each.isprintable() or each == "\n")
