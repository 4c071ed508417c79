# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who has cache, and since when, kept on the node's disk: a boot empties resctrl, and whoever had
cache before it is to have the same after it, whoever else asks meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from allocation import Masks, Tree, is_there
from declared import Entry

_FILE = "in_force.json"


@dataclass(frozen=True)
class Known:
    """A workload as it was at the last look. masks: the ways of its group, None while it waits."""

    entry: Entry
    masks: Masks | None


# By uuid, the oldest first.
Memory = Mapping[str, Known]


def places(memory: Memory) -> dict[str, Masks]:
    """The ways that groups had last. Pure."""
    return {known.entry.group: known.masks for known in memory.values() if known.masks is not None}


def in_order(entries: Sequence[Entry], memory: Memory, tree: Tree) -> list[Entry]:
    """The first is the one that gets what several want: who asks for what it had; then who had, or
    by the tree has, something else; then what waits. Of each, declared before claimed, the oldest
    first. Pure."""
    ages = {uuid: age for age, uuid in enumerate(memory)}
    had = {uuid: known.entry for uuid, known in memory.items() if known.masks is not None}

    def rank(entry: Entry) -> tuple[bool, bool, bool, int]:
        is_same = had.get(entry.uuid) == entry
        waits = entry.uuid not in had and not is_there(entry, tree)
        return not is_same, waits, entry.is_claimed, ages.get(entry.uuid, len(ages))

    return sorted(entries, key=rank)


def held(memory: Memory, entries: Collection[Entry], alive: Collection[str]) -> list[Entry]:
    """What pods have that does not show just now, as while their containers start anew after a
    boot: it is theirs until they end. entries: what is declared and claimed. Pure."""
    return [
        known.entry
        for uuid, known in memory.items()
        if known.entry.is_claimed
        and known.masks is not None
        and known.entry.pod in alive
        # Of one container that is declared under another name, that name is the one.
        and not any(
            entry.uuid == uuid or (entry.pod == known.entry.pod and entry.cores & known.entry.cores)
            for entry in entries
        )
    ]


def remember(
    memory: Memory, entries: Sequence[Entry], refused: Collection[str], tree: Tree
) -> dict[str, Known]:
    """What is known after a look. refused: the uuids of what waits. tree: as it should be. Pure."""
    found = {entry.uuid: entry for entry in entries}
    return {
        uuid: Known(found[uuid], None if uuid in refused else tree[found[uuid].group].masks)
        for uuid in {**memory, **found}
        if uuid in found
    }


def load(folder: Path) -> dict[str, Known]:
    """What was kept; nothing where that cannot be read."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        kept = json.loads((folder / _FILE).read_text(encoding="utf-8"))
        return {each["entry"]["uuid"]: _known(each) for each in kept}
    return {}


def store(folder: Path, memory: Memory) -> None:
    """Keep it. Raises OSError."""
    kept = [
        {
            "entry": {**asdict(known.entry), "cores": sorted(known.entry.cores)},
            "masks": known.masks,
        }
        for known in memory.values()
    ]
    replace(folder / _FILE, json.dumps(kept))


def replace(file: Path, text: str) -> None:
    """A file's text, old or new and never half of one, also where the power goes. Raises OSError."""
    unfinished = file.with_suffix(".new")
    with unfinished.open("w", encoding="utf-8") as opened:
        opened.write(text)
        opened.flush()
        os.fsync(opened.fileno())
    unfinished.replace(file)


def _known(kept: Mapping[str, Any]) -> Known:
    entry = {**kept["entry"], "cores": frozenset(kept["entry"]["cores"])}
    return Known(Entry(**entry), kept["masks"])
