# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node says of its exchange: the annotation by which a run that was killed anywhere is taken up
by the next."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .._cluster.api_client.client import Client
from .._json import Obj, part
from .._nodes.upgrade_marks import DONE, REMEDY, UPGRADING, NodeUpgrade, read_upgrade
from .._states.on_nodes.node_upgrades import write_upgrade
from .._times import timestamp
from .remedies import Remedy, recent

# In the place of a remedy's name.
NOT_BEGUN = "none"


class ExchangeMark:
    """Of one node on its way. remedy: what is tried, None where its driver is exchanged; is_tried:
    whether that has been begun, so that it is not done twice. target: the version that the driver
    is to have. boot: the boot that has to be over. withdrawn: the states whose labels the node's own
    agent is to take off."""

    def __init__(
        self,
        client: Client,
        node: str,
        recipe: str,
        target: str,
        remedy: Remedy | None,
        clock: Callable[[], float],
    ) -> None:
        self._client = client
        self._node = node
        self._recipe = recipe
        self._clock = clock
        self._is_taken_up = False
        self.target = target
        self.remedy = remedy
        self.is_tried = False
        self.boot = ""
        self.withdrawn: tuple[str, ...] = ()

    @property
    def phase(self) -> str:
        """As the node says it while it is on its way."""
        return UPGRADING if self.remedy is None else REMEDY

    def begin_try(self) -> None:
        """The remedy is tried from now on; to be written before it is done."""
        if self.remedy:
            now = self._clock()
            tried = (*recent(self.remedy.tried, now), timestamp(now))
            self.remedy, self.is_tried = replace(self.remedy, tried=tried), True

    def next_remedy(self, step: str) -> None:
        """Another remedy follows."""
        if self.remedy:
            self.remedy, self.is_tried = replace(self.remedy, step=step), False

    def write(self, phase: str, reason: str, took: int = 0) -> bool:
        """Write how the node stands, "" for in no exchange; False where there is no such node. The
        first write takes up what a run before this one has left."""

        def make(live: Obj) -> NodeUpgrade | None:
            return self._standing_as(phase, reason, took, live) if phase else None

        there = write_upgrade(self._client, self._node, self._recipe, make)
        self._is_taken_up = True
        return there

    def _standing_as(self, phase: str, reason: str, took: int, live: Obj) -> NodeUpgrade:
        """What the node's annotation is to say, by what it says now."""
        before = read_upgrade(part(live["metadata"], "annotations"), self._recipe)
        under_way = phase == self.phase
        same = before if before and under_way and before.phase == phase else None
        if same and not self._is_taken_up:
            self._take_up(same)
        remedy, fault = self._remedy_noted(phase)
        return NodeUpgrade(
            phase=phase,
            target=self.target,
            since=same.since if same else timestamp(self._clock()),
            cordoned=under_way and _is_cordoned_by_us(live, same),
            took=took,
            reason=reason,
            boot=self.boot,
            remedy=remedy,
            fault=fault,
            tried=self._tries(before),
            withdrawn=self.withdrawn if under_way else (),
        )

    def _remedy_noted(self, phase: str) -> tuple[str, str]:
        """Which remedy is under way on the node, and its fault; neither once it is mended."""
        if self.remedy is None or phase == DONE:
            return "", ""
        return self.remedy.step if self.is_tried else NOT_BEGUN, self.remedy.fault

    def _tries(self, before: NodeUpgrade | None) -> tuple[str, ...]:
        """When remedies were begun; a driver's exchange keeps what it finds."""
        if self.remedy:
            return self.remedy.tried
        return before.tried if before else ()

    def _take_up(self, before: NodeUpgrade) -> None:
        """Go on where a run before this one ended."""
        self.boot = before.boot
        if self.remedy and before.remedy == self.remedy.step and before.tried:
            self.remedy = replace(self.remedy, fault=before.fault, tried=before.tried)
            self.is_tried = True


def _is_cordoned_by_us(live: Obj, before: NodeUpgrade | None) -> bool:
    """Whether a node is ours to uncordon: we have cordoned it, or are about to. before: what it says
    of the exchange that goes on."""
    return bool(before and before.cordoned) or not part(live, "spec").get("unschedulable")
