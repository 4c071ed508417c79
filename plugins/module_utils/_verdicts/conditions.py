# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions of an object's status, as they are read. Pure."""

from __future__ import annotations

from .._json import Obj, elements


def condition(obj: Obj, kind: str) -> Obj | None:
    """One condition of an object's status."""
    for entry in elements(obj, "status", "conditions"):
        if entry.get("type") == kind:
            return dict(entry)
    return None
