# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules: which there are, what they say, and that their thresholds are options."""

from __future__ import annotations

from typing import Any

ALERTS = {
    "NvidiaGpuTemperatureHigh",
    "NvidiaGpuTemperatureCritical",
    "NvidiaGpuThermalViolation",
    "NvidiaGpuXidError",
    "NvidiaGpuXidCritical",
    "NvidiaGpuXidApplication",
    "NvidiaGpuUnused",
    "NvidiaGpuDevicesUnhealthy",
    "NvidiaGpuExporterDown",
    "NvidiaGpuExporterAbsent",
}


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
