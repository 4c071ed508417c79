# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order a tree of resctrl is brought from what it is to what it should be. Pure.

At no moment may a group with CPUs have ways that are another one's alone. So: CPUs leave first,
then masks shrink, then masks grow, then CPUs come; a group whose ways move elsewhere has none of
its CPUs meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from allocation import DEFAULT, Group, Tree
from declared import is_ours
from resctrl import Files

REMOVE, MAKE, SCHEMATA, CPUS = "remove", "make", "schemata", "cpus_list"


@dataclass(frozen=True)
class Write:
    """One request to the kernel. what: rmdir, mkdir, or the file of the group that text goes
    to."""

    what: str
    group: str
    text: str = ""

    def take(self, files: Files) -> None:
        """Do it. Raises RefusedWriteError."""
        if self.what == MAKE:
            files.make(self.group)
        elif self.what == REMOVE:
            files.remove(self.group)
        else:
            files.write(self.group, self.what, self.text)


def steps(tree: Tree, wanted: Tree, min_bits: int) -> Iterator[Write]:
    """The writes, none where all is as it should be. Groups of others are in no write."""
    kept = {name: group for name, group in tree.items() if name in wanted}
    for name in tree:
        if is_ours(name) and name not in wanted:
            yield Write(REMOVE, name)
    cpus: dict[str, frozenset[int]] = {}
    for name, group in kept.items():
        moves = name != DEFAULT and _moves(group, wanted[name], min_bits)
        cpus[name] = frozenset() if moves else group.cpus & wanted[name].cpus
        if name != DEFAULT and cpus[name] != group.cpus:
            yield Write(CPUS, name, _list(cpus[name]))
    now = {name: dict(group.masks) for name, group in kept.items()}
    # The default group last: nobody can take its CPUs away while its ways move.
    for name in sorted(kept, key=lambda name: name == DEFAULT):
        less = {
            cache: _between(mask, wanted[name].masks[cache], min_bits)
            for cache, mask in now[name].items()
        }
        if changed := _changed(now[name], less):
            yield Write(SCHEMATA, name, _line("L3", changed))
            now[name] = less
    for name, group in wanted.items():
        if name not in kept:
            yield Write(MAKE, name)
        masks = _changed(now.get(name, {}), group.masks)
        before = kept[name].bandwidth if name in kept else {}
        limits = {} if name == DEFAULT else _changed(before, group.bandwidth)
        if masks or limits:
            text = "".join(
                _line(kind, found, kind == "MB")
                for kind, found in (("L3", masks), ("MB", limits))
                if found
            )
            yield Write(SCHEMATA, name, text)
    for name, group in wanted.items():
        if name != DEFAULT and cpus.get(name, frozenset()) != group.cpus:
            yield Write(CPUS, name, _list(group.cpus))


def _moves(group: Group, wanted: Group, min_bits: int) -> bool:
    return any(
        mask != wanted.masks[cache] and _bits(mask & wanted.masks[cache]) < max(1, min_bits)
        for cache, mask in group.masks.items()
    )


def _between(mask: int, wanted: int, min_bits: int) -> int:
    """What is common to both is side by side, too; all of it at once where that is too little."""
    both = mask & wanted
    return both if _bits(both) >= max(1, min_bits) else wanted


def _changed(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    return {cache: value for cache, value in after.items() if before.get(cache) != value}


def _bits(mask: int) -> int:
    return bin(mask).count("1")


def _line(kind: str, values: Mapping[str, int], decimal: bool = False) -> str:
    pairs = ";".join(
        f"{cache}={value if decimal else format(value, 'x')}" for cache, value in values.items()
    )
    return f"{kind}:{pairs}\n"


def _list(cpus: frozenset[int]) -> str:
    return f"{','.join(str(cpu) for cpu in sorted(cpus))}\n"
