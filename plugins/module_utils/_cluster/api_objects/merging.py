# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON merge patches (RFC 7386) of objects: what undoes a change, and what an object is after a
patch. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._json import Obj


def undoing(after: Mapping[str, Any], before: Mapping[str, Any]) -> Obj:
    """The patch that turns after into before; lists are taken as a whole."""
    patch: Obj = {name: None for name in after if name not in before}
    for name, value in before.items():
        if isinstance(value, Mapping) and isinstance(after.get(name), Mapping):
            below = undoing(after[name], value)
            if below:
                patch[name] = below
        elif name not in after or after[name] != value:
            patch[name] = value
    return patch


def patched(obj: Any, patch: Mapping[str, Any]) -> Obj:
    """The object with the patch applied."""
    found: Obj = dict(obj) if isinstance(obj, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = patched(found.get(name), value) if isinstance(value, Mapping) else value
    return found


def together(first: Mapping[str, Any], second: Mapping[str, Any]) -> Obj:
    """One patch that does what both do, one after the other."""
    found: Obj = dict(first)
    for name, value in second.items():
        known = found.get(name)
        both = isinstance(value, Mapping) and isinstance(known, Mapping)
        found[name] = together(known or {}, value) if both else value
    return found
