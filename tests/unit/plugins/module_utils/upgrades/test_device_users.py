# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has to leave a node, and what keeps somebody from leaving."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taints import Taint
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.device_users import (
    DeviceUse,
    DrainPolicy,
    DrainRules,
    device_users,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_plan import (
    Budget,
    PlannedNode,
    UpgradePlan,
    held_by,
    typical,
)

Obj = dict[str, Any]

USE = DeviceUse(
    serves=lambda name: name == "acme.io/gpu",
    runtime_classes=("acme",),
    host_paths=("/dev/acme*", "/run/acme"),
)
OWN = frozenset({"toy"})
TAINT = Taint("hardware-enablement.io/toy", "upgrading", "NoSchedule")


def pod(*, owner: str = "ReplicaSet", **given: Any) -> Obj:
    metadata: Obj = {"name": "p", "namespace": "ns", "uid": "u", **given.pop("metadata", {})}
    if owner:
        metadata["ownerReferences"] = [{"kind": owner, "name": "o", "controller": True}]
    status = {"phase": given.pop("phase", "Running")}
    spec = {"nodeName": "n-1", "containers": [{"resources": {}}], **given}
    return {"metadata": metadata, "spec": spec, "status": status}


def of(*pods: Obj, **rules: Any) -> list[tuple[str, str]]:
    users = device_users(pods, DrainPolicy("toy", OWN, USE, DrainRules(**rules)))
    return [(user.why, user.obstacle) for user in users]


ASKS = [{"resources": {"limits": {"acme.io/gpu": "1"}}}]


def test_a_pod_that_has_claimed_a_device_uses_it() -> None:
    use = DeviceUse(lambda _name: False, dra_drivers=("gpu.acme.io",))
    claimed = pod(metadata={"uid": "claimed"})
    (user,) = device_users(
        [pod(), claimed], DrainPolicy("toy", OWN, use, DrainRules()), {"claimed"}
    )
    assert (user.uid, user.why) == ("claimed", "claims a device of gpu.acme.io")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"containers": ASKS}, "asks for acme.io/gpu"),
        ({"initContainers": ASKS}, "asks for acme.io/gpu"),
        ({"runtimeClassName": "acme"}, "runs with runtime class acme"),
        ({"volumes": [{"hostPath": {"path": "/dev/acme0"}}]}, "mounts /dev/acme0 of the node"),
        ({"volumes": [{"hostPath": {"path": "/run/acme/"}}]}, "mounts /run/acme/ of the node"),
    ],
)
def test_users_are_found_whatever_way_they_take(spec: Obj, why: str) -> None:
    assert of(pod(**spec)) == [(why, "")]


@pytest.mark.parametrize(
    "other",
    [
        pod(),
        pod(runtimeClassName="runc", volumes=[{"hostPath": {"path": "/dev"}}, {"emptyDir": {}}]),
        pod(containers=[{"resources": {"limits": {"other.io/gpu": "1"}}}]),
        pod(runtimeClassName="acme", phase="Succeeded"),
        pod(runtimeClassName="acme", phase="Failed"),
    ],
)
def test_others_stay(other: Obj) -> None:
    assert of(other) == []


def test_another_recipes_pods_are_users_like_any() -> None:
    labels = {"hardware-enablement.io/recipe": "other"}
    assert of(pod(runtimeClassName="acme", metadata={"labels": labels})) != []


DATA = {"containers": ASKS, "volumes": [{"emptyDir": {}}]}
SHARED_MEMORY = {"containers": ASKS, "volumes": [{"emptyDir": {"medium": "Memory"}}]}
EVERYTHING = [{"operator": "Exists"}]


