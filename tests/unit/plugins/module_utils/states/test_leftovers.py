# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All marks go with the resource, whatever of them a node carries."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.leftovers import (
    clear_marks,
    find_marked,
)

PREFIX = "hardware-enablement.io/toy"
LABELS = (PREFIX, f"{PREFIX}.driver", f"{PREFIX}.container-runtime", f"{PREFIX}.node-kernel")
ANNOTATIONS = tuple(f"{PREFIX}.{name}" for name in ("proofs", "restart-pending", "vanished"))
FOREIGN = {
    "labels": {f"{PREFIX}-two.driver": "ready", "zone": "a"},
    "annotations": {"note": "mine"},
}

CONDITIONS = [
    {"type": "Ready", "status": "True"},
    {"type": PREFIX, "status": "True", "reason": "Ready"},
]


class Nodes:
    """Each mark on a node of its own, and a node of somebody else."""

    def kind(self, *_args: str) -> None:
        """Of no interest."""

    def list(self, _kind: object, leanly: bool) -> Any:
        assert leanly
        marks = [("labels", name) for name in LABELS] + [
            ("annotations", name) for name in ANNOTATIONS
        ]
        nodes = [
            {"name": name, **FOREIGN, part: {**FOREIGN[part], name: "x"}} for part, name in marks
        ]
        found: list[Any] = [
            {"metadata": metadata} for metadata in [*nodes, {"name": "other", **FOREIGN}]
        ]
        told = {"metadata": {"name": "told", **FOREIGN}, "status": {"conditions": CONDITIONS}}
        return SimpleNamespace(items=[*found, told])


def test_any_mark_finds_a_node_and_nothing_else_is_touched() -> None:
    client = cast(Client, Nodes())
    marked = find_marked(client, "toy")
    assert "told" in {node["metadata"]["name"] for node in marked}
    patches = clear_marks(client, "toy", marked, lambda: None, write=False)
    assert patches == {
        **{name: {"metadata": {"labels": {name: None}}} for name in LABELS},
        **{name: {"metadata": {"annotations": {name: None}}} for name in ANNOTATIONS},
    }
