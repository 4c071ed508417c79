# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose CPUs a container has, as its node's agent tells."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.pods.pod_requests import (
    exclusive_cores,
)
from tests.unit.rmd.objects.things import container, pod, report

STATUSES = [{"name": "nginx1", "containerID": "containerd://abc"}]
POD = pod(container(), containerStatuses=STATUSES)


def by_cgroup(cpus: str) -> dict[str, Any]:
    return {"node": "worker-node-1", "cpu_manager": None, "cgroups": {"uid-1": {"abc": cpus}}}


def test_the_cpu_managers_word() -> None:
    assert exclusive_cores(report(nginx1="1-2,49"), POD, "nginx1", 3) == (1, 2, 49)


@pytest.mark.parametrize("scheme", ["containerd", "cri-o", "docker"])
def test_the_cgroup_where_the_state_cannot_be_read(scheme: str) -> None:
    found = pod(
        container(), containerStatuses=[{"name": "nginx1", "containerID": f"{scheme}://abc"}]
    )
    assert exclusive_cores(by_cgroup("1-2,49"), found, "nginx1", 3) == (1, 2, 49)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (by_cgroup("0-7"), "which are 8 and not 3 CPUs"),
        ({"cpu_manager": None, "cgroups": {}}, "neither the CPU manager's state nor its cgroup"),
        ({"cpu_manager": {"policy": "none", "entries": {}}}, "policy is none"),
        (report(other="1-3"), "has given it none of its own"),
    ],
)
def test_shared_cpus_are_not_given_cache(found: dict[str, Any], why: str) -> None:
    with pytest.raises(EnablementError, match=why):
        exclusive_cores(found, POD, "nginx1", 3)
