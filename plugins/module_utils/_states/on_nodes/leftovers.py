# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks on nodes that should not carry them: nodes that leave, or all nodes on removal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import (
    gate_label,
    summary_label,
    taints_annotation,
    upgrade_annotation,
)
from ..._json import Obj
from ..._nodes.facts import own_conditions
from .node_patches import patch_nodes, patch_status
from .node_taints import find_patches, write_taints
from .node_upgrades import write_upgrade
from .proven_condition import found_in, status_patch


def clear_marks(
    client: Client, recipe: str, nodes: Iterable[Obj], guard: Callable[[], None], *, write: bool
) -> dict[str, Obj]:
    """Take our marks off nodes, and our taints; returns the patches of the marks by node."""
    nodes = list(nodes)
    found = {node["metadata"]["name"]: marks_of(node, recipe) for node in nodes}
    conditions = {
        node["metadata"]["name"]: patch
        for node in nodes
        if (patch := _without_condition(node, recipe))
    }
    patches = {
        name: {"metadata": {part: dict.fromkeys(names) for part, names in marks.items()}}
        for name, marks in found.items()
        if marks
    }
    if patches and write:
        _take_taints_off(client, recipe, found, guard)
        _give_back(client, recipe, found, guard)
        guard()
        patch_nodes(client, patches)
    if conditions and write:
        guard()
        patch_status(client, conditions)
    return patches


def _take_taints_off(
    client: Client,
    recipe: str,
    marks: Mapping[str, Mapping[str, list[str]]],
    guard: Callable[[], None],
) -> None:
    annotation = taints_annotation(recipe)
    tainted = {name for name, names in marks.items() if annotation in names.get("annotations", ())}
    if tainted:
        nodes = client.list(client.kind("v1", "Node"), leanly=True).items
        ours = [node for node in nodes if node["metadata"]["name"] in tainted]
        write_taints(client, find_patches(ours, recipe, ()), recipe, (), guard)


def _give_back(
    client: Client,
    recipe: str,
    marks: Mapping[str, Mapping[str, list[str]]],
    guard: Callable[[], None],
) -> None:
    """End the exchange of nodes that are on their way to another driver, or in quarantine."""
    annotation = upgrade_annotation(recipe)
    for name, names in marks.items():
        if annotation in names.get("annotations", ()):
            guard()
            write_upgrade(client, name, recipe, lambda _live: None)


def find_marked(client: Client, recipe: str) -> list[Obj]:
    """The nodes that carry any mark of ours: whichever somebody has taken away, another finds the
    node."""
    nodes = client.list(client.kind("v1", "Node"), leanly=True).items
    return [node for node in nodes if marks_of(node, recipe) or _without_condition(node, recipe)]


def _without_condition(node: Mapping[str, Any], recipe: str) -> Obj | None:
    """The patch that takes our condition off a node; None where it has none."""
    found = found_in(own_conditions(node.get("status") or {}), recipe)
    return status_patch(found, None, recipe, "")


def marks_of(node: Mapping[str, Any], recipe: str) -> dict[str, list[str]]:
    """The names of our "labels" and "annotations" on a node, of what there are any."""
    prefix, summary = gate_label(recipe, ""), summary_label(recipe)
    found = {
        part: [
            name
            for name in node["metadata"].get(part) or {}
            if name.startswith(prefix) or name == summary
        ]
        for part in ("labels", "annotations")
    }
    return {part: names for part, names in found.items() if names}
