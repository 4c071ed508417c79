# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints: what a person may ask for, whose they are, and the patch of a node."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.taints import (
    Taint,
    conflicts,
    is_tolerated,
    operand_tolerations,
    ours_of,
    parse_taints,
    taint_patch,
)

GPU = Taint("acme.io/gpu", "present", "NoSchedule")
TEAM = Taint("team", "", "NoExecute")
AWAY = {
    "key": "node.kubernetes.io/unreachable",
    "effect": "NoExecute",
    "timeAdded": "2026-01-01T00:00:00Z",
}
NOTE = "hardware-enablement.io/toy.taints"


def node(*taints: Any, ours: Any = None) -> dict[str, Any]:
    entries = [each.to_object() if isinstance(each, Taint) else each for each in taints]
    noted = ours if isinstance(ours, str) else json.dumps([str(each) for each in ours or ()])
    annotations = {} if ours is None else {NOTE: noted}
    return {
        "metadata": {"name": "n1", "resourceVersion": "7", "annotations": annotations},
        "spec": {"taints": entries} if entries else {},
    }


def patched(patch: Any) -> tuple[list[Any], str | None]:
    """(taints, annotation) of a patch that holds for the node as it was read."""
    assert patch["metadata"]["resourceVersion"] == "7"
    return patch["spec"]["taints"], patch["metadata"]["annotations"][NOTE]


def test_taints_are_parsed_and_sorted() -> None:
    given = [{"key": "team", "effect": "NoExecute"}, GPU.to_object()]
    assert parse_taints(given) == (GPU, TEAM)
    assert parse_taints(["team:NoExecute", str(GPU)]) == (GPU, TEAM)
    assert parse_taints(None) == ()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({"effect": "NoSchedule"}, "its key is no qualified name"),
        ({"key": "a/b/c", "effect": "NoSchedule"}, "its key is no qualified name"),
        ({"key": "A_/b", "effect": "NoSchedule"}, "its key is no qualified name"),
        ({"key": "a" * 64, "effect": "NoSchedule"}, "its key is no qualified name"),
        ({"key": "a", "value": "b c", "effect": "NoSchedule"}, "its value is no label value"),
        ({"key": "a", "value": "{{ b }}", "effect": "NoSchedule"}, "its value is no label value"),
        ({"key": "a", "effect": "NoGo"}, "its effect is none of"),
        ({"key": "a", "effect": "NoSchedule", "timeAdded": "now"}, "there is no field timeAdded"),
        ("a=b", "it is not written as KEY=VALUE:EFFECT"),
        ("a=b:NoSchedule-", "it is not written as KEY=VALUE:EFFECT"),
        ("a=b c:NoSchedule", "its value is no label value"),
        (7, "it is neither a mapping nor written"),
    ],
)
def test_taints_that_no_node_takes(entry: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        parse_taints([entry])


def test_two_taints_in_one_place() -> None:
    other = {"key": GPU.key, "value": "other", "effect": GPU.effect}
    with pytest.raises(InvalidInput, match="has NoSchedule already"):
        parse_taints([GPU.to_object(), other])


def test_a_node_gets_what_is_missing_and_keeps_what_is_not_ours() -> None:
    taints, noted = patched(taint_patch(node(AWAY), "toy", [GPU]))
    assert taints == [AWAY, GPU.to_object()]
    assert json.loads(str(noted)) == [str(GPU)]


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (node(), []),
        (node(AWAY), []),
        (node(GPU, ours=[GPU]), [GPU]),
        # Somebody else's already.
        (node(GPU), [GPU]),
    ],
)
def test_nothing_to_do(found: dict[str, Any], wanted: list[Taint]) -> None:
    assert taint_patch(found, "toy", wanted) is None


def test_only_ours_go() -> None:
    taints, noted = patched(taint_patch(node(AWAY, GPU, TEAM, ours=[GPU]), "toy", []))
    assert (taints, noted) == ([AWAY, TEAM.to_object()], None)
    # Of another recipe.
    assert taint_patch(node(GPU, ours=[GPU]), "other", []) is None


def test_another_value_takes_its_place() -> None:
    other = Taint(GPU.key, "other", GPU.effect)
    taints, noted = patched(taint_patch(node(GPU, ours=[GPU]), "toy", [other]))
    assert (taints, json.loads(str(noted))) == ([other.to_object()], [str(other)])


def test_what_somebody_has_taken_off_is_put_back_and_a_note_of_nothing_goes() -> None:
    assert patched(taint_patch(node(ours=[GPU]), "toy", [GPU]))[0] == [GPU.to_object()]
    assert patched(taint_patch(node(ours=[GPU]), "toy", [])) == ([], None)


@pytest.mark.parametrize("noted", ["no json", "7", '["nonsense"]', "[7]", '{"a": 1}', "null"])
def test_a_note_that_makes_no_sense_claims_nothing(noted: str) -> None:
    assert ours_of(node(GPU, ours=noted), "toy") == set()
    assert patched(taint_patch(node(GPU, ours=noted), "toy", []))[0] == [GPU.to_object()]


def test_a_place_that_is_taken() -> None:
    other = Taint(GPU.key, "theirs", GPU.effect)
    assert conflicts(node(other), "toy", [GPU, TEAM]) == [GPU]
    assert conflicts(node(other, ours=[other]), "toy", [GPU]) == []
    assert conflicts(node(GPU), "toy", [GPU]) == []


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"operator": "Exists"}, True),
        ({"key": TEAM.key, "operator": "Exists"}, True),
        ({"key": TEAM.key}, True),
        ({"key": TEAM.key, "value": "x"}, False),
        ({"key": TEAM.key, "operator": "Exists", "effect": "NoSchedule"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({}, False),
    ],
)
def test_who_tolerates(toleration: dict[str, Any], tolerated: bool) -> None:
    assert is_tolerated(TEAM, [toleration]) is tolerated
    assert is_tolerated(Taint("team", "", "PreferNoSchedule"), [toleration])


def test_operands_tolerate_their_own_names_and_what_is_asked_for() -> None:
    found = operand_tolerations("toy", ["acme.io/gpu", "acme.io/mig-*"], [GPU, TEAM])
    assert [(each["key"], each["operator"]) for each in found] == [
        ("acme.io/gpu", "Exists"),
        ("hardware-enablement.io/toy", "Exists"),
        ("team", "Equal"),
    ]
    assert all(is_tolerated(taint, found) for taint in (GPU, TEAM))
