# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""To which states the tags of an ansible-playbook command limit a run. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..._recipes.loading.recipe import State
from ..._recipes.loading.state_roles import ROLES, tag_of

VALIDATION = "validation"
_ALL = frozenset(("all", "tagged"))


@dataclass(frozen=True)
class Tags:
    """What --tags and --skip-tags say; given is false where a task speaks for itself and no
    playbook is meant."""

    run: frozenset[str] = _ALL
    skip: frozenset[str] = frozenset()
    given: bool = False

    @classmethod
    def of(cls, run: Iterable[str] | None, skip: Iterable[str] | None) -> Tags:
        """The options tags and skip_tags of a task."""
        if run is None:
            return cls()
        return cls(frozenset(run), frozenset(skip or ()), given=True)

    @property
    def validates(self) -> bool:
        """Whether the run is to prove states."""
        return self._selects(frozenset((VALIDATION,)))

    def selects(self, state: State) -> bool:
        """Whether a state is to be applied: by its own name, or by that of its role without
        "state_".

        A playbook leaves states to roles of somebody else where the recipe says so.
        """
        if not self.given:
            return True
        return state.role in ROLES and self._selects(frozenset((state.name, tag_of(state.role))))

    def _selects(self, names: frozenset[str]) -> bool:
        return bool(self.run & (names | _ALL)) and not self.skip & names


EVERYTHING = Tags()
