# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node groups: nodes that share some facts. What a group is, how it is called, and which terms
select its nodes.

Facts are found (kernel with operating system and architecture, container runtime, preinstalled
driver, what serves the devices) or said (pool). Which of them count is what `per` names; the pool
counts wherever anything does."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Term = Mapping[str, Any]

# What nodes may be told apart by, in the order in which it is written.
FACETS = ("kernel", "os", "arch", "runtime", "driver", "allocation", "pool")
# What a group says of its nodes' software where a facet counts.
_FACTS = {
    "kernel": ("kernel", "kernel_label", "signed_only", "os_id", "os_version", "os_build", "arch"),
    "os": ("os_id", "os_version", "os_build"),
    "arch": ("arch",),
    "runtime": ("runtime", "runtime_major", "runtime_version"),
    "driver": (),
    "allocation": (),
    "pool": (),
}
# What such a fact looks like: kubelets and labels tell it, and it becomes part of names, images and
# build arguments.
FORMS = {
    "kernel": re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~:@-]{0,127}"),
    "os_id": re.compile(r"[A-Za-z0-9._+~-]{0,64}"),
    "os_version": re.compile(r"[A-Za-z0-9._+~-]{0,64}"),
    "os_build": re.compile(r"[A-Za-z0-9._+~-]{0,64}"),
    "arch": re.compile(r"[a-z0-9_]{1,32}"),
    "runtime": re.compile(r"[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?"),
    "runtime_major": re.compile(r"[0-9]{1,4}"),
    "runtime_version": re.compile(r"([0-9][A-Za-z0-9.+~-]{0,62})?"),
    "allocation": re.compile(r"([a-z]([a-z0-9-]{0,61}[a-z0-9])?)?"),
}
_SHOWN = 80
# The group of nodes of which all that counts is as it usually is: outside all pools, without a
# preinstalled driver.
DEFAULT = "default"
_LONGEST = 32


def normal(per: Sequence[str]) -> tuple[str, ...]:
    """The facets in their order, with the pool where there is any, and without what kernel
    includes."""
    named = {*per, "pool"} if per else set()
    if "kernel" in named:
        named -= {"os", "arch"}
    return tuple(facet for facet in FACETS if facet in named)


def odd_fact(facts: Any, per: Iterable[str] = FACETS) -> str:
    """Which fact of a node's, or of a group's, system that counts for these facets cannot be true, in half a
    sentence; "" for none."""
    for name in dict.fromkeys(name for facet in per for name in _FACTS[facet] if name in FORMS):
        value = str(getattr(facts, name))
        if not FORMS[name].fullmatch(value):
            shown = ascii(value if len(value) <= _SHOWN else f"{value[:_SHOWN]}...")
            return f"{name.replace('_', ' ')} is told as {shown}, which does not look like one"
    return ""


@dataclass(frozen=True)
class GroupSystem:
    """What software the nodes of a group run. kernel_label: the kernel as NFD writes it into a label.
    signed_only: whether one of the nodes says that it takes signed kernel modules only. os_build: of
    RHCOS, the newest among the nodes (one kernel may be part of several builds). runtime: the container
    runtime. runtime_version: its whole version, the lowest among the nodes, which is what they all can."""

    kernel: str = ""
    kernel_label: str = ""
    os_id: str = ""
    os_version: str = ""
    os_build: str = ""
    arch: str = ""
    runtime: str = ""
    runtime_version: str = ""
    signed_only: bool = False

    @property
    def runtime_major(self) -> str:
        """The first number of the container runtime's version."""
        return self.runtime_version.partition(".")[0]


@dataclass(frozen=True)
class NodeGroup:
    """One group. id: a DNS label of at most 32 characters, stable for the facts.

    per: the facets that count; facts of others are empty. preinstalled: whether the nodes bring
    their driver. allocation: by which way their devices are served, "" for the usual one. pool: "" for
    none. nodes: names, sorted. coming: those that an exchange would bring into it. by_name: facet ->
    names of the nodes that lack labels which would select them by it. terms: nodeSelectorTerms, any of
    which selects a node of the group. held: the same by labels of ours alone, for a node on which
    NFD's labels are gone.
    """

    id: str
    per: tuple[str, ...]
    system: GroupSystem = GroupSystem()
    preinstalled: bool = False
    allocation: str = ""
    pool: str = ""
    nodes: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()
    by_name: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    terms: tuple[Term, ...] = ()
    held: tuple[Term, ...] = ()

    @property
    def title(self) -> str:
        """The group as a person names it: "6.8.0-60-generic, pool a100, containerd 2, driver
        preinstalled"."""
        system = self.system
        parts = {
            "kernel": system.kernel,
            "os": f"{system.os_id} {system.os_version}".strip(),
            "arch": system.arch,
            "runtime": f"{system.runtime} {system.runtime_major}".strip(),
            "driver": "driver preinstalled" if self.preinstalled else "",
            "allocation": f"served by {self.allocation}" if self.allocation else "",
            "pool": f"pool {self.pool}" if self.pool else "",
        }
        return (
            ", ".join(parts[facet] for facet in FACETS if facet in self.per and parts[facet])
            or "others"
        )

    def narrowed(self, per: Sequence[str]) -> NodeGroup:
        """The coarser group that this one is a part of when only these facets count; nodes and
        terms stay behind.

        Raises ValueError where a facet is not known of this group.
        """
        wanted = normal(per)
        if missing := set(wanted) - {*self.per, *(("os", "arch") if "kernel" in self.per else ())}:
            raise ValueError(f"group {self.id} is not told apart by {', '.join(sorted(missing))}")
        counted = {name for facet in wanted for name in _FACTS[facet]}
        facts = {name: value for name, value in vars(self.system).items() if name in counted}
        found = NodeGroup(
            "",
            wanted,
            GroupSystem(**facts),
            preinstalled=self.preinstalled and "driver" in wanted,
            allocation=self.allocation if "allocation" in wanted else "",
            pool=self.pool if "pool" in wanted else "",
        )
        return replace(found, id=make_group_id(found))


def make_id(kernel: str, os_id: str, os_version: str, arch: str) -> str:
    """The id of a group by kernel alone: readable by its kernel, unique by a hash, fit for the name
    of any object."""
    return _id(kernel or "unknown", f"{kernel}|{os_id}|{os_version}|{arch}", 24)


def make_group_id(group: NodeGroup) -> str:
    """The id for the facts that count. What is as usual (no pool, no preinstalled driver) is no
    part of it."""
    per = group.per
    system = group.system
    names = [group.pool, "preinstalled" if group.preinstalled else "", group.allocation]
    if "runtime" in per:
        names.append(f"{system.runtime or 'unknown'}-{system.runtime_major}")
    if "kernel" in per and not any(names):
        return make_id(system.kernel, system.os_id, system.os_version, system.arch)
    if "kernel" in per:
        names.append(system.kernel)
    elif "os" in per:
        names.append(f"{system.os_id}-{system.os_version}")
    if "arch" in per:
        names.append(system.arch)
    readable = "-".join(name for name in names if name)
    if not readable:
        return DEFAULT
    facts = (
        system.kernel,
        system.os_id,
        system.os_version,
        system.arch,
        system.runtime,
        system.runtime_major,
    )
    special = (str(group.preinstalled), group.pool, *filter(None, [group.allocation]))
    return _id(readable, "|".join((*facts, *special)), _LONGEST - 7)


def _id(readable: str, facts: str, longest: int) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", readable.lower()).strip("-")[:longest].strip("-") or "unknown"
    return f"{stem}-{hashlib.sha256(facts.encode()).hexdigest()[:6]}"
