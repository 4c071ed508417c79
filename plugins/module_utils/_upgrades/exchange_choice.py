# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tells which nodes are led through an exchange, and what is done on each."""

from __future__ import annotations

from collections.abc import Sequence, Set
from enum import Enum
from typing import Protocol

from .._states.validation.phases import Result
from .pace import Pace
from .remedies import Remedy
from .upgrade_plan import UpgradePlan


class Begin(Enum):
    """Whether a node is begun. WAIT: its proofs are still to tell."""

    NOW = "now"
    WAIT = "wait"
    NEVER = "never"


class ExchangeChoice(Protocol):
    """Why nodes are taken. reason: of a node that is on its way, for the table; phase: as the node
    says it."""

    reason: str
    phase: str

    def plan(self) -> tuple[UpgradePlan, Pace]:
        """What would be done, and how fast."""

    def candidates(self) -> list[str]:
        """The nodes that may have to be taken, in order."""

    def may_begin(self, node: str, unready: Sequence[Result] | None) -> Begin:
        """By what is found of a node: its results that are not ready, None while there are none."""

    def ended(self, phase: str) -> Set[str]:
        """The nodes whose exchange ended so before this run, and that are not taken again."""

    def remedy(self, node: str) -> Remedy | None:
        """What is done on a node; None where its driver is brought to the version that is deployed."""

    def hopeless(self, node: str) -> str:
        """Why nothing is done on a node, which goes into quarantine for that; "" where something
        is."""
