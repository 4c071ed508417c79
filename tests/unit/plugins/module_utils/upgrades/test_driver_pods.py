# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which drivers a node has, before any of their pods is looked at."""

from __future__ import annotations

from typing import cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.node_affinity import (
    NodeAffinity,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.driver_pods import (
    DriverPods,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world


@pytest.mark.parametrize(("card", "states"), [("new", ["driver"]), ("old", [])])
def test_a_node_that_a_driver_is_not_for_has_none_to_exchange(card: str, states: list[str]) -> None:
    node = world.node(labels={"card": card})
    snapshot = ClusterSnapshot(nodes={"n1": node}, groups={"n1": world.GROUP})
    snapshot.put_workload(world.daemonset("driver", strategy="OnDelete"))
    wanted = {world.daemonset_key("driver"): NodeAffinity.of({"nodeSelector": {"card": "new"}})}
    plan = world.with_groups(world.plan("driver"), affinities=wanted)
    assert DriverPods(cast(Client, None), snapshot, [plan], "demo").states("n1") == states


def test_a_pod_on_its_way_out_says_what_its_end_waits_for() -> None:
    snapshot = ClusterSnapshot(nodes={"n1": world.node()}, groups={"n1": world.GROUP})
    owner = world.daemonset("driver", strategy="OnDelete")
    snapshot.put_workload(owner)
    pod = world.pod("driver")
    pod["metadata"] |= {
        "deletionTimestamp": "2026-01-01T00:00:00Z",
        "finalizers": ["their.io/hold"],
        "ownerReferences": [
            {
                "kind": "DaemonSet",
                "name": "driver",
                "uid": owner["metadata"]["uid"],
                "controller": True,
            }
        ],
    }
    snapshot.put_pod(pod)
    plan = world.with_groups(world.plan("driver"))
    (found,) = DriverPods(cast(Client, None), snapshot, [plan], "demo").pods("n1")
    assert found.ends == "finalizer their.io/hold holds it, which belongs to DaemonSet driver"
