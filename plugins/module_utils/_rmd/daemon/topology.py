# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a node's daemon says of its caches, pools, policies and memory bandwidth. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Optional

from ..._errors import InvalidInput
from ..._json import part
from ..._nodes.cpuset import parse_cores
from ..nodes.node_machine import L3, MbaSupport, RmdPolicy, Topology
from ..workloads import BESTEFFORT, GUARANTEED, SHARED, Cache
from .dialect import number

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
