# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which image each group of nodes of a state has: looked up first, then as its build has ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .._errors import EnablementError, InvalidInput
from .._json import part
from .._nodes.groups import NodeGroup
from .orders import BuildOrder, Built, Resolution, Source, UnknownImageError
from .resolutions import Known, after, or_before, unasked
from .resolve import Find, Search, Unsigned
from .wanted import BuildInputs

# Needs no build any more, also where one that outlived its run has brought it.
_THERE = (Source.PREBUILT, Source.BUILT_BEFORE)


@dataclass
class StateSearch:
    """The groups of nodes that one state is on, by their ids.

    find: looks an image up. unsigned: why one is not signed. known: the record's entries. searches:
    of the groups whose image could be looked for. found: what each of them has so far.
    """

    find: Find
    unsigned: Unsigned
    known: Mapping[str, Known]
    searches: dict[str, Search] = field(default_factory=dict)
    found: dict[str, Resolution] = field(default_factory=dict)

    def search(self, group: NodeGroup, inputs: BuildInputs) -> None:
        """Find the image of a group; where that fails, it keeps the one of before, and says why."""
        entry = self.entry(group.id)
        try:
            search = Search(inputs.of(group), self.find, self.unsigned, entry)
            self.searches[group.id] = search
            self.found[group.id] = or_before(search.result(), entry)
        except InvalidInput:
            raise
        except EnablementError as error:
            found = unasked(group.id, group.system.kernel, str(error), entry)
            if isinstance(error, UnknownImageError) and found.source is Source.NONE:
                found = replace(found, source=Source.UNASKED)
            self.found[group.id] = found

    def entry(self, group: str) -> Known:
        """What the record has of a group, empty for nothing."""
        return part(self.known, group)

    def would_build(self, order: BuildOrder) -> bool:
        """Whether the group of an order has its image only after a build."""
        return self.found[order.group].source is Source.WOULD_BUILD

    def builds_in_use(self, possible: Sequence[BuildOrder]) -> list[str] | None:
        """The names of all builds that some group still needs, of those that are possible; None where
        that is not known.

        Whoever could not be looked up may have a build that an earlier run began.
        """
        for group in self.found:
            search = self.searches.get(group)
            if search is None or isinstance(search.wanted.no_build, EnablementError):
                return None
        return [order.name for order in possible if self.found[order.group].source not in _THERE]

    def take(self, built: Built, orders: Sequence[BuildOrder], now: float) -> None:
        """Take in how a build has ended, for all groups whose image it makes. now: seconds since the
        epoch."""
        for order in orders:
            if order.target == built.order.target:
                search = self.searches[order.group]
                self.found[order.group] = after(search, order, built, self.entry(order.group), now)
