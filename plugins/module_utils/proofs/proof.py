# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A proof as a recipe asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Proof:
    """One validation. spec holds the settings of its kind, with the defaults filled in.

    enabled: the bool option that turns it on ("": always on).
    """

    kind: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    enabled: str = ""
