# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run tells the node agent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Obj = dict[str, Any]

DOMAIN = "hardware-enablement.io"


@dataclass(frozen=True)
class StateDaemonSet:
    """A DaemonSet of a state. terms: the nodes that it is for, as nodeSelectorTerms without our
    gates. validator: whether its pods prove the state and leave. hash: of its pods' template."""

    name: str
    terms: Sequence[Obj]
    validator: bool
    hash: str


@dataclass(frozen=True)
class AgentState:
    """requires: the names of states. gate: whether the node is to have a label for it."""

    name: str
    requires: Sequence[str]
    gate: bool
    daemonsets: Sequence[StateDaemonSet]


@dataclass(frozen=True)
class NodeCondition:
    """A proof that the node itself shows: its kind, a key of CONDITIONS, and that kind's settings."""

    kind: str
    settings: Obj


@dataclass(frozen=True)
class AgentGroup:
    """Nodes that a run has rendered for. terms: as nodeSelectorTerms. conditions: by state."""

    terms: Sequence[Obj]
    conditions: Mapping[str, Sequence[NodeCondition]]


@dataclass(frozen=True)
class AgentConfiguration:
    """What a run has written. hash: of all of it. states: each after those that it requires. pods:
    labels of the recipe's pods, as a selector. daemonset: the agent's own."""

    instance: str
    namespace: str
    daemonset: str
    pods: str
    hash: str
    states: Sequence[AgentState]
    groups: Sequence[AgentGroup]

    @classmethod
    def from_text(cls, text: str) -> AgentConfiguration:
        """Of the file's text; raises ValueError, KeyError or TypeError where it is none."""
        found = json.loads(text)
        states = [
            AgentState(
                **{**state, "daemonsets": [StateDaemonSet(**each) for each in state["daemonsets"]]}
            )
            for state in found.pop("states")
        ]
        groups = [
            AgentGroup(
                group["terms"],
                {
                    state: [NodeCondition(**each) for each in conditions]
                    for state, conditions in group["conditions"].items()
                },
            )
            for group in found.pop("groups")
        ]
        return cls(**found, states=states, groups=groups)

    def label(self, name: str = "") -> str:
        """The name of a label of ours; without a name, of the one that sums up."""
        return f"{DOMAIN}/{self.instance}.{name}" if name else f"{DOMAIN}/{self.instance}"