@pytest.mark.parametrize(
    ("user", "rules", "obstacle"),
    [
        (pod(owner="", containers=ASKS), {}, "nobody makes it again"),
        (pod(owner="", containers=ASKS), {"force": True}, ""),
        (pod(**DATA), {}, "it has data in an emptyDir"),
        (pod(**DATA), {"delete_emptydir_data": True}, ""),
        (pod(**SHARED_MEMORY), {}, ""),
        (pod(owner="DaemonSet", containers=ASKS), {}, ""),
        (pod(owner="DaemonSet", **DATA), {}, ""),
        (pod(owner="DaemonSet", containers=ASKS), {"daemonsets": False}, "drain.daemonsets is off"),
        (
            pod(owner="DaemonSet", containers=ASKS, tolerations=EVERYTHING),
            {},
            "tolerates every taint and would come back",
        ),
        (
            pod(
                owner="Node",
                containers=ASKS,
                metadata={"annotations": {"kubernetes.io/config.mirror": "x"}},
            ),
            {"force": True},
            "a static pod of the kubelet",
        ),
    ],
)
def test_what_may_not_be_evicted_says_why(user: Obj, rules: Obj, obstacle: str) -> None:
    ((_why, found),) = of(user, **rules)
    assert obstacle in found
    assert bool(obstacle) is bool(found)


def test_the_whole_node_leaves_but_for_daemonsets_and_static_pods() -> None:
    static = {"annotations": {"kubernetes.io/config.mirror": "x"}}
    pods = [pod(), pod(owner="DaemonSet"), pod(owner="Node", metadata=static)]
    assert of(*pods, whole_node=True) == [("is on the node", "")]


def budget(allowed: int, **selector: Any) -> Budget:
    return Budget.from_object(
        {
            "metadata": {"name": "b", "namespace": "ns"},
            "spec": {"selector": selector},
            "status": {"disruptionsAllowed": allowed},
        }
    )


def test_whoever_tolerates_the_taint_of_an_exchange_would_come_back() -> None:
    assert DrainPolicy("toy", OWN, USE, DrainRules()).taint == TAINT


def test_the_recipes_own_pods_leave_with_their_gates_and_nobody_elses_by_their_label() -> None:
    labels = {"labels": {"hardware-enablement.io/recipe": "toy"}}
    assert of(pod(containers=ASKS, metadata={"namespace": "toy", **labels})) == []
    assert of(pod(containers=ASKS, metadata=labels)) == [("asks for acme.io/gpu", "")]


def test_a_budget_that_refuses_now_is_named() -> None:
    labelled = pod(containers=ASKS, metadata={"labels": {"app": "a"}})
    users = device_users([labelled], DrainPolicy("toy", OWN, USE, DrainRules()))
    refusing = budget(0, matchLabels={"app": "a"})
    assert held_by(users, [refusing]) == "PodDisruptionBudget ns/b (pod ns/p)"
    for other in (
        budget(1, matchLabels={"app": "a"}),
        budget(0, matchLabels={"app": "b"}),
        budget(0, matchExpressions=[{"key": "app", "operator": "Exists"}]),
    ):
        assert held_by(users, [other]) == ""


def test_the_plan_is_a_short_table_that_begins_with_what_is_in_the_way() -> None:
    nodes = [PlannedNode(f"n-{number}", "image a -> b", 1, ()) for number in range(30)]
    nodes[9] = PlannedNode("n-9", "configuration", 0, ("ns/p",), obstacle="the node is NotReady")
    plan = UpgradePlan("toy", nodes, done=2, at_once=3, per_node_s=60.0)
    lines = plan.table()
    assert lines[0] == (
        "upgrade of toy: 29 nodes in 1 wave, at most 3 at a time, about 10 min; 2 done before"
    )
    assert lines[2].split() == ["-", "n-9", "configuration", "1", "the", "node", "is", "NotReady"]
    assert lines[-1] == "and 10 more nodes"
    assert UpgradePlan("toy", [], 0, 1, None).table() == [
        "toy: every driver runs the version that is deployed"
    ]


def test_what_an_exchange_takes_is_told_by_those_before() -> None:
    assert typical([]) is None
    assert typical([10, 40, 20]) == 20.0
