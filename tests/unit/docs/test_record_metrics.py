# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics are made of fields that the record has, and alerts of metrics that are made."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.plugins.module_utils._states.record import crd
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.record_metrics import (
    COMMON,
    METRICS,
    PREFIX,
    Metric,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
)
from docs.pictures import dashboard
from docs.reference.fleet_dashboard import PANELS, Panel, console, grafana
from docs.reference.metrics import configuration, role

MANIFESTS = Path(__file__).parents[3] / "manifests"
Obj = dict[str, Any]
BY_NAME = {metric.full_name: metric for metric in METRICS}
# A metric with the labels that an alert chooses by, and what it groups by.
USED = re.compile(rf"({PREFIX}_\w+)(?:\{{([^}}]*)\}})?")
GROUPED = re.compile(r"(?:by|on) \(([^)]*)\)")


def schema_at(path: Sequence[str]) -> Obj:
    """The schema of a field of the record, through the items of lists; KeyError where there is
    none."""
    (version,) = crd.definition()["spec"]["versions"]
    schema: Obj = version["schema"]["openAPIV3Schema"]
    for name in path:
        schema = schema.get("items", schema)["properties"][name]
    return schema


def rules() -> list[Obj]:
    """The shipped alerts."""
    text = (MANIFESTS / "alerts.yaml").read_text(encoding="utf-8")
    return [rule for group in yaml.safe_load(text)["spec"]["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_each_is_a_field_of_the_record(metric: Metric) -> None:
    for path in metric.of_record.values():
        assert schema_at(path)["type"] == "string"
    if metric.path[0] == "metadata":
        return
    where = schema_at(metric.path)
    for path in metric.labels.values():
        assert schema_at((*metric.path, *path))["type"] == "string"
    if metric.constant or metric.phases:
        return
    # A path to an object would be a series for each of its fields.
    assert (where["type"] == "array") == bool(metric.value)
    value = schema_at((*metric.path, *metric.value))
    assert value["type"] == ("string" if metric.name.endswith("_timestamp_seconds") else "integer")


def test_series_of_a_list_are_told_apart() -> None:
    # Else Prometheus drops all but one.
    for metric in METRICS:
        if metric.value:
            assert set(metric.labels) in (
                {"state"},
                {"state", "phase", "reason"},
                {"node", "phase"},
            )


def test_every_phase_is_a_series() -> None:
    (resource,) = configuration()["spec"]["resources"]
    (phase,) = [each for each in resource["metrics"] if each["name"] == "phase"]
    found = phase["each"]["stateSet"]["list"]
    assert {*found} == {*(phase.value for phase in Phase), "drifted", "empty"}
    text = schema_at(("status", "phase"))["description"]
    assert all(name in text for name in found)


def test_the_role_reads_no_more_than_records_and_what_kinds_there_are() -> None:
    rules = role()["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"list", "watch"}
    assert [(rule["apiGroups"], rule["resources"]) for rule in rules] == [
        ([crd.GROUP], ["specialresources"]),
        (["apiextensions.k8s.io"], ["customresourcedefinitions"]),
    ]


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule["alert"])
def test_each_alert_is_about_series_that_there_are_and_says_what_to_do(rule: Obj) -> None:
    used = USED.findall(rule["expr"])
    assert used
    grouped = {name.strip() for names in GROUPED.findall(rule["expr"]) for name in names.split(",")}
    for name, chosen in used:
        labels = {*BY_NAME[name].label_names}
        assert {part.split("=")[0].strip("!~ ") for part in chosen.split(",") if part} <= labels
    assert grouped <= {
        *COMMON,
        *(label for name, _other in used for label in BY_NAME[name].label_names),
    }
    shown = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
    # What an aggregation drops would be shown as nothing.
    assert shown <= grouped
    assert rule["labels"]["severity"] in ("info", "warning", "critical")
    assert re.search(r"playbook|status\.drift", rule["annotations"]["description"])


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_each_panel_is_about_series_that_there_are(panel: Panel) -> None:
    used = USED.findall(panel.expression)
    assert used
    of_all = {"cluster", *(label for name, _other in used for label in BY_NAME[name].label_names)}
    grouped = {
        name.strip() for names in GROUPED.findall(panel.expression) for name in names.split(",")
    }
    chosen = {part.split("=")[0].strip("!~ ") for _n, text in used for part in text.split(",")}
    assert grouped | chosen <= of_all
    # What an aggregation drops would be shown as nothing.
    assert set(re.findall(r"\{\{(\w+)\}\}", panel.legend)) <= grouped
    if panel.type != "stat":
        assert "name" in grouped


def test_no_recipe_hides_that_the_nodes_of_another_are_not_ready() -> None:
    (share,) = [panel for panel in PANELS if panel.unit == "percentunit"]
    assert share.expression.startswith("min(")
    assert share.expression.count("max by (cluster, name)") == 2


def test_both_dashboards_have_all_panels() -> None:
    for made in (grafana(), console()):
        (text,) = made["data"].values()
        found = json.loads(text)
        rows = found.get("rows") or [found]
        panels = [panel for row in rows for panel in row["panels"]]
        asked = [panel["targets"][0]["expr"] for panel in panels]
        assert asked == [panel.expression for panel in PANELS]
        # The console knows no other kinds.
        if "rows" in found:
            assert {panel["type"] for panel in panels} == {"singlestat", "graph", "table"}
            assert {sum(panel["span"] for panel in row["panels"]) for row in rows} == {12}
            continue
        widths: Counter[int] = Counter()
        for place in (panel["gridPos"] for panel in panels):
            assert place["x"] == widths[place["y"]]
            widths[place["y"]] += place["w"]
        assert set(widths.values()) == {24}


def test_the_picture_has_an_answer_of_prometheus_to_each_panel() -> None:
    answered = [(each["title"], each["expression"]) for each in dashboard.read()["panels"]]
    assert answered == [(panel.title, panel.expression) for panel in PANELS]
    assert all(each["series"] for each in dashboard.read()["panels"])
