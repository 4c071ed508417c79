# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes OpenShift's Machine Config Operator is at, or has to leave alone: no exchange begins there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from ..._cluster.api_client.client import Client
from ..._json import Obj, elements, part
from ..preparation.platform import machine_config_objects

# How the operator tells a node what it is to become, and how it calls that (openshift/machine-config-operator,
# pkg/daemon/constants and pkg/controller/render).
_DESIRED = "machineconfiguration.openshift.io/desiredConfig"
_RENDERED = re.compile(r"rendered-(.+)-[0-9a-f]{32}")
_FRESH_S = 10.0


def pool_of(annotations: Mapping[str, str]) -> str:
    """The MachineConfigPool of a node, by its annotations; "" where it is of none."""
    found = _RENDERED.fullmatch(annotations.get(_DESIRED, ""))
    return found[1] if found else ""


def held_pools(pools: Iterable[Obj]) -> dict[str, str]:
    """Name of a MachineConfigPool on whose nodes nothing is begun -> why."""
    found = {pool["metadata"]["name"]: _why_held(pool) for pool in pools}
    return {name: why for name, why in found.items() if why}


def _why_held(pool: Obj) -> str:
    name, status = pool["metadata"]["name"], part(pool, "status")
    if part(pool, "spec").get("paused"):
        return f"MachineConfigPool {name} is paused"
    updating = {"type": "Updating", "status": "True"}
    if not any(updating.items() <= each.items() for each in elements(status, "conditions")):
        return ""
    done, count = status.get("updatedMachineCount", 0), status.get("machineCount", 0)
    return f"MachineConfigPool {name} is updating, {done} of {count} machines are done"


class MachineConfigPools:
    """Those of a cluster, read again after some seconds. None on other clusters than OpenShift."""

    def __init__(self, client: Client, clock: Callable[[], float]) -> None:
        """clock: seconds since any moment."""
        self._client = client
        self._clock = clock
        self._held: dict[str, str] = {}
        self._read_at = float("-inf")

    def why_held(self, annotations: Mapping[str, str]) -> str:
        """Why nothing is begun on a node now, by its annotations; "" where something may be."""
        pool, now = pool_of(annotations), self._clock()
        if not pool:
            return ""
        if now - self._read_at >= _FRESH_S:
            self._held = held_pools(machine_config_objects(self._client, "MachineConfigPool"))
            self._read_at = now
        return self._held.get(pool, "")
