# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which of several ways a node's devices are served, a device plugin or a DRA driver, say. A label
of ours at the node says so; what a person asks for is where an exchange brings it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .._errors import InvalidInput
from .expressions import Expression

# The label's value while one way has gone and the other has not come: nothing serves the node.
NOBODY = "none"


@dataclass(frozen=True)
class AllocationChange:
    """now: what serves the node, NOBODY between two; wanted: what is to."""

    now: str
    wanted: str

    def __str__(self) -> str:
        return f"served by {self.now} -> {self.wanted}"


@dataclass(frozen=True)
class DeviceAllocation:
    """label: the node label. ways: all there are; usual: the one of who asks for nothing. wanted: what
    is asked for, pool -> way, "" for nodes in no pool; recorded: what was before, likewise. mark: the
    label of nodes that a run has enabled."""

    label: str
    ways: tuple[str, ...]
    usual: str
    wanted: Mapping[str, str]
    recorded: Mapping[str, str]
    mark: str

    def way_of(self, labels: Mapping[str, str], pool: str) -> str:
        """What serves a node with these labels. One without the label has not been served yet, and one
        between two ways is counted to where it goes."""
        said = labels.get(self.label, "")
        return said if said in self.ways else self.wanted[pool]

    def fact(self, labels: Mapping[str, str], pool: str) -> str:
        """What the label is to say: what it says, where it says something."""
        said = labels.get(self.label, "")
        return said if said in (*self.ways, NOBODY) else self.wanted[pool]

    def change_of(self, labels: Mapping[str, str], pool: str) -> AllocationChange | None:
        """What an exchange would make of a node; None where it is served as is asked for."""
        now, wanted = self.fact(labels, pool), self.wanted[pool]
        return None if now == wanted else AllocationChange(now, wanted)

    def refuse_unsaid(self, name: str, labels: Mapping[str, str], pool: str) -> None:
        """Raises InvalidInput for a node that was enabled before there was the label, where another way
        is asked for now: what it has would be another's at once, under its users."""
        before = self.recorded.get(pool, self.recorded.get("", self.usual))
        if self.mark in labels and self.label not in labels and before != self.wanted[pool]:
            raise InvalidInput(
                f"the devices of node {name} cannot be served by {self.wanted[pool]} now",
                why=f"they are served by {before}, and the node has no label {self.label} that says so",
                todo=f"enable it with {before} once more, which sets the label, and then with {self.wanted[pool]}",
            )

    def expression(self, way: str, pool: str) -> Expression:
        """By which pods of a way choose nodes: no two ways choose the same node, whatever its label.

        A node without the label gets what is asked for at once, as no run has to come first.
        """
        if way != self.wanted[pool]:
            return Expression(self.label, "In", (way,))
        return Expression(self.label, "NotIn", tuple(sorted({*self.ways, NOBODY} - {way})))
