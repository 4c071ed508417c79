# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How nodes are marked on the way to another driver: the patches, and what others may have written."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    DONE,
    QUARANTINED,
    UPGRADING,
    NodeUpgrade,
    proven_patch,
    read_upgrade,
    to_text,
    upgrade_patch,
    upgrade_rows,
)

NAME = "hardware-enablement.io/toy.upgrade"
KEY = "hardware-enablement.io/toy"
THEIRS = {"key": "team", "value": "a", "effect": "NoExecute"}
BEGUN = NodeUpgrade(UPGRADING, "v2", "2026-01-01T00:00:00Z", cordoned=True)


def node(upgrade: NodeUpgrade | None = None, **spec: Any) -> dict[str, Any]:
    annotations = {NAME: to_text(upgrade)} if upgrade else {}
    metadata = {"name": "n-1", "resourceVersion": "7", "annotations": annotations}
    return {"metadata": metadata, "spec": spec}


def ours(value: str) -> dict[str, str]:
    return {"key": KEY, "value": value, "effect": "NoSchedule"}


def test_a_node_that_begins_is_cordoned_and_tainted_at_one_version() -> None:
    patch = upgrade_patch(node(taints=[THEIRS]), "toy", BEGUN)
    assert patch["spec"] == {"unschedulable": True, "taints": [THEIRS, ours("upgrading")]}
    assert patch["metadata"]["resourceVersion"] == "7"
    assert read_upgrade(patch["metadata"]["annotations"], "toy") == BEGUN


def test_what_was_cordoned_before_us_is_not_cordoned_by_us_and_stays_so() -> None:
    theirs = replace(BEGUN, cordoned=False)
    begun = upgrade_patch(node(unschedulable=True), "toy", theirs)
    assert begun["spec"] == {"taints": [ours("upgrading")]}
    live = node(theirs, unschedulable=True, taints=[ours("upgrading")])
    assert upgrade_patch(live, "toy", NodeUpgrade(DONE, "v2", ""))["spec"] == {"taints": []}


@pytest.mark.parametrize(
    ("after", "taints"),
    [
        (NodeUpgrade(DONE, "v2", "", took=9), [THEIRS]),
        (NodeUpgrade(QUARANTINED, "v2", "", reason="broken"), [THEIRS, ours("quarantined")]),
        (None, [THEIRS]),
    ],
)
def test_a_node_that_ends_is_uncordoned(
    after: NodeUpgrade | None, taints: list[dict[str, str]]
) -> None:
    live = node(BEGUN, unschedulable=True, taints=[THEIRS, ours("upgrading")])
    patch = upgrade_patch(live, "toy", after)
    assert patch["spec"] == {"unschedulable": None, "taints": taints}
    assert read_upgrade(patch["metadata"]["annotations"], "toy") == after


def test_one_that_somebody_has_uncordoned_meanwhile_is_only_given_back() -> None:
    live = node(BEGUN, taints=[ours("upgrading")])
    assert upgrade_patch(live, "toy", None)["spec"] == {"taints": []}


def test_the_taint_with_which_a_node_has_started_makes_room() -> None:
    patch = upgrade_patch(node(taints=[ours("pending"), ours("mine")]), "toy", BEGUN)
    assert patch["spec"]["taints"] == [ours("mine"), ours("upgrading")]


def test_a_proven_node_loses_what_it_has_started_with_and_its_quarantine() -> None:
    assert proven_patch([THEIRS, ours("pending")], {}, "toy") == [
        {"op": "test", "path": "/spec/taints/1", "value": ours("pending")},
        {"op": "remove", "path": "/spec/taints/1"},
    ]
    text = to_text(NodeUpgrade(QUARANTINED, "v2", ""))
    path = "/metadata/annotations/hardware-enablement.io~1toy.upgrade"
    assert proven_patch([ours("quarantined")], {NAME: text}, "toy")[2:] == [
        {"op": "test", "path": path, "value": text},
        {"op": "remove", "path": path},
    ]
    # Of a person's own, of another recipe, and of an exchange that is under way.
    assert proven_patch([ours("mine")], {}, "toy") == []
    assert proven_patch([ours("pending")], {}, "other") == []
    assert proven_patch([ours("upgrading")], {NAME: to_text(BEGUN)}, "toy") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "7",
        "[]",
        "{",
        '{"phase": "odd", "target": "", "since": ""}',
        '{"phase": "done", "target": "", "since": "", "more": 1}',
        '{"phase": "upgrading", "target": "", "since": "", "cordoned": "yes"}',
        '{"phase": "done", "target": ["x"], "since": ""}',
    ],
)
def test_what_nobody_can_read_is_no_upgrade(text: str) -> None:
    assert read_upgrade({NAME: text}, "toy") is None


def test_the_annotation_says_no_more_than_there_is_to_say() -> None:
    assert json.loads(to_text(NodeUpgrade(DONE, "v2", "t", took=4))) == {
        "phase": "done",
        "target": "v2",
        "since": "t",
        "took": 4,
    }


def test_rows_tell_of_those_that_are_not_done_the_failed_ones_first() -> None:
    each = {
        "a": BEGUN,
        "b": NodeUpgrade(DONE, "v2", ""),
        "c": NodeUpgrade(QUARANTINED, "v2", "", reason="broken"),
    }
    nodes = [
        NodeFacts.from_object({"metadata": {"name": name, "annotations": {NAME: to_text(upgrade)}}})
        for name, upgrade in each.items()
    ]
    rows = [(row["node"], row["phase"], row["message"]) for row in upgrade_rows(nodes, "toy")]
    assert rows == [("c", "quarantined", "broken"), ("a", "upgrading", "")]
