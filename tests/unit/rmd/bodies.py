# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers of daemons of both dialects, and workloads, for tests of what is pure."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import (
    decode,
    parse_topology,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
    Topology,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    Cache,
    RunningWorkload,
    Workload,
)

Obj = dict[str, Any]


def body(
    uuid: str = "w", cores: str = "1 2", *, dialect: Dialect = Dialect.V03, **more: Any
) -> Obj:
    """A workload as GET gives it; more: cache=(max, min), or any field of the answer."""
    most, least = more.pop("cache", (2, 2))
    cache = {"max": most, "min": least}
    shape: Obj = (
        {"rdt": {"cache": cache, "mba": {}}}
        if dialect is Dialect.V03
        else {"cache": cache, "pstate": {}}
    )
    common = {"id": "1", "status": "Successful", "cos_name": "COS2", "origin": "REST"}
    return {**common, "uuid": uuid, "core_ids": cores.split(), **shape, **more}


def running(uuid: str = "w", cores: str = "1 2", **more: Any) -> RunningWorkload:
    """The same, read."""
    return decode(body(uuid, cores, **more))


def workload(uuid: str = "w", *cores: int, most: int = 2, least: int = 2, **more: Any) -> Workload:
    """What is wanted: cores 1 and 2 and two guaranteed ways, unless said otherwise."""
    return Workload(uuid, cores or (1, 2), **{"cache": Cache(most, least), **more})


def l3_body(free: str = "4-9", ways: int = 11) -> Obj:
    """GET /v1/cache/l3 of a machine with two sockets of four CPUs each."""
    pools = {"guaranteed": free, "besteffort": "2-3", "shared": "1", "os": "0", "infra": "10"}
    return {
        "number": 2,
        "Caches": {
            str(socket): {
                "cache_id": socket,
                "NumWays": ways,
                "share_cpu_list": f"{4 * socket}-{4 * socket + 3}",
                "available_ways": "7ff",
                "available_ways_pool": pools,
            }
            for socket in (0, 1)
        },
    }


def topology(free: str = "4-9", mba: Any = None) -> Topology:
    """That machine."""
    return parse_topology(l3_body(free), mba)
