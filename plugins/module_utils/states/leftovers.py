# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks on nodes that should not carry them: nodes that lost the hardware, or all nodes on removal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import (
    gate_label,
    proofs_annotation,
    summary_label,
)
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.selectors import matches
from ansible_collections.hardware.enablement.plugins.module_utils.states.node_patches import patch_nodes
from ansible_collections.hardware.enablement.plugins.module_utils.states.prepare import Prepared

Obj = dict[str, Any]


def clear_stray_marks(
    client: Client, prepared: Prepared, guard: Callable[[], None], write: bool, known: bool
) -> dict[str, Obj]:
    """Take our marks off nodes that no longer match the selector; returns the patches by node.

    Nothing is taken off while known is false, that is, while no node matches at all: then rather the labels of NFD
    are gone than the hardware.
    """
    if not known:
        return {}
    return _clear(client, prepared, _without_hardware(prepared), guard, write, keep_matching=True)


def clear_all_marks(client: Client, prepared: Prepared, guard: Callable[[], None], write: bool) -> dict[str, Obj]:
    """Take our marks off every node."""
    return _clear(client, prepared, "", guard, write, keep_matching=False)


def _markers(prepared: Prepared) -> list[str]:
    """The labels of which a node has one where it carries any mark. A node of which nothing else could be told yet
    carries that of its container runtime alone."""
    return [label for label in (summary_label(prepared.recipe.name), prepared.grouping.runtime_label) if label]


def _without_hardware(prepared: Prepared) -> str:
    """A server-side selector for nodes without the hardware; exact where each label set has one label."""
    parts = []
    for labels in prepared.selector:
        if len(labels) == 1:
            (name, value) = next(iter(labels.items()))
            parts.append(f"!{name}" if value is None else f"{name}!={value}")
    return ",".join(parts)


def _clear(
    client: Client, prepared: Prepared, narrowed: str, guard: Callable[[], None], write: bool, keep_matching: bool
) -> dict[str, Obj]:
    kind, recipe = client.kind("v1", "Node"), prepared.recipe
    selectors = [",".join(filter(None, (marker, narrowed))) for marker in _markers(prepared)]
    marked = [node for selector in selectors for node in client.list(kind, labels=selector).items]
    patches: dict[str, Obj] = {}
    for node in marked:
        metadata = node["metadata"]
        carried = metadata.get("labels") or {}
        if keep_matching and matches(carried, prepared.selector):
            continue
        prefix = gate_label(recipe.name, "")
        ours = [name for name in carried if name.startswith(prefix) or name == summary_label(recipe.name)]
        patch: Obj = {"labels": dict.fromkeys(ours)}
        if proofs_annotation(recipe.name) in (metadata.get("annotations") or {}):
            patch["annotations"] = {proofs_annotation(recipe.name): None}
        patches[metadata["name"]] = {"metadata": patch}
    if patches and write:
        guard()
        patch_nodes(client, patches)
    return patches
