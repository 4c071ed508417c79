# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What taints of others tell of a node."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taint_ownership import (
    CONTROLLER_TAINTS,
    ControllerTaintRequest,
    NodeTransition,
    Transition,
    owner_of,
    parse_controller_taints,
    transition_of,
    without_own,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taints import (
    Taint,
    taints_in,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.readiness_rules import (
    readiness_rules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._times import seconds
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

Obj = dict[str, Any]
MADE = "2026-01-01T00:00:00Z"


def taint(key: str, effect: str = "NoSchedule", **more: str) -> Obj:
    """As in a node's spec."""
    return {"key": key, "effect": effect, **more}


def transition(*taints: Obj, **node: Any) -> NodeTransition | None:
    """Of a node with these taints."""
    return transition_of(world.node(taints=taints, **node), CONTROLLER_TAINTS)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("ToBeDeletedByClusterAutoscaler", Transition.LEAVES),
        ("karpenter.sh/disrupted", Transition.LEAVES),
        ("aws-node-termination-handler/spot-itn", Transition.LEAVES),
        ("node.cloudprovider.kubernetes.io/shutdown", Transition.LEAVES),
        ("node.cloudprovider.kubernetes.io/uninitialized", Transition.STARTS),
        ("karpenter.sh/unregistered", Transition.STARTS),
        ("node.cilium.io/agent-not-ready", Transition.STARTS),
        ("ebs.csi.aws.com/agent-not-ready", Transition.STARTS),
        ("readiness.k8s.io/acme.example/network", Transition.STARTS),
        ("startup-taint.cluster-autoscaler.kubernetes.io/disk", Transition.STARTS),
        ("feature.node.kubernetes.io/special", None),
        ("node.kubernetes.io/disk-pressure", None),
        ("node.kubernetes.io/unschedulable", None),
        ("example.com/team", None),
        ("agent-not-ready", None),
    ],
)
def test_what_a_taint_tells(key: str, expected: Transition | None) -> None:
    found = transition(taint("nvidia.com/gpu"), taint(key))
    assert (found.transition if found else None) is expected


def test_it_says_who_and_since_when() -> None:
    found = transition(taint("ToBeDeletedByClusterAutoscaler", value="1780000000"))
    text = "it has the taint ToBeDeletedByClusterAutoscaler, which cluster-autoscaler puts and takes off"
    assert found == NodeTransition(Transition.LEAVES, text, 1_780_000_000)
    found = transition(taint("karpenter.sh/unregistered", "NoExecute", timeAdded=MADE))
    assert found
    assert found.since == seconds(MADE)
    # Other values are no moments.
    found = transition(taint("ToBeDeletedByClusterAutoscaler", value="1"))
    assert found
    assert found.since is None


def test_a_mere_candidate_for_removal_is_none_that_leaves() -> None:
    soft = taint("ToBeDeletedByClusterAutoscaler", "PreferNoSchedule")
    assert (
        transition(soft, taint("DeletionCandidateOfClusterAutoscaler", "PreferNoSchedule")) is None
    )


def test_that_a_node_leaves_counts_more_than_that_it_starts() -> None:
    starts, leaves = taint("node.cilium.io/agent-not-ready"), taint("karpenter.sh/disrupted")
    found = transition(starts, leaves)
    assert found
    assert found.leaves


def test_a_node_that_is_deleted_leaves() -> None:
    found = transition(metadata={"deletionTimestamp": MADE})
    assert found
    assert (found.leaves, found.since) == (True, seconds(MADE))


@pytest.mark.parametrize(
    ("ready", "since", "starts"),
    [
        (False, "2026-01-01T00:00:01Z", True),
        # It was ready once.
        (False, "2026-01-01T00:10:00Z", False),
        (False, None, False),
        (True, "2026-01-01T00:00:01Z", False),
    ],
)
def test_a_node_that_was_never_ready_starts(ready: bool, since: str | None, starts: bool) -> None:
    made = {"creationTimestamp": MADE}
    found = transition(ready=ready, metadata=made, ready_since=since)
    assert (found is not None) is starts
    if found:
        assert (found.transition, found.since) == (Transition.STARTS, seconds(MADE))


def test_a_persons_own_taints_come_first() -> None:
    own = (
        ControllerTaintRequest("node.cilium.io/*", "stays"),
        ControllerTaintRequest("example.com/setup", "starts", "our set-up"),
    )
    known = parse_controller_taints(own)
    cilium = owner_of(Taint("node.cilium.io/agent-not-ready", "", "NoSchedule"), known)
    assert cilium
    assert (cilium.node, cilium.by) == (Transition.STAYS, "a controller of yours")
    setup = owner_of(Taint("example.com/setup", "", "NoExecute"), known)
    assert setup
    assert (setup.node is Transition.STARTS, setup.by) == (True, "our set-up")
    assert owner_of(Taint("example.com/other", "", "NoExecute"), known) is None


@pytest.mark.parametrize(
    ("value", "expected"),
    [("pending", None), ("upgrading", Transition.STARTS), ("quarantined", None)],
)
def test_what_another_special_resource_does_on_a_node_passes_and_what_it_does_itself_does_not(
    value: str, expected: Transition | None
) -> None:
    node = world.node(taints=[taint("hardware-enablement.io/other", value=value)])
    found = transition_of(node, without_own("demo", CONTROLLER_TAINTS))
    assert (found.transition if found else None) is expected
    assert transition_of(node, without_own("other", CONTROLLER_TAINTS)) is None
    (by,) = taints_in(node.taints)
    assert owner_of(by, without_own("demo", CONTROLLER_TAINTS)) is not None


@pytest.mark.parametrize("recipe", ["demo", "demo-" + 60 * "x"])
def test_the_taint_of_its_own_readiness_rule_excuses_no_failure_and_those_of_others_do(
    recipe: str,
) -> None:
    options = {"node_readiness_rule": "continuous"}
    (rule,) = readiness_rules(recipe, options, [{"pci": "true"}])
    made = rule["spec"]["taint"]
    node = world.node(taints=[taint(made["key"], value=made["value"])])
    assert transition_of(node, without_own(recipe, CONTROLLER_TAINTS)) is None
    for other in ("other", "demo-gpu", "dem"):
        found = transition_of(node, without_own(other, CONTROLLER_TAINTS))
        assert found is not None
        assert found.transition is Transition.STARTS
    theirs = world.node(taints=[taint("readiness.k8s.io/demo-network")])
    assert transition_of(theirs, without_own(recipe, CONTROLLER_TAINTS)) is not None


@pytest.mark.parametrize("key", ["*", "", "*/*", "a b", "x[ab]", "?"])
def test_a_key_that_is_none_or_takes_every_taint_is_refused(key: str) -> None:
    with pytest.raises(InvalidInput, match="controller_taints has the key"):
        parse_controller_taints([ControllerTaintRequest(key, "leaves")])


def test_no_key_is_listed_twice() -> None:
    keys = list(map(str, CONTROLLER_TAINTS))
    assert len(keys) == len(set(keys))
    assert all(entry.by for entry in CONTROLLER_TAINTS)
