# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent of the recipe intel-rmd says of a simulated machine, always up to date."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any, cast

from tests.rmd.fleet import Fleet
from tests.rmd.resctrl import ROOT
from tests.rmd.server import RmdServer

# Seconds between two looks, which is how long somebody waits who does not see what he expects.
INTERVAL_S = 0.05


def report_of(server: RmdServer, node: str = "n1", **more: Any) -> dict[str, Any]:
    """A report, schema 3; more: fields that are otherwise."""
    machine, pools = server.machine, server.settings.pools
    groups = {
        "" if name == ROOT else name: {
            "cpus_list": found["cpus_list"],
            "schemata": {
                resource: {str(cache): value for cache, value in values.items()}
                for resource in ("L3", "MB")
                if (values := cast("dict[int, object]", found[resource]))
            },
        }
        for name, found in server.node.resctrl.dump().items()
    }
    bandwidth = {"least": machine.mba_min, "step": machine.mba_step} if machine.mba_closids else {}
    closids = {"L3": machine.closids, "MB": machine.mba_closids}
    return {
        "schema": 3,
        "time": "2026-01-01T00:00:00Z",
        "node": node,
        "cpu_manager": None,
        "cgroups": {},
        "l3": {str(cache): machine.share_list(cache) for cache in machine.caches},
        "resctrl": {
            "mounted": True,
            "num_closids": {name: number for name, number in closids.items() if number},
            "cbm_mask": f"{machine.full:x}",
            "min_cbm_bits": machine.min_cbm_bits,
            "bandwidth": bandwidth,
            "groups": groups,
        },
        "pools": {
            "os": pools.os,
            "guaranteed": pools.guarantee,
            "besteffort": pools.besteffort,
            "shared": pools.shared,
            "infra": pools.infra,
            "os_cpus": pools.os_cpus,
        },
        "interval": INTERVAL_S,
        "problems": [],
        **more,
    }


class Reports:
    """The logs of a fleet's agents, as files FOLDER/NODE that follow the trees."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        self._fleet = fleet
        self._folder = folder
        self._more: dict[str, dict[str, Any]] = {}
        self._mute: set[str] = set()
        folder.mkdir(parents=True, exist_ok=True)
        for node, server in fleet.servers.items():
            server.node.resctrl.on_change = partial(self._write, node)
            self._write(node)

    def tell(self, node: str, **more: Any) -> None:
        """Have these fields otherwise from now on."""
        self._more.setdefault(node, {}).update(more)
        self._write(node)

    def mute(self, node: str, *, silent: bool = True) -> None:
        """Let a node's agent say nothing, or speak again."""
        (self._mute.add if silent else self._mute.discard)(node)
        self._write(node)

    def _write(self, node: str) -> None:
        found = report_of(self._fleet[node], node, **self._more.get(node, {}))
        unfinished = self._folder / f".{node}"
        unfinished.write_text("" if node in self._mute else f"{json.dumps(found)}\n")
        unfinished.replace(self._folder / node)
