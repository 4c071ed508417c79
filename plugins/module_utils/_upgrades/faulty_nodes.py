# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of remedies: those that somebody reports, and those that fail what they have proven
before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from .._cluster.api_objects.labels import gate_label
from .._nodes.upgrade_marks import QUARANTINED, REMEDY
from .._states.validation.node_marks import DEGRADED
from .._states.validation.phases import BROKEN, Result
from .exchange_choice import Begin
from .pace import Pace
from .remedies import Remedy
from .remedy_settings import RemedySettings
from .upgrade_plan import UpgradePlan, typical
from .upgrade_survey import UpgradeSurvey
from .waves import amount_of


class FaultyNodes:
    """What remedies are for."""

    reason, phase = "Remedied", REMEDY

    def __init__(
        self, survey: UpgradeSurvey, settings: RemedySettings, clock: Callable[[], float]
    ) -> None:
        self._survey = survey
        self._settings = settings
        self._rules = settings.exchange.remedies
        self._clock = clock

    def candidates(self) -> list[str]:
        """The nodes that may be at fault, or on their way since an earlier run: these first."""
        leaving = self._survey.leaving()
        under_way = self._survey.under_way(REMEDY) - leaving.keys()
        faulty = [
            name
            for name in self._survey.snapshot.nodes
            if name not in under_way and name not in leaving and self._is_suspect(name)
        ]
        return [*sorted(under_way), *self._survey.in_zones(faulty)]

    def plan(self) -> tuple[UpgradePlan, Pace]:
        """What would be done, and how fast."""
        survey, settings = self._survey, self._settings
        rows = survey.rows({name: self._why(name) for name in self.candidates()}, REMEDY)
        nodes = len(survey.snapshot.nodes)
        pace = Pace(
            (nodes,),
            amount_of(settings.max_unavailable, nodes, "max_unavailable", at_least=1),
            amount_of(settings.max_failures, nodes, "max_failures", at_least=1),
        )
        took = [mark.took for mark in survey.upgrades().values() if mark.took and mark.tried]
        plan = UpgradePlan(
            recipe=survey.recipe.name,
            nodes=[replace(row, wave=0 if row.obstacle else 1) for row in rows],
            done=0,
            at_once=pace.at_once,
            per_node_s=typical(took),
            what="remedies",
            nothing="no node is at fault",
        )
        return plan, pace

    def may_begin(self, node: str, unready: Sequence[Result] | None) -> Begin:
        """What was reported is begun at once; else the proofs have the word."""
        mark = self._survey.upgrade_of(node)
        if self._fault(node) or (mark is not None and mark.phase == REMEDY):
            return Begin.NOW
        if unready is None:
            return Begin.WAIT
        states = self._states(node)
        failing = [result for result in unready if result.root in states]
        if any(result.final and result.phase in BROKEN for result in failing):
            return Begin.NOW
        return Begin.NEVER if all(result.final for result in unready) else Begin.WAIT

    def ended(self, phase: str) -> set[str]:
        """The nodes that are in quarantine and stay there."""
        return {
            name
            for name, mark in self._survey.upgrades().items()
            if mark.phase == phase == QUARANTINED and not self._is_suspect(name)
        }

    def remedy(self, node: str) -> Remedy | None:
        """What is tried next."""
        mark = self._survey.upgrade_of(node)
        tried = mark.tried if mark else ()
        step = self._rules.next(tried, self._clock())
        # What a run before this one has begun, if the recipe still has it.
        if mark and mark.phase == REMEDY and mark.remedy in self._rules.steps:
            step = mark.remedy
        return Remedy(step, self._fault(node), tried)

    def hopeless(self, node: str) -> str:
        """Why no remedy is tried, "" where one is."""
        mark = self._survey.upgrade_of(node)
        if mark is None or mark.phase == REMEDY or self._rules.next(mark.tried, self._clock()):
            return ""
        return f"{self._rules.attempts} remedies within a day did not help"

    def _reported(self, node: str) -> str:
        """What is said of a node in this run, "" where it may be about what was just seen to."""
        mark = self._survey.upgrade_of(node)
        cooling = self._rules.is_cooling(mark.tried if mark else (), self._clock())
        return "" if cooling else self._settings.faults.get(node, "")

    def _fault(self, node: str) -> str:
        """What is said of a node, in this run or one before."""
        mark = self._survey.upgrade_of(node)
        return self._reported(node) or (mark.fault if mark else "")

    def _is_suspect(self, node: str) -> bool:
        mark = self._survey.upgrade_of(node)
        if mark and mark.phase == QUARANTINED:
            # Of an upgrade: to be ended by another one. Tried often enough: to be ended by hand.
            is_ours = bool(mark.remedy or self._reported(node))
            return is_ours and not self.hopeless(node)
        if self._survey.transition_of(node):
            return bool(self._reported(node))
        return bool(self._reported(node) or self._degraded(node))

    def _states(self, node: str) -> Sequence[str]:
        """The states whose failure is a fault of the devices."""
        return self._survey.recipe.remedies.states or self._survey.drivers.states(node)

    def _degraded(self, node: str) -> list[str]:
        """Those of them that a run has found broken."""
        labels, recipe = self._survey.snapshot.nodes[node].labels, self._survey.recipe.name
        return [
            state
            for state in self._states(node)
            if labels.get(gate_label(recipe, state)) == DEGRADED
        ]

    def _why(self, node: str) -> str:
        broken = self._degraded(node)
        found = f"{', '.join(broken)} degraded" if broken else "begun by an earlier run"
        remedy = self.remedy(node)
        step = remedy.step if remedy and remedy.step else "quarantine"
        return f"{self._fault(node) or found}: {step}"
