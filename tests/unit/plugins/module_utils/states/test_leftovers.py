# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All labels go with the resource, whatever of them a node carries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import runtime_label, summary_label
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.options import resolve
from ansible_collections.hardware.enablement.plugins.module_utils.states.leftovers import (
    clear_all_marks,
    clear_stray_marks,
)
from ansible_collections.hardware.enablement.plugins.module_utils.states.prepare import Prepared
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import Bench

RUNTIME, SUMMARY = runtime_label("toy"), summary_label("toy")
# The second one was not ready when a run looked, so nothing else was written to it.
MARKS = {"a": {RUNTIME: "containerd-2", SUMMARY: "ready"}, "b": {RUNTIME: "containerd-2"}, "c": {}}


class Nodes:
    """Nodes with labels, listed by labels that have to be there or to have another value."""

    def kind(self, *_args: str) -> None:
        """Of no interest."""

    def list(self, _kind: object, labels: str) -> Any:
        there = [label for label in labels.split(",") if "=" not in label]
        found = [name for name, marks in MARKS.items() if all(label in marks for label in there)]
        return SimpleNamespace(items=[{"metadata": {"name": name, "labels": MARKS[name]}} for name in found])


@pytest.mark.parametrize("everywhere", [True, False])
def test_a_node_that_carries_its_runtime_alone_is_cleared_too(everywhere: bool) -> None:
    recipe = Bench().recipe
    prepared = Prepared(recipe, resolve(recipe, {}), "toy", "applyset")
    client = cast(Client, Nodes())
    if everywhere:
        patches = clear_all_marks(client, prepared, lambda: None, write=False)
    else:
        patches = clear_stray_marks(client, prepared, lambda: None, write=False, known=True)
    assert {name: set(patch["metadata"]["labels"]) for name, patch in patches.items()} == {
        "a": {RUNTIME, SUMMARY},
        "b": {RUNTIME},
    }
