# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules as Prometheus' own promtool sees them: their form, and what each says about
made-up series."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from docs.reference.fleet_dashboard import PANELS
from tests.cluster.programs import PROMTOOL_MODULES, ensure_programs
from tests.unit.recipes.conftest import REPO, renderer

# What has to be set for every alert of a recipe to be there.
OPTIONS = {"intel-gaudi": {"exporter_host_network": True}}
# Those about the record, of no recipe.
OURS = "hardware-enablement"
CASES = {file.stem: file for file in sorted((REPO / "tests" / "promtool").glob("*.yml"))}


@pytest.fixture(scope="module")
def promtool() -> Callable[..., None]:
    """promtool(ARGUMENTS..., cwd=FOLDER), which has to succeed."""
    program = ensure_programs(modules=PROMTOOL_MODULES)["promtool"]

    def run(*arguments: str, cwd: Path) -> None:
        done = subprocess.run(
            [program, *arguments], cwd=cwd, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (
            f"promtool {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"
        )

    return run


def write_rules(recipe: str, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """A recipe's rules under these options, or those about the record, written to FOLDER/rules.yml."""
    if recipe == OURS:
        spec = yaml.safe_load((REPO / "manifests" / "alerts.yaml").read_text())["spec"]
    else:
        rendering = renderer(REPO / "recipes" / recipe)(**options)
        spec = rendering.one("PrometheusRule", recipe)["spec"]
    (folder / "rules.yml").write_text(yaml.safe_dump(spec))
    return [rule for group in spec["groups"] for rule in group["rules"]]


@pytest.mark.parametrize(
    "options",
    [{}, {"alert_xid_critical": [], "alert_xid_application": []}, {"alert_unused_after": "30m"}],
    ids=["defaults", "no numbers", "half an hour"],
)
def test_promtool_accepts_the_rules(
    promtool: Callable[..., None], tmp_path: Path, options: dict[str, Any]
) -> None:
    write_rules("nvidia-gpu", tmp_path, **options)
    promtool("check", "rules", "rules.yml", cwd=tmp_path)


def test_promtool_accepts_the_queries_of_dashboards(
    promtool: Callable[..., None], tmp_path: Path
) -> None:
    # Each as a rule that keeps what it gives, with "All" chosen.
    rules = [
        {"record": f"panel:{number}", "expr": panel.expression.replace("$cluster", ".*")}
        for number, panel in enumerate(PANELS)
    ]
    spec = {"groups": [{"name": "dashboard", "rules": rules}]}
    (tmp_path / "rules.yml").write_text(yaml.safe_dump(spec))
    promtool("check", "rules", "rules.yml", cwd=tmp_path)
    metric = "hardware_enablement_special_resource"
    phases = {"a": ("ready", 1), "b": ("ready", 0)}
    series = [
        {"series": f'{metric}_phase{{name="{name}",phase="{phase}"}}', "values": value}
        for name, (phase, value) in phases.items()
    ]
    series += [
        {"series": f'{metric}_created_timestamp_seconds{{name="{name}"}}', "values": 1}
        for name in (*phases, "of no run")
    ]
    (number,) = [at for at, panel in enumerate(PANELS) if "not ready" in panel.title]
    query = {"expr": f"panel:{number}", "eval_time": "0m"}
    sample = {"labels": f"panel:{number}", "value": 2}
    case = {"input_series": series, "promql_expr_test": [{**query, "exp_samples": [sample]}]}
    cases = {"rule_files": ["rules.yml"], "tests": [case]}
    (tmp_path / "cases.yml").write_text(yaml.safe_dump(cases))
    promtool("test", "rules", "cases.yml", cwd=tmp_path)


def test_every_recipe_with_alerts_has_cases() -> None:
    found = {file.parents[1].name for file in (REPO / "recipes").glob("*/monitoring/rules.yaml.j2")}
    assert found | {OURS} == CASES.keys()


@pytest.mark.parametrize("recipe", CASES)
def test_alerts_fire_when_they_should_and_only_then(
    promtool: Callable[..., None], tmp_path: Path, recipe: str
) -> None:
    rules = write_rules(recipe, tmp_path, **OPTIONS.get(recipe, {}))
    descriptions = {rule["alert"]: rule["annotations"]["description"] for rule in rules}
    cases = yaml.safe_load(CASES[recipe].read_text())
    firing = set()
    for case in cases["tests"]:
        for entry in case["alert_rule_test"]:
            for alert in entry.get("exp_alerts", []):
                firing.add(entry["alertname"])
                alert["exp_annotations"]["description"] = descriptions[entry["alertname"]]
    assert firing == set(descriptions), "each alert needs a case in which it fires"
    (tmp_path / "cases.yml").write_text(yaml.safe_dump(cases))
    promtool("test", "rules", "cases.yml", cwd=tmp_path)
