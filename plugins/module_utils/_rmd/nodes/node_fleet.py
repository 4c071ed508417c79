# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run talks to: the writers and agents of its nodes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ..._cluster.api_client.forward import Forward
from .agents import Agent
from .node_writer import NodeWriter


@dataclass
class Fleet:
    """The writer of each node, and its agent."""

    writers: dict[str, NodeWriter] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    forwards: list[Forward] = field(default_factory=list)

    @property
    def requests(self) -> dict[str, int]:
        """How many requests all writers were sent so far, by method."""
        total: Counter[str] = Counter()
        for writer in self.writers.values():
            total += writer.requests
        return dict(total)

    def close(self) -> None:
        """Close all connections."""
        for writer in self.writers.values():
            writer.close()
        for forward in self.forwards:
            forward.close()
