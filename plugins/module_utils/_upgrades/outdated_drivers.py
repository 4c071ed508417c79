# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The nodes of an upgrade: those whose driver is not of the version that is deployed, or whose devices
are served in another way than is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .._nodes.upgrade_marks import DONE, QUARANTINED, UPGRADING
from .._states.validation.phases import Result
from .exchange_choice import Begin
from .pace import Pace
from .remedies import Remedy
from .upgrade_plan import UpgradePlan, typical
from .upgrade_settings import UpgradeSettings
from .upgrade_survey import UpgradeSurvey


class OutdatedDrivers:
    """What an upgrade takes, in waves."""

    reason, phase = "Upgrading", UPGRADING

    def __init__(self, survey: UpgradeSurvey, settings: UpgradeSettings) -> None:
        self._survey = survey
        self._settings = settings

    def candidates(self) -> list[str]:
        """The nodes with a driver of a version before, or on their way since an earlier run: these
        first, then one of each zone after the other."""
        survey, only = self._survey, self._settings.only
        leaving = survey.leaving()
        under_way = survey.under_way(UPGRADING) - leaving.keys()
        outdated = [
            name
            for name in survey.snapshot.nodes
            if name not in under_way
            and name not in leaving
            and (only is None or name in only)
            and (survey.is_behind(name) or survey.held_up(name))
        ]
        return [*sorted(under_way), *survey.in_zones(outdated)]

    def plan(self) -> tuple[UpgradePlan, Pace]:
        """What would be done, and how fast."""
        survey, settings = self._survey, self._settings
        rows = survey.rows({name: self._why(name) for name in self.candidates()}, UPGRADING)
        before = len(self.ended(DONE)) + len(self.ended(QUARANTINED))
        begun = [row.node for row in rows if not row.obstacle]
        pace = Pace.of(
            settings.waves,
            settings.max_unavailable,
            settings.max_failures,
            settings.soak_s,
            to_exchange=before + len(begun),
            nodes=len(survey.snapshot.nodes),
        )
        waves = {name: pace.wave(before + index) for index, name in enumerate(begun)}
        took = [upgrade.took for upgrade in survey.upgrades().values() if upgrade.took]
        plan = UpgradePlan(
            recipe=survey.recipe.name,
            nodes=[replace(row, wave=waves.get(row.node, 0)) for row in rows],
            done=len(self.ended(DONE)),
            at_once=pace.at_once,
            per_node_s=typical(took),
        )
        return plan, pace

    def may_begin(self, _node: str, _unready: Sequence[Result] | None) -> Begin:
        """A driver is outdated whatever its proofs say."""
        return Begin.NOW

    def ended(self, phase: str) -> set[str]:
        """The nodes whose exchange ended so, for the version that is deployed now."""
        survey = self._survey
        return {
            name
            for name, upgrade in survey.upgrades().items()
            if upgrade.phase == phase
            and not upgrade.remedy
            and upgrade.target == survey.target(name)
            and not survey.is_behind(name)
        }

    def remedy(self, _node: str) -> Remedy | None:
        """None: the driver makes way for another one."""
        return None

    def hopeless(self, _node: str) -> str:
        """An exchange can always be tried."""
        return ""

    def _why(self, node: str) -> str:
        if outdated := self._survey.drivers.outdated(node):
            return outdated[0].why
        if change := self._survey.allocation_change(node):
            return str(change)
        return "driver does not start" if self._survey.held_up(node) else "begun by an earlier run"
