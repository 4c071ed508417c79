# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules as Prometheus' own promtool sees them: their form, and what each says about made-up series."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

CASES = Path(__file__).resolve().parents[2] / "promtool" / "nvidia-gpu.yml"
ALERTS = {
    "NvidiaGpuTemperatureHigh",
    "NvidiaGpuTemperatureCritical",
    "NvidiaGpuThermalViolation",
    "NvidiaGpuXidError",
    "NvidiaGpuXidCritical",
    "NvidiaGpuXidApplication",
    "NvidiaGpuUnused",
    "NvidiaGpuExporterDown",
    "NvidiaGpuExporterAbsent",
}


def promtool(*arguments: str, cwd: Path) -> None:
    program = shutil.which("promtool")
    if program is None:
        pytest.fail("promtool is not installed; on Debian: apt-get install --no-install-recommends prometheus")
    done = subprocess.run([program, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"promtool {' '.join(arguments)}:\n{done.stdout}\n{done.stderr}"


@pytest.fixture
def write_rules(nvidia_gpu: Any, tmp_path: Path) -> Any:
    def write(**options: Any) -> Path:
        spec = nvidia_gpu(**options).one("PrometheusRule", "nvidia-gpu")["spec"]
        (tmp_path / "rules.yml").write_text(yaml.safe_dump(spec))
        return tmp_path

    return write


def rules(render: Any, **options: Any) -> list[dict[str, Any]]:
    groups = render(**options).one("PrometheusRule", "nvidia-gpu")["spec"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_alert_is_there_and_says_what_to_do(nvidia_gpu: Any) -> None:
    found = rules(nvidia_gpu)
    assert {rule["alert"] for rule in found} == ALERTS
    for rule in found:
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert rule["annotations"]["summary"]
        assert len(rule["annotations"]["description"]) > 80


def test_thresholds_are_options(nvidia_gpu: Any) -> None:
    found = {
        rule["alert"]: rule["expr"]
        for rule in rules(
            nvidia_gpu,
            alert_temperature_warning=61,
            alert_temperature_critical=72,
            alert_thermal_violation_percent=7,
            alert_unused_after="3h",
            alert_xid_critical=[79],
            alert_xid_application=[],
        )
    }
    assert "> 61" in found["NvidiaGpuTemperatureHigh"]
    assert found["NvidiaGpuTemperatureCritical"].endswith("> 72")
    assert found["NvidiaGpuThermalViolation"].endswith("> 7")
    assert "[3h]" in found["NvidiaGpuUnused"]
    assert 'xid=~"79"' in found["NvidiaGpuXidCritical"]


@pytest.mark.parametrize(
    "options",
    [{}, {"alert_xid_critical": [], "alert_xid_application": []}, {"alert_unused_after": "30m"}],
    ids=["defaults", "no numbers", "half an hour"],
)
def test_promtool_accepts_the_rules(write_rules: Any, options: dict[str, Any]) -> None:
    promtool("check", "rules", "rules.yml", cwd=write_rules(**options))


def test_alerts_fire_when_they_should_and_only_then(nvidia_gpu: Any, write_rules: Any) -> None:
    folder = write_rules()
    descriptions = {rule["alert"]: rule["annotations"]["description"] for rule in rules(nvidia_gpu)}
    cases = yaml.safe_load(CASES.read_text())
    firing = set()
    for case in cases["tests"]:
        for entry in case["alert_rule_test"]:
            for alert in entry.get("exp_alerts", []):
                firing.add(entry["alertname"])
                alert["exp_annotations"]["description"] = descriptions[entry["alertname"]]
    assert firing == ALERTS, "each alert needs a case in which it fires"
    (folder / "cases.yml").write_text(yaml.safe_dump(cases))
    promtool("test", "rules", "cases.yml", cwd=folder)
