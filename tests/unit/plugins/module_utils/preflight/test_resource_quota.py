# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods of all nodes take together of a namespace's quotas: pure functions."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.container_requests import (
    asked_by_pod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._preflight.resource_quota import (
    short_quotas,
)

POD = {
    "spec": {
        "initContainers": [{"resources": {"requests": {"cpu": "2"}}}],
        "containers": [
            {"resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}},
            {"resources": {"requests": {"cpu": "250m"}, "limits": {"memory": "2Gi"}}},
        ],
    }
}


def messages(hard: dict[str, str], used: dict[str, str], count: int, **spec: Any) -> list[str]:
    """What is short for so many pods."""
    quota = {
        "metadata": {"name": "q", "namespace": "toy"},
        "spec": {"hard": hard, **spec},
        "status": {"used": used},
    }
    return [finding.message for finding in short_quotas([quota], [(POD, count)])]


@pytest.mark.parametrize(
    ("name", "enough", "short", "said"),
    [
        ("pods", "5", "4", "room for 3 of pods, and pods for all nodes take 4 more"),
        ("count/pods", "5", "4", "room for 3 of count/pods"),
        ("cpu", "9", "8", "room for 7 of cpu, and pods for all nodes take 8 more"),
        ("requests.cpu", "9", "8", "room for 7 of requests.cpu"),
        ("requests.memory", "5Gi", "4Gi", "take 4096Mi more"),
        ("limits.memory", "9Gi", "8Gi", "take 8192Mi more"),
    ],
)
def test_room_is_counted_for_all_pods_together(
    name: str, enough: str, short: str, said: str
) -> None:
    used = {name: "1Gi" if "memory" in name else "1"}
    assert messages({name: enough}, used, 4) == []
    (message,) = messages({name: short}, used, 4)
    assert message.startswith("quota toy/q has room for")
    assert said in message


def _container(cpu: str, **more: str) -> dict[str, Any]:
    return {"resources": {"requests": {"cpu": cpu}}, **more}


@pytest.mark.parametrize(
    ("inits", "cpu"),
    [
        # What goes on running is there together with the containers, and with what starts after it.
        ([_container("1", restartPolicy="Always")], 3),
        ([_container("1", restartPolicy="Always"), _container("4")], 5),
        ([_container("4"), _container("1", restartPolicy="Always")], 4),
        ([_container("3"), _container("1")], 3),
        ([], 2),
    ],
)
def test_containers_that_go_on_running_count_with_the_others(
    inits: list[dict[str, Any]], cpu: int
) -> None:
    pod = {"spec": {"initContainers": inits, "containers": [_container("2")]}}
    assert asked_by_pod(pod["spec"]) == {"cpu": cpu}
    quota = {"metadata": {"name": "q", "namespace": "toy"}, "spec": {"hard": {"cpu": str(cpu)}}}
    assert list(short_quotas([quota], [(pod, 1)])) == []
    quota["spec"] = {"hard": {"cpu": f"{cpu * 1000 - 1}m"}}
    assert len(list(short_quotas([quota], [(pod, 1)]))) == 1


def test_what_pods_do_not_ask_for_and_quotas_for_some_pods_do_not_count() -> None:
    assert messages({"limits.cpu": "0", "services": "0", "odd": "x"}, {}, 9) == []
    assert messages({"pods": "1"}, {}, 9, scopes=["BestEffort"]) == []
    assert messages({"pods": "1"}, {}, 0) == []
