# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade would do: which nodes, why, in which wave, who has to leave, what blocks, how long.
Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from .._json import Obj, part
from .._states.validation.table import aligned, duration
from .device_users import DeviceUser

_SHOWN = 20
_NAMED = 2


@dataclass(frozen=True)
class Budget:
    """A PodDisruptionBudget: labels is its selector's matchLabels, None where it selects otherwise."""

    namespace: str
    name: str
    labels: Mapping[str, str] | None
    allowed: int

    @classmethod
    def from_object(cls, budget: Obj) -> Budget:
        """Of a PodDisruptionBudget."""
        selector = part(budget, "spec", "selector")
        return cls(
            budget["metadata"]["namespace"],
            budget["metadata"]["name"],
            None if selector.get("matchExpressions") else dict(part(selector, "matchLabels")),
            int(part(budget, "status").get("disruptionsAllowed", 0)),
        )

    def refuses(self, user: DeviceUser) -> bool:
        """Whether it lets a pod not go now."""
        return (
            not self.allowed
            and user.key.namespace == self.namespace
            and self.labels is not None
            and self.labels.items() <= user.labels.items()
        )


@dataclass(frozen=True)
class PlannedNode:
    """why: what differs from the version that is deployed. wave: from 1 on, 0 for a node that is not
    begun. users: pods that have to leave. obstacle: why the node is not begun; held_by: what may
    hold it up."""

    node: str
    why: str
    wave: int
    users: tuple[str, ...]
    obstacle: str = ""
    held_by: str = ""

    def to_dict(self) -> Obj:
        """As a result has it."""
        return {
            "node": self.node,
            "why": self.why,
            "wave": self.wave,
            "users": list(self.users),
            "blocked": self.obstacle,
            "held_by": self.held_by,
        }


@dataclass(frozen=True)
class UpgradePlan:
    """done: how many nodes were exchanged before, to the same version. at_once: how many nodes at
    most are not available at a time. per_node_s: what earlier exchanges took, None where there were
    none. what: it is; nothing: what is said where it is nothing."""

    recipe: str
    nodes: Sequence[PlannedNode]
    done: int
    at_once: int
    per_node_s: float | None
    what: str = "upgrade"
    nothing: str = "every driver runs the version that is deployed"

    def table(self) -> list[str]:
        """A headline, and a row for each node."""
        begun = [node for node in self.nodes if node.wave]
        if not self.nodes:
            return [f"{self.recipe}: {self.nothing}"]
        lines = [self._head(len(begun))]
        rows: list[Sequence[str]] = [("WAVE", "NODE", "WHY", "USERS", "BLOCKED BY")]
        shown = [*(node for node in self.nodes if not node.wave), *begun][:_SHOWN]
        rows += [
            (
                str(node.wave or "-"),
                node.node,
                node.why,
                str(len(node.users)),
                node.obstacle or node.held_by or "-",
            )
            for node in shown
        ]
        more = len(self.nodes) - len(shown)
        return [*lines, *aligned(rows), *([f"and {more} more nodes"] if more else [])]

    def _head(self, begun: int) -> str:
        nodes = f"{begun} node{'' if begun == 1 else 's'}"
        count = len({node.wave for node in self.nodes if node.wave})
        waves = f"{count} wave{'' if count == 1 else 's'}"
        text = f"{self.what} of {self.recipe}: {nodes} in {waves}, at most {self.at_once} at a time"
        if self.per_node_s is not None:
            turns = -(-begun // self.at_once) if self.at_once else begun
            text += f", about {duration(turns * self.per_node_s)}"
        return f"{text}; {self.done} done before" if self.done else text


def typical(took: Sequence[int]) -> float | None:
    """What an exchange takes, by those before: the median, in seconds."""
    return float(median(took)) if took else None


def held_by(users: Sequence[DeviceUser], budgets: Sequence[Budget]) -> str:
    """Which budget lets a pod not go now, "" for none."""
    found = [
        f"PodDisruptionBudget {budget.namespace}/{budget.name} (pod {user})"
        for user in users
        for budget in budgets
        if budget.refuses(user)
    ]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{', '.join(found[:_NAMED])}{more}"
