# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of groups of nodes, as the record remembers them (status.images), so that everybody
renders the same. Pure.

An entry: {state, group (its id), kernel (raw), image (pinned reference, "" for none), name (the
reference by which it was looked up), inputs (hash of what it was built from, "" for a prebuilt one;
without an image, of the images that were not there, so that the recipe itself builds them in the
cluster), problem (why there is none, or no newer one), failed (key of a build that failed, "" for
none; then also phase, reason, attempts, retry)}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from ..._json import Obj, part

# Of a build that failed; see builds.memory.
_FAILURE = ("phase", "reason", "attempts", "retry")
# The source of a row whose image the recipe's own objects build.
BY_RECIPE = "by the recipe"
_KEYS = ("state", "group", "kernel", "image", "name", "inputs", "problem", "failed")


def read(record: Mapping[str, Any] | None) -> list[Obj]:
    """The entries of a record, in its order."""
    found = part(record or {}, "status").get("images") or []
    return [dict(entry) for entry in found]


def of_states(record: Mapping[str, Any] | None, states: AbstractSet[str]) -> list[Obj]:
    """The entries of some states."""
    return [entry for entry in read(record) if entry["state"] in states]


def by_group(record: Mapping[str, Any] | None, state: str) -> dict[str, Obj]:
    """One state's entries by group of nodes."""
    return {entry["group"]: entry for entry in read(record) if entry["state"] == state}


def merge(
    record: Mapping[str, Any] | None, rows: Iterable[Mapping[str, Any]], groups: AbstractSet[str]
) -> list[Obj]:
    """The entries after a run that found rows (as driver_container returns them), for the groups
    that are in use.

    Where the registry could not be asked, what is known stays. Without any group (no node) nothing
    is forgotten.
    """
    entries = {
        (entry["state"], entry["group"]): entry
        for entry in read(record)
        if not groups or entry["group"] in groups
    }
    for row in filter(_says_something, rows):
        failure = {key: row[key] for key in _FAILURE if row.get(key)}
        entries[row["state"], row["group"]] = {**{key: row[key] for key in _KEYS}, **failure}
    return [entries[key] for key in sorted(entries)]


def _says_something(row: Mapping[str, Any]) -> bool:
    """Whether the run knows something new of a group's image."""
    if row["source"] == "kept" and not row["failed"]:
        return False
    return bool(row["image"] or row["problem"]) or row["source"] == BY_RECIPE


def references(entries: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """state -> id of a group of nodes -> image, "" where a group has none."""
    return _texts(entries, "image")


def names(entries: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, str]]:
    """state -> id of a group of nodes -> the reference by which its image was looked up, "" where that
    is not known."""
    return _texts(entries, "name")


def _texts(entries: Sequence[Mapping[str, Any]], key: str) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for entry in entries:
        found.setdefault(entry["state"], {})[entry["group"]] = str(entry.get(key, ""))
    return found


def problems(entries: Sequence[Mapping[str, Any]], state: str) -> dict[str, str]:
    """Kernel group's id -> why it has no image, for one state."""
    return {
        entry["group"]: entry["problem"]
        for entry in entries
        if entry["state"] == state and not entry["image"]
    }
