# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has to happen to the RmdWorkloads of pods: created, brought in line with their pod, or
removed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..._json import Obj
from ..objects.workload_spec import Declared, Name, read
from .pod_requests import Claim, workload_of


@dataclass(frozen=True)
class Automatic:
    """create: new objects. change: an object, and the same with the spec to have. remove: objects
    without a claim.

    failed: (pod, why) of claims that get no object.
    """

    create: list[Obj] = field(default_factory=list)
    change: list[tuple[Obj, Obj]] = field(default_factory=list)
    remove: list[Obj] = field(default_factory=list)
    failed: list[tuple[Obj, str]] = field(default_factory=list)


def decide(claims: Sequence[Claim], declared: Iterable[Declared], gone: Iterable[str]) -> Automatic:
    """What the claims of all pods that run ask for.

    declared: the RmdWorkloads that there are. gone: uids of pods that have ended and whose objects
    go; what a deleted pod owns goes by itself.
    """
    there = {entry.name: entry for entry in declared}
    found = Automatic()
    claimed: set[Name] = set()
    for claim in claims:
        name = _name_of(claim, there)
        claimed.add(name)
        _decide_claim(claim, name, there.get(name), found)
    owners = {claim.pod["metadata"]["uid"] for claim in claims} | set(gone)
    for name, entry in there.items():
        if (
            name not in claimed
            and not entry.is_deleted
            and entry.pod
            and entry.pod["uid"] in owners
        ):
            found.remove.append(entry.object)
    return found


def _name_of(claim: Claim, there: Mapping[Name, Declared]) -> Name:
    """By which the pod has the claim's RmdWorkload; the name of a new one where it has none."""
    names = [Name(claim.pod["metadata"]["namespace"], name) for name in claim.names]
    return next((name for name in names if _is_owned(there.get(name), claim.pod)), names[0])


def _decide_claim(claim: Claim, name: Name, entry: Declared | None, found: Automatic) -> None:
    """Add what one claim asks for. entry: the RmdWorkload of that name."""
    if claim.problem:
        # What runs for it stays: the reason may pass.
        found.failed.append((claim.pod, claim.problem))
    elif entry is None:
        found.create.append(workload_of(claim, name.name))
    elif not _is_owned(entry, claim.pod):
        why = f"RmdWorkload {name} exists and is not this pod's: rename one of the two."
        found.failed.append((claim.pod, why))
    elif not _means_the_same(entry, claim.spec):
        found.change.append((entry.object, {**entry.object, "spec": claim.spec}))


def _is_owned(entry: Declared | None, pod: Mapping[str, Any]) -> bool:
    owner = entry.pod if entry else None
    return owner is not None and owner["uid"] == pod["metadata"]["uid"]


def _means_the_same(entry: Declared, spec: Obj) -> bool:
    """Whether an object asks for this already, in whichever version's words."""
    wanted = read({"metadata": entry.object["metadata"], "spec": spec})
    here = replace(entry, object=wanted.object, problem=wanted.problem, rival=None)
    return here == wanted and entry.nodes({}, {}) == wanted.nodes({}, {})
