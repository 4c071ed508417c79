# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics of records as a file in OpenMetrics' text format, as kube-state-metrics would serve them,
for where nothing scrapes the cluster. Pure.

Source: OpenMetrics 1.0 (prometheus.io/docs/specs/om/open_metrics_spec). No line of it is what
node_exporter's textfile collector, which reads Prometheus' older format, would refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..._times import seconds
from .record_metrics import COMMON, METRICS, Metric
from .record_status import PHASES

Record = Mapping[str, Any]
_Labels = Mapping[str, str]


def to_text(records: Sequence[tuple[str, Record]]) -> str:
    """records: of which cluster each is, and the record itself ({metadata, spec, status})."""
    lines = [line for metric in METRICS for line in _family(metric, records)]
    return "\n".join([*lines, "# EOF", ""])


def _family(metric: Metric, records: Iterable[tuple[str, Record]]) -> list[str]:
    name = metric.full_name
    found = [
        f"{name}{{{_written({'cluster': cluster, **labels})}}} {_number(value)}"
        for cluster, record in records
        for labels, value in _series(metric, record)
    ]
    return [f"# TYPE {name} gauge", f"# HELP {name} {metric.text}", *found] if found else []


def _series(metric: Metric, record: Record) -> Iterator[tuple[_Labels, float]]:
    """What the record says of a metric; nothing where it does not have the field."""
    where = _at(record, metric.path)
    common = _labels(record, {**COMMON, **metric.of_record})
    if where is None:
        return
    if metric.phases:
        for phase in PHASES:
            yield {**common, "phase": phase}, float(where == phase)
        return
    for item in where if isinstance(where, list) else [where]:
        labels = {**common, **_labels(item, metric.labels)}
        value = 1.0 if metric.constant else _value(_at(item, metric.value))
        if value is not None:
            yield labels, value


def _at(found: Any, path: Sequence[str]) -> Any:
    for name in path:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _labels(found: Any, paths: Mapping[str, Sequence[str]]) -> dict[str, str]:
    values = {name: _at(found, path) for name, path in paths.items()}
    return {name: str(value) for name, value in values.items() if value is not None}


def _value(found: Any) -> float | None:
    """A number, or seconds since the epoch of an API timestamp."""
    return seconds(found) if isinstance(found, str) else None if found is None else float(found)


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)


def _written(labels: _Labels) -> str:
    return ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
