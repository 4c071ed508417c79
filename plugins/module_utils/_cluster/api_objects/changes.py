# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens, or would happen, to one object; and how an object that cannot be tried out is
compared. Pure."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..._json import Obj, part
from .objects import ObjectKey

Action = Literal["create", "update", "replace", "delete", "restore", "unchanged"]


@dataclass
class Change:
    """One object's change.

    before: as it is. after: as it is (or, planned, would be) afterwards, with the API server's
    defaults; None for a deletion. note: what is worth telling. desired: what is applied for it; for
    "restore", a merge patch. adopted: whether it was not ours before. left_out: the fields that its
    kind does not have, and that are not in desired. theirs: whether it is somebody else's, and stays
    so whatever of it differs.
    """

    key: ObjectKey
    action: Action
    before: Obj | None
    after: Obj | None
    note: str = ""
    desired: Obj | None = None
    adopted: bool = False
    left_out: tuple[str, ...] = ()
    theirs: bool = False


def contains(live: Any, wanted: Any) -> bool:
    """Whether live has every field that wanted sets: mappings by key, lists item by item, the rest
    by equality.

    A field that is wanted empty (null, "", 0, false, {}, []) may be missing, since the API server
    leaves such out.
    """
    if isinstance(wanted, Mapping):
        if not isinstance(live, Mapping):
            return False
        return all(
            contains(live[key], value) if key in live else not value
            for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        if not isinstance(live, list) or len(live) != len(wanted):
            return False
        return all(contains(has, wants) for has, wants in zip(live, wanted, strict=True))
    return bool(live == wanted)


def overlaid(live: Any, wanted: Any) -> Any:
    """live with the fields that wanted sets: a guess at what applying wanted makes of it."""
    if isinstance(wanted, Mapping) and isinstance(live, Mapping):
        return {**live, **{key: overlaid(live.get(key), value) for key, value in wanted.items()}}
    if isinstance(wanted, list) and isinstance(live, list) and len(live) == len(wanted):
        return [overlaid(has, wants) for has, wants in zip(live, wanted, strict=True)]
    return wanted


def as_stored(obj: Mapping[str, Any]) -> Obj:
    """An object as the API server keeps it: a Secret's stringData becomes data."""
    stored = dict(obj)
    if obj.get("kind") == "Secret" and obj.get("stringData"):
        plain = stored.pop("stringData")
        encoded = {
            key: base64.b64encode(str(value).encode()).decode() for key, value in plain.items()
        }
        stored["data"] = {**part(obj, "data"), **encoded}
    return stored
