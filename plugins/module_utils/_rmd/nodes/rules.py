# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules of RMD and the kernel, looked at before anything is sent: some requests crash RMD, and a
refused one may cost a working one.

Pure. What only the daemon knows (its free classes of service, its plugins, its MBA mode) it says
itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from ..._nodes.cpuset import to_ranges
from ..rmd_errors import Refusal
from ..workloads import BESTEFFORT, GUARANTEED, PARTS, SHARED, Cache, Mba, RunningWorkload, Workload
from .actions import Action, Delete, Post, Replace, changes, posted_by, removed_by, uuid_of
from .node_machine import L3, UNKNOWN, Dialect, Machine, Policies, Topology
from .node_writer import NodeWriter
from .report_fields import Report, bandwidth_of, reserved_of

# What is wrong: (kind, sentence).
Found = Iterator[tuple[str, str]]

LARGEST_MBPS = 4294967290
# RMD has no limit for these; they end up in results, annotations and names of groups.
LONGEST_UUID = 253


def senseless(workload: Workload, others: Iterable[Workload] = ()) -> list[Refusal]:
    """What neither RMD nor the kernel would take on any machine. others: as problems takes it."""
    return _refusals(
        [
            *_of_names(workload),
            *_of_parameters(workload.effective()),
            *_of_others(workload, others),
        ]
    )


def problems(
    workload: Workload,
    machine: Machine = UNKNOWN,
    report: Optional[Report] = None,
    others: Iterable[Workload] = (),
) -> list[Refusal]:
    """What RMD or the kernel would refuse or take back, or RMD crash on.

    report: the node's agent's. others: what shares the node with it, without an older self of it.
    Rules of what is not known of the machine, or without a report, are left out.
    """
    wanted = workload.effective()
    found = [
        *_of_writer(wanted, machine.dialect),
        *_of_policy(workload, machine.policies),
        *_of_machine(wanted, machine.topology),
        *_of_node(wanted, machine.dialect, report or {}),
    ]
    return [*senseless(workload, others), *_refusals(found)]


