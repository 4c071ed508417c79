# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a proof may look at, and how it asks for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.asks import Answer, Ask
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.proof import Proof
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.snapshot import Snapshot


class PlannedState(Protocol):
    """What is known of a proof's state before nodes are looked at (states.validation.model.StatePlan is one)."""

    @property
    def name(self) -> str: ...

    @property
    def proofs(self) -> tuple[Proof, ...]: ...

    @property
    def workloads(self) -> tuple[ObjectKey, ...]: ...

    @property
    def without_image(self) -> Mapping[str, str]: ...

    def daemonsets_for(self, group: str) -> tuple[ObjectKey, ...]: ...


@dataclass
class Look:
    """One look at one proof: of a node, or of the cluster where node is None.

    wants collects the questions, again_at the next moment (seconds since the epoch) at which looking again may help.
    """

    plan: PlannedState
    index: int
    node: NodeFacts | None
    group: str
    subject: str
    snapshot: Snapshot
    namespace: str
    now: float
    started: float
    runnable_since: float
    slots: Mapping[str, int]
    siblings: tuple[str, ...] = ()
    sibling_proven: bool = False
    wants: list[Ask] = field(default_factory=list)
    again_at: float | None = None

    @property
    def spec(self) -> Mapping[str, Any]:
        """The proof's own settings from the recipe."""
        return self.plan.proofs[self.index].spec

    def ask(self, question: Ask, max_age: float | None = None) -> Answer | None:
        """The answer if there is one that is young enough (seconds), else None, and the question goes out."""
        answer = self.snapshot.answers.get(question)
        if answer is not None and (max_age is None or self.now - answer.at < max_age):
            if max_age is not None:
                self.look_again(answer.at + max_age)
            return answer
        self.wants.append(question)
        return None

    def look_again(self, moment: float) -> None:
        """Ask for another look at the latest then, even if nothing in the cluster changes."""
        self.again_at = moment if self.again_at is None else min(self.again_at, moment)
