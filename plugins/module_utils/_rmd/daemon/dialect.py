# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The JSON of RMD v0.2 (flat) and v0.3 (nested), and how to tell which one a daemon speaks. Pure.

There is no version endpoint. A daemon ignores fields that it does not know, so the wrong dialect is
not refused as such; but every workload that it lists has the shape of its own dialect, and a body
without any parameters is refused in words that differ (https://github.com/intel/rmd,
modules/workload/workload.go, validate)."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..._errors import InvalidInput
from ..._json import Obj, part
from ..._nodes.cpuset import parse_cores, to_strings
from ..nodes.node_machine import L3, Dialect, MbaSupport, RmdPolicy, Topology
from ..workloads import (
    BESTEFFORT,
    GUARANTEED,
    PARTS,
    SHARED,
    TEXTS,
    Cache,
    RunningWorkload,
    Workload,
    in_groups,
)

# Refused by both, before anything is looked up or set: it names no parameter.
PROBE: Obj = {"core_ids": ["0"]}
_PROBED = {
    "No RDT/Plugins params in workload": "v0.3",
    "No Cache neither PState params in workload": "v0.2",
}
# What the daemon adds to a workload. The id stays: RMD takes one that is given, so a restored
# workload is the same.
_OF_THE_DAEMON = ("status", "cos_name", "origin")


def of_workloads(bodies: Sequence[Mapping[str, Any]]) -> Optional[Dialect]:
    """The dialect by the shape of what a daemon lists; None where that says nothing."""
    for body in bodies:
        if "rdt" in body or "plugins" in body:
            return Dialect.V03
        if "cache" in body or "pstate" in body:
            return Dialect.V02
    return None


def of_refusal(text: str) -> Optional[Dialect]:
    """The dialect by what a daemon says to PROBE; None where it says something else."""
    return next((Dialect(version) for words, version in _PROBED.items() if words in text), None)


def encode(workload: Workload, dialect: Dialect) -> Obj:
    """The body of a POST; cores one by one. Raises InvalidInput for what a dialect cannot say."""
    wanted = workload.effective()
    body: Obj = {"uuid": wanted.uuid, "core_ids": to_strings(wanted.cores), **wanted.texts()}
    parts = wanted.parts()
    if dialect is Dialect.V03:
        return {**body, **in_groups(parts)}
    if "mba" in parts:
        raise InvalidInput(
            f"Cannot ask for workload {workload.uuid}",
            why="RMD v0.2 knows no memory bandwidth allocation",
            todo="leave mba out, or deploy RMD v0.3",
        )
    return {**body, **parts}


def decode(body: Mapping[str, Any]) -> RunningWorkload:
    """A workload from a list or an answer, in either dialect. What cannot be read counts as not
    set."""
    texts: Obj = {name: _text(body, name) for name in TEXTS}
    workload = Workload(_text(body, "uuid"), _cores(body.get("core_ids")), **texts, **_parts(body))
    return RunningWorkload(
        id=_text(body, "id"),
        status=_text(body, "status"),
        cos_name=_text(body, "cos_name"),
        origin=_text(body, "origin"),
        workload=workload,
        body=dict(body),
        has_more=_has_more(body, workload),
    )


def _parts(body: Mapping[str, Any]) -> Obj:
    """What a body says of each of PARTS, in either dialect."""
    nested = "rdt" in body or "plugins" in body
    found: Obj = {}
    for name, kind in PARTS.items():
        place = _mapping(body.get(kind.group)) if nested else body
        found[name] = kind.read(_mapping(place.get(name)), _READERS)
    return found


def _has_more(body: Mapping[str, Any], workload: Workload) -> bool:
    """Whether it has tasks, or parameters of plugins that no policy of it has brought."""
    others = set(_mapping(body.get("plugins"))) - {"pstate"}
    return bool(body.get("task_ids") or (others and not workload.policy))


def _text(body: Mapping[str, Any], name: str) -> str:
    return str(body.get(name) or "")


def restorable(body: Mapping[str, Any]) -> Obj:
    """The body of a POST that brings a workload back as it was, with its id; cores one by one."""
    kept = {key: value for key, value in body.items() if key not in _OF_THE_DAEMON}
    if kept.get("core_ids"):
        kept["core_ids"] = to_strings(parse_cores([str(item) for item in kept["core_ids"]]))
    return kept


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _cores(items: Any) -> tuple[int, ...]:
    with contextlib.suppress(InvalidInput):
        return parse_cores([str(item) for item in items or []])
    return ()


def number(value: Any) -> Optional[int]:
    """A whole number, which RMD v0.2 may write as a string; None for anything else."""
    with contextlib.suppress(TypeError, ValueError):
        return int(value)
    return None


def _fraction(value: Any) -> Optional[float]:
    with contextlib.suppress(TypeError, ValueError):
        return float(value)
    return None


_READERS = {"int": number, "float": _fraction, "str": lambda value: str(value) if value else None}


# The daemon's own names of pools.
_POOLS = {
    "guaranteed": GUARANTEED,
    "besteffort": BESTEFFORT,
    "shared": SHARED,
    "infra": "infra",
    "os": "os",
}


def parse_topology(l3: Mapping[str, Any], mba: Optional[Mapping[str, Any]] = None) -> Topology:
    """From GET /v1/cache/l3 and, if it was asked for, GET /v1/mba."""
    caches = [_cache(str(name), info) for name, info in part(l3, "Caches").items()]
    return Topology(
        tuple(sorted(caches, key=lambda cache: (len(cache.id), cache.id))),
        _mba(mba) if mba else None,
    )


def parse_policies(body: Mapping[str, Any]) -> dict[str, RmdPolicy]:
    """From GET /v1/policy; RMD v0.2 writes its numbers as strings."""
    return {
        name: _policy(parameters)
        for name, parameters in body.items()
        if isinstance(parameters, Mapping)
    }


def _cache(name: str, info: Mapping[str, Any]) -> L3:
    pools = part(info, "available_ways_pool")
    available = 0
    with contextlib.suppress(ValueError):
        available = int(str(info.get("available_ways") or "0"), 16)
    return L3(
        id=name,
        cores=_list(info.get("share_cpu_list")),
        ways=number(info.get("NumWays")) or 0,
        available=available,
        pools={
            ours: _list(pools.get(theirs)) for theirs, ours in _POOLS.items() if theirs in pools
        },
    )


def _list(text: Any) -> tuple[int, ...]:
    """A list such as "0-3,8"; empty where it is none, since what a daemon says must not end a run."""
    with contextlib.suppress(InvalidInput):
        return parse_cores([str(text or "")])
    return ()


def _mba(found: Mapping[str, Any]) -> MbaSupport:
    on = bool(found.get("mba"))
    return MbaSupport(
        supported=on,
        enabled=bool(found.get("mba_enable", on)),
        step=number(found.get("mba_step")),
        least=number(found.get("mba_min")),
    )


def _policy(parameters: Mapping[str, Any]) -> RmdPolicy:
    cache = parameters.get("cache")
    values = (
        {str(name).lower(): number(value) for name, value in cache.items()}
        if isinstance(cache, Mapping)
        else {}
    )
    most, least = values.get("max"), values.get("min")
    return RmdPolicy(
        Cache(most, least) if most is not None and least is not None else None, dict(parameters)
    )