def rounding(workload: Workload, report: Report) -> str:
    """What the kernel makes of a workload's memory bandwidth; "" for nothing else."""
    mba = workload.effective().mba
    step = bandwidth_of(report).get("step") or 1
    if mba is None or not mba.percentage or not mba.percentage % step:
        return ""
    most = -(-mba.percentage // step) * step
    return (
        f"workload {workload.uuid} asks for {mba.percentage} percent of memory bandwidth, of which the kernel makes"
        f" {most}: its step is {step}"
    )


def capacity(actions: Sequence[Action], machine: Machine) -> list[Refusal]:
    """Whether the guaranteed pool of each cache can hold what a node's actions ask for, after what
    they free.

    Only what cannot fit at all is a problem: whether the free ways lie side by side the daemon
    alone knows.
    """
    if machine.topology is None:
        return []
    removed = [running.workload for running in removed_by(actions) if running.is_enforced]
    found = []
    for cache in machine.topology.caches:
        freed = _guaranteed(removed, cache, machine.policies)
        taken = _guaranteed(posted_by(actions), cache, machine.policies)
        free = cache.free(GUARANTEED) + sum(ways for _uuid, ways in freed)
        asked = sum(ways for _uuid, ways in taken)
        if asked > free:
            names = ", ".join(uuid for uuid, _ways in taken)
            text = f"cache {cache.id} has {free} guaranteed ways to give, and {names} would take {asked}"
            found.append(Refusal("no_cache", text))
    return found


def unchangeable(actions: Sequence[Action]) -> list[Refusal]:
    """Workloads that would have to be changed, and that RMD lets nobody change over REST."""
    return [
        Refusal("foreign_origin", f'workload {old.uuid or old.id} is of origin "{old.origin}"')
        for old in removed_by(actions)
        if not old.is_changeable
    ]


def leftover_warning(running: RunningWorkload, dialect: Optional[Dialect]) -> str:
    """What RMD does wrong when it deletes this workload; "" for nothing that is known."""
    if dialect is not Dialect.V03 or not running.has_range:
        return ""
    return (
        f"workload {running.uuid or running.id} was made with a range of cores, which RMD v0.3 does not free when it"
        f" deletes it: cores {to_ranges(running.workload.cores)} stay in {running.cos_name or 'their group'} with all"
        " ways, and core 0 is moved instead; restart the daemon when the node is idle"
    )


def _of_names(workload: Workload) -> Found:
    uuid = workload.uuid
    if not uuid or len(uuid) > LONGEST_UUID or uuid.split() != [uuid]:
        text = f'"{uuid}" cannot name a workload (1 to {LONGEST_UUID} characters without spaces)'
        yield "bad_request", text
    if not workload.cores:
        yield "no_cores", f"workload {uuid} names no core"


def _of_parameters(wanted: Workload) -> Found:
    if wanted.policy:
        return
    if wanted.cache is None and wanted.pstate is None and wanted.mba is None:
        yield "no_parameters", f"workload {wanted.uuid} asks for nothing"
    if wanted.cache is not None and (not wanted.cache.pool or wanted.cache.min < 0):
        least, most = wanted.cache.min, wanted.cache.max
        text = f"workload {wanted.uuid} asks for at most {most} and at least {least} ways"
        yield "bad_range", text
    yield from _of_choices(wanted)
    if wanted.mba is not None:
        yield from _of_mba(wanted, wanted.mba)


def _of_choices(wanted: Workload) -> Found:
    for name, said in wanted.parts().items():
        for each, value in said.items():
            parameter = PARTS[name].parameters()[each]
            if parameter["choices"] and value not in parameter["choices"]:
                title = parameter["title"]
                yield "plugin_refused", f'workload {wanted.uuid} asks for {title} "{value}"'


def _of_writer(wanted: Workload, dialect: Optional[Dialect]) -> Found:
    """What is against RMD's rules, or, where no RMD is, needs one."""
    if dialect is Dialect.RESCTRL:
        yield from _of_rmd_alone(wanted)
    elif wanted.mba is not None:
        yield from _of_mba_with_rmd(wanted, wanted.mba, dialect)


def _of_rmd_alone(wanted: Workload) -> Found:
    if wanted.policy:
        yield (
            "rmd_alone",
            f'workload {wanted.uuid} asks for policy "{wanted.policy}", which only RMD has',
        )
    if wanted.pstate is not None:
        yield "rmd_alone", f"workload {wanted.uuid} asks for P-states, which only RMD sets"


def _of_mba(wanted: Workload, mba: Mba) -> Found:
    prefix = f"workload {wanted.uuid} asks for mba"
    if mba.percentage is not None and mba.mbps is not None:
        yield "mba_mode", f"{prefix} in both units"
    for value, most in ((mba.percentage, 100), (mba.mbps, LARGEST_MBPS)):
        if value is not None and not 1 <= value <= most:
            yield "mba_range", f"{prefix} {value}, which is not from 1 to {most}"


def _of_mba_with_rmd(wanted: Workload, mba: Mba, dialect: Optional[Dialect]) -> Found:
    prefix = f"workload {wanted.uuid} asks for mba"
    if dialect is Dialect.V02:
        yield "mba_unsupported", f"{prefix}, which RMD v0.2 does not know"
    pool = wanted.cache.pool if wanted.cache else None
    has_all = mba.percentage == 100 or mba.mbps == LARGEST_MBPS
    if pool is None:
        yield "mba_unsupported", f"{prefix} without cache"
    elif pool == SHARED or (pool == BESTEFFORT and not has_all):
        yield "mba_unsupported", f"{prefix} with {pool} cache"


def _of_others(workload: Workload, others: Iterable[Workload]) -> Found:
    for other in others:
        if both := set(workload.cores).intersection(other.cores):
            text = f"core {to_ranges(both)} of workload {workload.uuid} belongs to workload {other.uuid or '(unnamed)'}"
            yield "conflict_core", text


def _of_policy(workload: Workload, policies: Optional[Policies]) -> Found:
    if policies is not None and workload.policy and workload.policy not in policies:
        known = ", ".join(sorted(policies)) or "none"
        yield "policy_unknown", f'the node has no policy "{workload.policy}" (it has: {known})'


def _of_machine(wanted: Workload, topology: Optional[Topology]) -> Found:
    if topology is None:
        return
    if unknown := set(wanted.cores) - topology.cores:
        has = to_ranges(topology.cores) or "none"
        text = f"workload {wanted.uuid} names core {to_ranges(unknown)}, and the node has {has}"
        yield "unknown_core", text
    for cache in topology.owners(wanted.cores):
        if wanted.cache is not None and wanted.cache.max > cache.ways:
            text = f"workload {wanted.uuid} asks for {wanted.cache.max} ways, and cache {cache.id} has {cache.ways}"
            yield "no_cache", text
    if wanted.mba is not None and topology.mba is not None and not topology.mba.supported:
        text = f"workload {wanted.uuid} asks for mba, which the node's CPU does not have"
        yield "mba_unsupported", text


def _of_node(wanted: Workload, dialect: Optional[Dialect], report: Report) -> Found:
    """What the node's kernel, and RMD on it, would make of it."""
    both = reserved_of(report).intersection(wanted.cores)
    if dialect is Dialect.V02 and wanted.cache and both:
        text = (
            f"core {to_ranges(both)} of workload {wanted.uuid} is the operating system's (option os_cpus), and RMD v0.2"
            " takes it back"
        )
        yield "os_core", text
    least = bandwidth_of(report).get("least") or 0
    if wanted.mba is not None and 0 < (wanted.mba.percentage or 0) < least:
        text = (
            f"workload {wanted.uuid} asks for {wanted.mba.percentage} percent of memory bandwidth, and the kernel gives"
            f" {least} at least"
        )
        yield "mba_range", text


def _refusals(found: Iterable[tuple[str, str]]) -> list[Refusal]:
    return [Refusal(kind, why) for kind, why in found]


def _guaranteed(
    workloads: Iterable[Workload], owner: L3, policies: Optional[Policies]
) -> list[tuple[str, int]]:
    """(uuid, ways) of the workloads that take ways of the guaranteed pool of a cache."""
    found = []
    for workload in workloads:
        cache = _cache_of(workload, policies or {})
        here = not set(workload.cores).isdisjoint(owner.cores)
        if here and cache is not None and cache.pool == GUARANTEED:
            found.append((workload.uuid, cache.max))
    return found


def _cache_of(workload: Workload, policies: Policies) -> Optional[Cache]:
    """The cache that a workload asks for, itself or by a policy that is known."""
    known = policies.get(workload.policy)
    return known.cache if known is not None else workload.cache


def machine_for(
    actions: Sequence[Action], writer: NodeWriter, *, may_write: bool = False
) -> Machine:
    """What the rules need to know for these actions; asks the writer for no more than that.
    may_write: as the writer takes it."""
    adding = posted_by(actions)
    if not adding:
        return Machine(dialect=writer.dialect)
    return writer.machine(
        mba=any(workload.mba for workload in adding),
        policies=any(workload.policy for workload in adding),
        may_write=may_write,
    )


def check(
    actions: Sequence[Action], running: Iterable[RunningWorkload], machine: Machine, report: Report
) -> tuple[list[Action], dict[str, Refusal]]:
    """The actions to send, Keeps included, and by uuid why the others are not. Pure.

    report: the agent's, {} for none."""
    there = list(running)
    refused: dict[str, Refusal] = {}
    while True:
        # A replacement that is refused leaves its old self, which may be in others' way: so look
        # again.
        more = _first_refused(actions, there, machine, report, refused)
        if not more:
            return [action for action in actions if uuid_of(action) not in refused], refused
        refused |= more


def _first_refused(
    actions: Sequence[Action],
    running: Sequence[RunningWorkload],
    machine: Machine,
    report: Report,
    refused: dict[str, Refusal],
) -> dict[str, Refusal]:
    """The first action that is refused, given those that are already; nothing if there is none."""
    left = [action for action in changes(actions) if uuid_of(action) not in refused]
    others = _staying(running, left)
    sent: list[Action] = [action for action in left if isinstance(action, Delete)]
    for action in left:
        found = unchangeable([action])
        if not found and isinstance(action, (Post, Replace)):
            sent.append(action)
            found = problems(action.workload, machine, report, others) or capacity(sent, machine)
            others.append(action.workload)
        if found:
            return {uuid_of(action): found[0]}
    return {}


def _staying(running: Iterable[RunningWorkload], actions: Iterable[Action]) -> list[Workload]:
    """What runs and is neither removed nor replaced by these actions."""
    removed = {old.id for old in removed_by(actions)}
    return [found.workload for found in running if found.id not in removed]
