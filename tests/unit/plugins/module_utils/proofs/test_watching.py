# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods belong to an object."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._proofs.watching import pods_of
from ansible_collections.hardware.enablement.tests.unit.forged_pods import (
    DAEMONSET_UID,
    FORGED,
    Obj,
    forged,
    made_by_daemonset,
)


def pod(name: str, labels: dict[str, str], owner: str = "") -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "labels": labels,
            "ownerReferences": [{"uid": owner, "controller": True}] if owner else [],
        },
        "spec": {},
    }


PODS = [
    pod("c", {"app": "server", "tier": "back"}),
    pod("a", {"app": "server", "tier": "front"}),
    pod("b", {"app": "client"}, owner="uid-ping"),
]


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        ({"spec": {"selector": {"matchLabels": {"app": "server"}}}}, ["a", "c"]),
        ({"spec": {"selector": {"app": "client"}}}, ["b"]),
        (
            {
                "spec": {
                    "selector": {
                        "matchLabels": {"app": "server"},
                        "matchExpressions": [
                            {"key": "tier", "operator": "NotIn", "values": ["back"]}
                        ],
                    }
                }
            },
            ["a"],
        ),
        (
            {
                "spec": {
                    "selector": {"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}
                }
            },
            ["b"],
        ),
        (
            {"spec": {"selector": {"matchExpressions": [{"key": "tier", "operator": "Exists"}]}}},
            ["a", "c"],
        ),
        (
            {
                "spec": {
                    "selector": {
                        "matchExpressions": [{"key": "app", "operator": "In", "values": ["client"]}]
                    }
                }
            },
            ["b"],
        ),
        ({"status": {"selector": "app=server,tier==front"}}, ["a"]),
        ({"status": {"selector": "app in (server)"}}, ["b"]),
        ({}, ["b"]),
    ],
)
def test_the_pods_of_an_object(owner: dict[str, Any], names: list[str]) -> None:
    found = pods_of({"metadata": {"name": "ping", "uid": "uid-ping"}, **owner}, PODS)
    assert [each["metadata"]["name"] for each in found] == names


def test_an_owner_that_is_not_the_controller_makes_no_pod_its_own() -> None:
    named = pod("b", {}, owner="uid-ping")
    named["metadata"]["ownerReferences"][0]["controller"] = False
    assert pods_of({"metadata": {"name": "ping", "uid": "uid-ping"}}, [named]) == []


WORKLOAD = {"metadata": {"name": "x", "namespace": "demo", "uid": DAEMONSET_UID}}
SELECTING = {"spec": {"selector": {"matchLabels": {"app": "x"}}}}


def of_replica_set(name: str = "x-5d8f", digest: str = "5d8f", namespace: str = "demo") -> Obj:
    """A pod with the labels of Deployment x."""
    found = made_by_daemonset(pod("p", {"app": "x", "pod-template-hash": digest}), name, "x")
    found["metadata"]["namespace"] = namespace
    found["metadata"]["ownerReferences"][0]["kind"] = "ReplicaSet"
    return found


@pytest.mark.parametrize("how", FORGED)
@pytest.mark.parametrize("kind", ["DaemonSet", "StatefulSet", "Job", "ReplicaSet"])
def test_a_pod_with_the_labels_of_a_workload_is_not_of_it(kind: str, how: str) -> None:
    own = made_by_daemonset(pod("p", {"app": "x"}), "x", "x")
    own["metadata"]["namespace"] = "demo"
    owner = {"kind": kind, **WORKLOAD, **SELECTING}
    assert pods_of(owner, [own, forged(own, how)]) == [own]


def test_a_deployments_pods_are_those_of_its_replica_sets() -> None:
    owner = {"kind": "Deployment", **WORKLOAD, **SELECTING}
    own = of_replica_set()
    others = [
        of_replica_set(name="y-5d8f"),
        of_replica_set(digest="77f9"),
        of_replica_set(namespace="theirs"),
        *(forged(own, how) for how in ("made by hand", "not controlled by its owner")),
    ]
    assert pods_of(owner, [own, *others]) == [own]
