# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A KubeletConfiguration, read; whoever wrote it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._numa.kubelet_settings import (
    declared_settings,
    duration_s,
    running_settings,
)


def test_what_is_not_said_is_the_kubelets_default() -> None:
    found = running_settings({"cpuManagerPolicy": "static"}, "node a")
    assert found["cpu_manager_policy"] == "static"
    assert found["topology_manager_policy"] == "none"
    assert found["topology_manager_scope"] == "container"
    assert found["memory_manager_policy"] == "None"
    assert found["cpu_manager_reconcile_seconds"] == 10
    assert found["max_numa_nodes"] == 8


def test_a_declaration_has_only_what_it_says() -> None:
    assert declared_settings({"maxPods": 250, "topologyManagerScope": "pod"}, "x") == {
        "topology_manager_scope": "pod"
    }


def test_the_same_written_otherwise_is_the_same() -> None:
    def of(cpus: str, memory: str, order: tuple[int, int]) -> Any:
        reserved = [{"numaNode": number, "limits": {"memory": memory}} for number in order]
        return running_settings({"reservedSystemCPUs": cpus, "reservedMemory": reserved}, "x")

    assert of("0,1,2,8", "1Gi", (0, 1)) == of("8,0-2", "1024Mi", (1, 0))


def test_reservations_are_numbers_and_percentages_stay() -> None:
    found = running_settings(
        {
            "kubeReserved": {"cpu": "500m", "memory": "1Gi"},
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "10%"},
            "topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "16"},
        },
        "x",
    )
    assert found["kube_reserved"] == {"cpu": 0.5, "memory": 2**30}
    assert found["eviction_hard"] == {"memory.available": 100 * 2**20, "nodefs.available": "10%"}
    assert found["max_numa_nodes"] == 16


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("1m30s", 90), ("1h0m0.5s", 3600.5), ("250ms", 0.25), ("0", 0)],
)
def test_durations_as_go_writes_them(text: str, seconds: float) -> None:
    assert duration_s(text) == seconds


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ("none", "it is no mapping"),
        ({"cpuManagerPolicy": ["static"]}, "cpuManagerPolicy: \"['static']\" is no text"),
        ({"cpuManagerReconcilePeriod": "soon"}, "cpuManagerReconcilePeriod: 'soon' is no duration"),
        ({"cpuManagerReconcilePeriod": "1s 2"}, "'1s 2' is no duration"),
        ({"reservedSystemCPUs": "3-1"}, 'reservedSystemCPUs: "3-1" is no list of CPUs'),
        ({"kubeReserved": {"memory": "much"}}, "kubeReserved: 'much' is not a quantity"),
        ({"kubeReserved": "1Gi"}, "kubeReserved: '1Gi' is no mapping"),
        ({"reservedMemory": {}}, "reservedMemory: it is no list"),
        ({"reservedMemory": [{"numaNode": "0"}]}, "numaNode '0' is no number"),
        ({"reservedMemory": ["0"]}, "'0' is no mapping"),
        ({"topologyManagerPolicyOptions": {"max-allowable-numa-nodes": "x"}}, "'x' is no number"),
        (
            {"topologyManagerPolicyOptions": {"a": 1}},
            "topologyManagerPolicyOptions: '1' is no text",
        ),
    ],
)
def test_nonsense_is_named(configuration: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        running_settings(configuration, "node a")
    assert said in str(caught.value)
    assert "(node a)" in str(caught.value)
