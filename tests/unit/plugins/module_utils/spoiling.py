# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Data of any depth with one place of it spoilt, for tests that feed nonsense."""

from __future__ import annotations

import copy
import random
from typing import Any

JUNK: list[Any] = [
    *(None, "", "text", 0, -1, 1.5, True, [], {}, ["x"], [None], [[]], {"x": 1}, {"name": []}),
    *("{{ no }}", "\x00", "ä" * 300),
]


def spoil(dice: random.Random, found: Any) -> Any:
    """A copy with one place, at any depth, replaced or taken away."""
    found = copy.deepcopy(found)
    places: list[tuple[Any, Any]] = []
    left = [found]
    while left:
        entry = left.pop()
        keys = list(entry) if isinstance(entry, dict) else list(range(len(entry))) if isinstance(entry, list) else []
        places += [(entry, key) for key in keys]
        left += [entry[key] for key in keys]
    if not places:
        return dice.choice(JUNK)
    entry, key = dice.choice(places)
    if dice.random() < 0.2:
        del entry[key]
    else:
        entry[key] = copy.deepcopy(dice.choice(JUNK))
    return found
