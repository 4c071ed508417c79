# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write marks to nodes: one patch per node that changes, in parallel, and only when somebody waits
for it or at the node's end."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from time import time
from typing import Any

from ..._cluster.api_client.api_errors import ApiError
from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import summary_label
from ..._json import Obj
from ..._nodes.facts import NodeFacts
from ..._nodes.upgrade_marks import proven_patch
from ..._times import timestamp
from ..on_nodes.node_patches import try_patches
from ..on_nodes.proven_condition import saying, status_patch
from . import node_marks
from .phases import StatePlan


@dataclass(frozen=True)
class _Wanted:
    """What a node should carry, and the patches that make it so: of its metadata and of its status;
    None for none."""

    after: node_marks.NodeMarks
    patch: dict[str, Any] | None
    status: dict[str, Any] | None
    urgent: bool


@dataclass(frozen=True)
class MarkSettings:
    """How the nodes of a recipe are marked. runtime_gates: see node_marks.urgent. by_nodes: whether
    nodes publish their labels themselves. conditions: whether a node's status is to say the same as
    its summary label."""

    recipe: str
    runtime_gates: Collection[Set[str]] = (frozenset(),)
    by_nodes: bool = False
    conditions: bool = False


class LabelWriter:
    """Holds what every node carries and should carry. With dry, nothing is sent, and changed says
    what would be."""

    def __init__(
        self,
        client: Client,
        plans: Sequence[StatePlan],
        settings: MarkSettings,
        guard: Callable[[], None],
        *,
        dry: bool,
        clock: Callable[[], float] = time,
    ) -> None:
        """guard: what has to hold before each write."""
        self._client = client
        self._plans = plans
        self._settings = settings
        self._recipe = settings.recipe
        self._guard = guard
        self._dry = dry
        self._clock = clock
        self._wanted: dict[str, _Wanted] = {}
        self._written: dict[str, node_marks.NodeMarks] = {}
        self._opened: dict[str, list[dict[str, Any]]] = {}
        self.changed: dict[str, dict[str, Any]] = {}

    def marks_of(self, node: NodeFacts) -> node_marks.NodeMarks:
        """What a node carries, the last write included even where its event has not come yet."""
        return self._written.get(node.name) or node_marks.read(node, self._recipe)

    def summary_of(self, node: NodeFacts) -> str | None:
        """The summary label that a node carries, the last write included."""
        written = self._written.get(node.name)
        return written.summary if written else node.labels.get(summary_label(self._recipe))

    def seen(self, node: NodeFacts) -> None:
        """A node's event came: what was written is in it once they agree."""
        written = self._written.get(node.name)
        if written and written == node_marks.read(node, self._recipe):
            del self._written[node.name]

    def want(self, name: str, before: node_marks.NodeMarks, after: node_marks.NodeMarks) -> None:
        """Note what a node should carry. A proof that waits to be written keeps the time when it
        was found."""
        noted = self._wanted[name].after.proofs if name in self._wanted else before.proofs
        for state, proof in after.proofs.items():
            earlier = noted.get(state)
            if earlier is not None and earlier.holds(proof.hash, proof.kernel, proof.boot):
                after.proofs[state] = earlier
        after = node_marks.without_the_nodes_own(
            before, after, self._recipe, by_nodes=self._settings.by_nodes
        )
        after.condition = saying(after.summary) if self._settings.conditions else None
        if after == before:
            self._wanted.pop(name, None)
            return
        patch = node_marks.patch(before, after, self._recipe)
        status = status_patch(
            before.condition, after.condition, self._recipe, timestamp(self._clock())
        )
        urgent = node_marks.urgent(
            before, after, self._plans, self._recipe, self._settings.runtime_gates
        )
        self._wanted[name] = _Wanted(after, patch, status, urgent)

    def open(self, node: NodeFacts) -> None:
        """Note that a node is proven, so that the taint with which it has started goes, or its
        quarantine."""
        patch = proven_patch(node.taints, node.annotations, self._recipe)
        if patch:
            self._opened[node.name] = patch

    def forget(self, name: str) -> None:
        """A node is gone: nothing is written to it, and another one of its name has nothing of what
        it carried."""
        self._wanted.pop(name, None)
        self._written.pop(name, None)
        self._opened.pop(name, None)

    def flush(self, final: Callable[[str], bool]) -> dict[str, ApiError]:
        """Send the patches that are due: the urgent ones, and those of nodes that are final.

        Returns what the API server refused, by node; nothing waits to be written to these any more.
        """
        due = {
            name: self._wanted.pop(name)
            for name in list(self._wanted)
            if self._wanted[name].urgent or final(name)
        }
        refused: dict[str, ApiError] = {}
        if not due:
            self._open_nodes()
            return refused
        if not self._dry:
            self._guard()
            refused = self._send(due)
        for name in due.keys() - refused.keys():
            self.changed[name] = _merged(self.changed.get(name), due[name])
            if self._dry:
                self._written[name] = due[name].after
        self._open_nodes()
        return refused

    def _send(self, due: Mapping[str, _Wanted]) -> dict[str, ApiError]:
        """Labels, then the condition that says the same; returns what was refused, by node."""
        labels = {name: wanted.patch for name, wanted in due.items() if wanted.patch}
        refused = try_patches(self._client, labels, answered=self._answered)
        statuses = {
            name: wanted.status
            for name, wanted in due.items()
            if wanted.status and name not in refused
        }
        return refused | (
            try_patches(self._client, statuses, subresource="status", answered=self._answered)
            if statuses
            else {}
        )

    def _answered(self, name: str, node: Obj) -> None:
        """Note what a node carries by the API server's word, not what it should: whatever somebody
        else has taken off meanwhile has to be seen missing, and no event would ever agree."""
        self._written[name] = node_marks.read(NodeFacts.from_object(node), self._recipe)

    def _open_nodes(self) -> None:
        """Take start-up taints off, after the labels that tell of the proofs. Where a node's taints
        have changed meanwhile its event brings it here again."""
        opened = {
            name: self._opened.pop(name) for name in list(self._opened) if name not in self._wanted
        }
        if opened and not self._dry:
            self._guard()
            try_patches(self._client, opened)


def _merged(old: dict[str, Any] | None, wanted: _Wanted) -> dict[str, Any]:
    """What was written of a node's metadata before and now, as one merge patch, for the report."""
    merged = {
        part: dict(entries) for part, entries in (old or {"metadata": {}})["metadata"].items()
    }
    for part, entries in (wanted.patch or {"metadata": {}})["metadata"].items():
        merged.setdefault(part, {}).update(entries)
    status = wanted.status or {name: old[name] for name in ("status",) if old and name in old}
    return {"metadata": merged, **status}
