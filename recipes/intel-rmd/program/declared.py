# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node is meant to enforce, from its RmdNodeState's spec.workloads. Pure.

It is read as it comes: what makes no sense is refused in a sentence, and holds up nothing else."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from cpusets import parse

GUARANTEED, BESTEFFORT, SHARED, NONE = "guaranteed", "besteffort", "shared", ""
# Our groups in resctrl, and nobody else's, begin like this.
_PREFIX = "hardware-enablement"
SHARED_GROUP = f"{_PREFIX}-shared"
# What a folder may be called without a second thought; a group of resctrl is one.
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_LONGEST_UUID = 253
# Of a CPU's number, so that "0-99999999999" costs nothing.
_CORES = re.compile(r"\d{1,5}(-\d{1,5})?")


@dataclass(frozen=True)
class Entry:
    """One workload. most, least: ways of each L3 that one of its cores belongs to; None, None for
    no wish. percentage, mbps: memory bandwidth, one of them or none. pod: the uid of the pod that
    it is for and goes with, "" for none. is_claimed: a pod asks for it, and no run has declared it
    yet."""

    uuid: str
    cores: frozenset[int]
    most: int | None = None
    least: int | None = None
    percentage: int | None = None
    mbps: int | None = None
    pod: str = ""
    is_claimed: bool = False

    @property
    def pool(self) -> str:
        """The pool that its ways come from."""
        if self.most is None:
            return NONE
        if self.most == self.least:
            return GUARANTEED if self.most else SHARED
        return BESTEFFORT

    @property
    def group(self) -> str:
        """The group of resctrl that it is in: one of its own, unless all it asks for is to
        share."""
        if self.pool == SHARED and self.percentage is None and self.mbps is None:
            return SHARED_GROUP
        return group_of(self.uuid)


class NonsenseError(Exception):
    """One sentence: why an entry cannot be read."""


def group_of(uuid: str) -> str:
    """The name of the group of one workload."""
    if _PLAIN.fullmatch(uuid):
        return f"{_PREFIX}.{uuid}"
    return f"{_PREFIX}.~{hashlib.sha256(uuid.encode()).hexdigest()[:32]}"


def is_ours(group: str) -> bool:
    """Whether a group's name is one that we give."""
    return group == SHARED_GROUP or group.startswith(f"{_PREFIX}.")


def read(workloads: object) -> tuple[list[Entry], dict[str, str]]:
    """(the entries by uuid, why others are none). workloads: spec.workloads, whatever it is."""
    if workloads is None:
        return [], {}
    if not isinstance(workloads, Mapping):
        return [], {"": "spec.workloads is no map of workloads"}
    entries: list[Entry] = []
    refused: dict[str, str] = {}
    for uuid, found in sorted(workloads.items(), key=lambda item: str(item[0])):
        try:
            entries.append(_entry(str(uuid), found))
        except NonsenseError as error:
            refused[str(uuid)] = str(error)
    return entries, refused


def _entry(uuid: str, found: object) -> Entry:
    if not 0 < len(uuid) <= _LONGEST_UUID or uuid.split() != [uuid]:
        raise NonsenseError(f"its name has not 1 to {_LONGEST_UUID} characters without spaces")
    if not isinstance(found, Mapping):
        raise NonsenseError("it is no map of what is asked for")
    cache, mba = (_part(found, name) for name in ("cache", "mba"))
    most, least = (_number(cache, name) for name in ("max", "min"))
    percentage, mbps = (_number(mba, name) for name in ("percentage", "mbps"))
    if cache:
        most, least = most or 0, least or 0
        if most < least or (most and not least):
            raise NonsenseError(f"it asks for at most {most} and at least {least} ways")
    if percentage is not None and mbps is not None:
        raise NonsenseError("it asks for memory bandwidth in two units")
    if most is None and percentage is None and mbps is None:
        raise NonsenseError("it asks for nothing")
    pod = found.get("pod") or ""
    if not isinstance(pod, str):
        raise NonsenseError("pod is no uid")
    return Entry(uuid, _cores(found.get("coreIds")), most, least, percentage, mbps, pod)


def _cores(items: object) -> frozenset[int]:
    if not isinstance(items, list) or not items:
        raise NonsenseError("it names no core")
    found: set[int] = set()
    for part in (part.strip() for item in items for part in str(item).split(",")):
        if not _CORES.fullmatch(part):
            raise NonsenseError(f"{part[:20]!r} is no core")
        found |= parse(part)
    if not found:
        raise NonsenseError("it names no core")
    return frozenset(found)


def _part(found: Mapping[str, object], name: str) -> Mapping[str, object]:
    part = found.get(name)
    if part is not None and not isinstance(part, Mapping):
        raise NonsenseError(f"{name} is no map")
    return part or {}


def _number(part: Mapping[str, object], name: str) -> int | None:
    number = part.get(name)
    if number is None:
        return None
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise NonsenseError(f"{name} is {str(number)[:20]}, which is no number")
    return number
