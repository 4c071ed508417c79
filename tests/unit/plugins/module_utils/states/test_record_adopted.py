# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was taken over is given back: what we changed as it was, what others changed since as it is."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.merging import (
    patched,
    together,
    undoing,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import adopted

KEY = ObjectKey("v1", "Namespace", "", "gpu")
OTHER = ObjectKey("v1", "ConfigMap", "gpu", "ours")


def namespace(**labels: str) -> dict[str, Any]:
    """A namespace, with what the API server writes into each object."""
    return {
        "metadata": {"name": "gpu", "labels": labels, "resourceVersion": str(len(labels))},
        "status": {},
    }


def test_undoing_turns_back_whatever_differs() -> None:
    before = {"a": 1, "b": {"c": [1, 2], "d": "x"}, "gone": True}
    after = {"a": 2, "b": {"c": [3], "d": "x", "new": {}}, "made": [1]}
    patch = undoing(after, before)
    assert patch == {"a": 1, "b": {"c": [1, 2], "new": None}, "made": None, "gone": True}
    assert patched(after, patch) == before
    assert undoing(before, before) == {}


def test_of_two_patches_the_second_counts() -> None:
    assert together({"a": {"b": 1, "c": 1}, "d": 1}, {"a": {"b": None}, "d": {"e": 2}}) == {
        "a": {"b": None, "c": 1},
        "d": {"e": 2},
    }


def test_what_was_there_is_remembered_once_and_put_back() -> None:
    theirs = namespace(team="a", level="restricted")
    ours = namespace(team="a", level="privileged", **{PART_OF_LABEL: "us"})
    later = namespace(team="b", level="other", **{PART_OF_LABEL: "us"})
    known = adopted.after(
        {},
        [Change(KEY, "update", theirs, ours, adopted=True), Change(OTHER, "update", ours, later)],
    )
    assert known == {KEY: {"metadata": {"labels": {"level": "restricted", PART_OF_LABEL: None}}}}

    known = adopted.after(known, [Change(KEY, "update", ours, later)])
    assert known[KEY]["metadata"]["labels"] == {
        "team": "a",
        "level": "restricted",
        PART_OF_LABEL: None,
    }
    # Taken over once more after it had been given back: what is there now counts.
    assert (
        adopted.after(known, [Change(KEY, "update", later, ours, adopted=True)])[KEY] != known[KEY]
    )

    record = {"metadata": {"annotations": {adopted.ANNOTATION: adopted.to_text(known)}}}
    assert adopted.read(record) == known
    given_back = adopted.removal(KEY, namespace(**later["metadata"]["labels"], since="then"), known)
    assert (given_back.action, given_back.desired) == ("restore", known[KEY])
    assert (given_back.after or {})["metadata"]["labels"] == {
        "team": "a",
        "level": "restricted",
        "since": "then",
    }
    assert adopted.removal(OTHER, later, known).action == "delete"


def test_a_record_without_or_with_what_nobody_can_read() -> None:
    assert (adopted.read(None), adopted.to_text({})) == ({}, "")
    assert adopted.read({"metadata": {"annotations": {adopted.ANNOTATION: '[{"patch": 1}]'}}}) == {}
