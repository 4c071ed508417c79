# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator has in a cluster: what is in the way of taking it over, and what would be done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._operators.operator_survey import (
    OperatorSurvey,
    is_made_of,
    refuse_obstacles,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.takeover_plan import (
    plan_of,
)

Obj = dict[str, Any]
DEPLOY = "nvidia.com/gpu.deploy."
ON = {f"{DEPLOY}driver": "true", f"{DEPLOY}device-plugin": "true", f"{DEPLOY}dcgm": "false"}


def node(name: str = "n1", **labels: str) -> Obj:
    """A node."""
    return {"metadata": {"name": name, "labels": labels}}


def owned(name: str, uid: str, on: str = "n1") -> Obj:
    """A pod of a DaemonSet."""
    owners = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "uid": uid, "controller": True}]
    return {"metadata": {"name": name, "ownerReferences": owners}, "spec": {"nodeName": on}}


def daemonset(uid: str, **labels: str) -> Obj:
    """One that the operator has made."""
    return {
        "metadata": {"name": uid, "uid": uid, "namespace": "gpu"},
        "spec": {"template": {"metadata": {"labels": labels}}},
    }


def survey(**changed: Any) -> OperatorSurvey:
    """A driver and a device plugin on one node."""
    left = {
        "metadata": {"name": "gfd-1", "labels": {"hardware-enablement.io/taken-over": "nvidia-gpu"}}
    }
    found: Obj = {
        "namespace": "gpu",
        "resources": [{"kind": "ClusterPolicy", "metadata": {"name": "p"}}],
        "deployments": [{"metadata": {"name": "gpu-operator"}}],
        "daemonsets": [
            daemonset("driver", **{"app.kubernetes.io/component": "nvidia-driver"}),
            daemonset("plugin"),
        ],
        "pods": [
            owned("driver-1", "driver"),
            owned("plugin-1", "plugin"),
            {**left, "spec": {"nodeName": "n1"}},
            owned("other", "theirs"),
        ],
    }
    return OperatorSurvey(**{**found, **changed})


def test_a_plan_names_what_stays_what_leaves_and_what_comes_anew() -> None:
    plan = plan_of(
        survey(), [node(**ON), node("n2"), node("n3", **{f"{DEPLOY}driver": "true"})], "x"
    )
    assert plan.rows() == [
        {"node": "n1", "driver": "driver-1", "leaving": ["gfd-1", "plugin-1"], "new": ["dcgm"]},
        {"node": "n3", "driver": "", "leaving": [], "new": []},
    ]
    lines = plan.table()
    assert lines[0] == "Deployment gpu/gpu-operator is scaled to 0"
    assert lines[1].startswith("1 drivers' pods stay in namespace gpu, none restarts")
    assert (
        lines[3]
        == "  n1: driver driver-1 stays; gfd-1, plugin-1 make room; it had no dcgm, and gets them"
    )
    assert lines[-1].startswith("then ClusterPolicy p is deleted")


@pytest.mark.parametrize(
    ("owner", "is_made"),
    [
        ({"uid": "policy", "controller": True}, True),
        ({"uid": "policy"}, False),
        # Of this group, as anybody may write.
        ({"uid": "", "apiVersion": "nvidia.com/v1", "controller": True}, False),
        ({"uid": "of-another", "apiVersion": "nvidia.com/v1", "controller": True}, False),
    ],
)
def test_an_operand_is_what_a_custom_resource_that_is_there_has_made(
    owner: Obj, is_made: bool
) -> None:
    resources = [{"metadata": {"name": "p", "uid": "policy"}}, {"metadata": {"name": "q"}}]
    found = {"metadata": {"name": "driver", "ownerReferences": [owner]}}
    assert is_made_of(found, resources) is is_made


def test_what_is_whole_is_not_refused() -> None:
    refuse_obstacles(
        survey(), [node(**ON, **{"nvidia.com/gpu-driver-upgrade-state": "upgrade-done"})]
    )


@pytest.mark.parametrize(
    ("changed", "labels", "why"),
    [
        (
            {
                "deployments": [
                    {
                        "metadata": {
                            "name": "gpu-operator",
                            "ownerReferences": [
                                {"kind": "ClusterServiceVersion", "controller": True, "uid": "1"}
                            ],
                        }
                    }
                ]
            },
            {},
            "Deployment gpu/gpu-operator is OLM's",
        ),
        ({"by_dra": True}, {}, "there is a GPUCluster"),
        (
            {
                "resources": [
                    {
                        "kind": "NVIDIADriver",
                        "metadata": {"name": "v"},
                        "spec": {"driverType": "vgpu"},
                    }
                ]
            },
            {},
            "NVIDIADriver v is of another type",
        ),
        ({}, {"nvidia.com/gpu.workload.config": "vm-passthrough"}, "node n1 gives its GPUs"),
        (
            {},
            {"nvidia.com/gpu-driver-upgrade-state": "drain-required"},
            "the operator is exchanging",
        ),
        ({}, {f"{DEPLOY}dcgm": "paused-for-driver-upgrade"}, "the operator is exchanging"),
        ({"pods": [owned("driver-9", "driver", "n9")]}, {}, "node n9 runs a driver"),
    ],
)
def test_what_is_in_the_way(changed: Obj, labels: dict[str, str], why: str) -> None:
    with pytest.raises(EnablementError) as caught:
        refuse_obstacles(survey(**changed), [node(**labels)])
    assert caught.value.why.startswith(why)
    assert caught.value.todo
