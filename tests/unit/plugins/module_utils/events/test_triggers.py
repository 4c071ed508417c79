# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What should start a run, by what a node carries and is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    APPLYSET_ID_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._events import triggers
from ansible_collections.hardware.enablement.plugins.module_utils._events.triggers import (
    EnabledRecipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.selectors import (
    label_selector,
    parse_selector,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.product import (
    Product,
    WatchedKind,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world

TOY = EnabledRecipe("toy", "toy-a", (parse_selector("card=yes"),))
MARK = "hardware-enablement.io/toy-a"
HERE = world.node()
SYSTEM = HERE.system.kernel_group
SEEN = {"card": "yes", f"{MARK}.node-kernel": SYSTEM}


def found(
    labels: dict[str, str] | None = None,
    proof: dict[str, str] | None = None,
    restarts: str = "",
    **node: Any,
) -> dict[str, str]:
    """Type -> cause, of a node that a run has seen unless labels say otherwise."""
    proofs = {"driver": {"hash": "1", "kernel": world.KERNEL, "boot": world.BOOT, "time": ""}}
    proofs["driver"].update(proof or {})
    annotations = {f"{MARK}.proofs": json.dumps(proofs), f"{MARK}.restart-pending": restarts}
    facts = world.node(labels=SEEN if labels is None else labels, annotations=annotations, **node)
    told = triggers.node_triggers(facts, (TOY,))
    assert {(each.recipe, each.instance, each.subject) for each in told} <= {("toy", "toy-a", "n1")}
    return {each.type: each.cause for each in told}


def test_a_node_that_a_run_has_seen_and_that_did_not_change_needs_none() -> None:
    assert found() == {}
    assert found({"card": "no"}) == {}


@pytest.mark.parametrize(
    ("node", "told"),
    [
        ({"labels": {"card": "yes"}}, {"node_joined": "uid-n1"}),
        ({"labels": {**SEEN, MARK: "vanished"}}, {"node_joined": "uid-n1"}),
        ({"labels": {**SEEN, "card": "no"}}, {"node_left": "uid-n1"}),
        ({"labels": {**SEEN, "card": "no", MARK: "vanished"}}, {}),
        ({"boot": "boot-2"}, {"node_rebooted": "boot-2"}),
        ({"boot": "boot-2", "kernel": "6.9"}, {"kernel_changed": "boot-2"}),
        # A run has changed the label, and has not come to the proofs yet.
        ({"proof": {"kernel": "6.0", "boot": "boot-0"}}, {"kernel_changed": "boot-1"}),
        (
            {"labels": {**SEEN, f"{MARK}.b": "degraded", f"{MARK}.a": "degraded"}},
            {"gate_degraded": "a,b"},
        ),
        ({"restarts": "driver"}, {"restart_pending": "driver"}),
        ({"labels": {**SEEN, MARK: "ready"}}, {"node_ready": ""}),
    ],
)
def test_what_a_node_needs(node: dict[str, Any], told: dict[str, str]) -> None:
    assert found(**node) == told
    # Nothing of it is needed on a node that an autoscaler takes away.
    taint = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    assert found(**node, taints=(taint,)) == {}


def crashes(
    state: str, labels: dict[str, str], ready: frozenset[str] = frozenset(("driver",)), **node: Any
) -> list[tuple[str, str, str]]:
    """Type, instance and node of what is told of a crash of a state, on a node with these labels."""
    proofs = {"driver": {"hash": "1", "kernel": world.KERNEL, "boot": world.BOOT, "time": ""}}
    annotations = {f"{MARK}.proofs": json.dumps(proofs)}
    facts = world.node(labels=labels, annotations=annotations, **node)
    toy = EnabledRecipe("toy", "toy-a", TOY.selector, "toys", ready)
    told = triggers.crash_triggers(facts, {("toy-a", state), ("gone", state)}, {"toy-a": toy})
    return [(each.type, each.instance, each.subject) for each in told]


TOLD = [("pod_crashed", "toy-a", "n1")]


@pytest.mark.parametrize(
    ("state", "labels", "told"),
    [
        ("driver", {**SEEN, f"{MARK}.driver": "ready"}, TOLD),
        # The gate is about this node, the record about all.
        ("other", {**SEEN, f"{MARK}.other": "ready"}, TOLD),
        ("driver", {**SEEN, f"{MARK}.driver": "degraded"}, []),
        # It is being replaced, by a run.
        ("driver", {**SEEN, f"{MARK}.driver": "stale"}, []),
        ("driver", {**SEEN, MARK: "ready"}, TOLD),
        ("driver", {**SEEN, MARK: "driver.failed"}, []),
        ("other", {**SEEN, MARK: "ready"}, []),
        # A state of the cluster, on any node.
        ("driver", {}, TOLD),
    ],
)
def test_a_crash_is_told_where_the_last_run_has_found_the_state_ready(
    state: str, labels: dict[str, str], told: list[tuple[str, str, str]]
) -> None:
    assert crashes(state, labels) == told
    taint = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
    assert crashes(state, labels, taints=(taint,)) == []


def test_what_a_boot_does_to_pods_is_told_as_the_boot() -> None:
    assert crashes("driver", {**SEEN, f"{MARK}.driver": "ready"}, boot="boot-2") == []


def test_no_node_has_left_what_does_not_say_yet_which_nodes_it_has() -> None:
    made = EnabledRecipe("toy", "toy-a", ())
    assert triggers.node_triggers(world.node(labels=SEEN), (made,)) == frozenset()


def test_a_deleted_node_has_left_only_what_it_had_marks_of() -> None:
    other = EnabledRecipe("other", "other", (parse_selector("card"),))
    left = triggers.triggers_of_deleted(world.node(labels=SEEN), (TOY, other))
    assert [(each.type, each.instance) for each in left] == [("node_left", "toy-a")]


def record(**spec: Any) -> dict[str, Any]:
    """A SpecialResource."""
    given = {"recipe": "toy", "selector": ["card=yes"], **spec}
    return {"metadata": {"name": "toy-a", "generation": 2}, "spec": given}


@pytest.mark.parametrize(
    "spec",
    [
        {"recipe": "{{ lookup('pipe', 'id') }}"},
        {"recipe": ""},
        {"selector": ["card in (yes, no)"]},
    ],
)
def test_a_record_that_cannot_be_trusted_is_none(spec: dict[str, Any]) -> None:
    assert EnabledRecipe.from_record(record()) == TOY
    assert EnabledRecipe.from_record(record(**spec)) is None


def test_a_record_says_where_its_pods_are_and_which_states_are_ready() -> None:
    states = [{"name": "driver", "phase": "ready"}, {"name": "plugin", "phase": "degraded"}]
    found = EnabledRecipe.from_record({**record(namespace="toys"), "status": {"states": states}})
    assert found is not None
    assert (found.namespace, found.ready) == ("toys", {"driver"})
    odd = EnabledRecipe.from_record(record(namespace="toys/../kube-system"))
    assert odd is not None
    assert odd.namespace == ""


def test_a_record_whose_spec_a_run_has_seen_or_is_about_to() -> None:
    seen = {**record(), "status": {"observedGeneration": 2}}
    assert not triggers.record_triggers(TOY, seen)
    ours = record()
    ours["metadata"]["labels"] = {APPLYSET_ID_LABEL: "applyset-1"}
    assert not triggers.record_triggers(TOY, ours)


@pytest.mark.parametrize("labels", [None, {}, {"app.kubernetes.io/instance": "gpus"}])
def test_a_record_that_kubectl_or_a_gitops_tool_has_made(labels: dict[str, str] | None) -> None:
    made = record()
    made["metadata"] |= {"generation": 1, "labels": labels}
    (told,) = triggers.record_triggers(TOY, made)
    assert (told.type, told.instance, told.cause) == ("resource_changed", "toy-a", "1")


def test_a_changed_record() -> None:
    changed = {**record(), "status": {"observedGeneration": 1}}
    (told,) = triggers.record_triggers(TOY, changed)
    assert (told.type, told.subject, told.cause) == ("resource_changed", "", "2")


@pytest.mark.parametrize(
    ("metadata", "status", "told"),
    [
        ({"generation": 1}, {}, True),
        ({"generation": 2}, {"observedGeneration": 1}, True),
        ({"generation": 2}, {"observedGeneration": 2}, False),
        (
            {"generation": 2, "deletionTimestamp": "2026-01-01T00:00:00Z"},
            {"observedGeneration": 2},
            True,
        ),
    ],
)
def test_what_a_product_watches(
    metadata: dict[str, Any], status: dict[str, Any], told: bool
) -> None:
    kind = Kind("toy.example", "v1", "Toy", "toys", namespaced=True)
    watched = WatchedKind(kind, event="toy_changed", meaning="")
    declared = {"metadata": {"namespace": "a", "name": "b", **metadata}, "status": status}
    found = triggers.product_triggers(Product("toys", (), (watched,)), watched, declared)
    said = [(each.type, each.recipe, each.instance, each.subject) for each in found]
    assert said == ([("toy_changed", "toys", "toys", "a/b")] if told else [])


@pytest.mark.parametrize("labels", [{"a": "b", "c": None}, {"x.y/z": ""}])
def test_a_selector_is_read_as_it_was_written(labels: dict[str, str | None]) -> None:
    assert parse_selector(label_selector(labels)) == labels


@pytest.mark.parametrize("text", ["", "a==b", "a!=b", "!a", "a in (b)"])
def test_what_is_no_selector_of_ours(text: str) -> None:
    with pytest.raises(ValueError, match="no list of labels"):
        parse_selector(text)
