# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods belong to an object."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._proofs.watching import pods_of


def pod(name: str, labels: dict[str, str], owner: str = "") -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "labels": labels,
            "ownerReferences": [{"uid": owner}] if owner else [],
        }
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
