# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""RmdWorkloads, running workloads and pods for tests."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.dialect import decode
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.workload_spec import (
    Declared,
    read,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.workloads import (
    RunningWorkload,
)

NOW = 1_800_000_000.0
NOW_TEXT = "2027-01-15T08:00:00Z"
LATER_TEXT = "2027-01-15T08:00:01Z"
CACHE = {
    "coreIds": ["0", "1", "2", "3"],
    "cache": {"max": 2, "min": 2},
    "nodes": ["worker-node-1", "worker-node-2"],
}


def declared(
    name: str = "web",
    namespace: str = "default",
    *,
    spec: dict[str, Any] | None = None,
    created: str = "2026-01-01T00:00:00Z",
    deleted: bool = False,
    status: dict[str, Any] | None = None,
) -> Declared:
    """An RmdWorkload, read."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "creationTimestamp": created,
        "generation": 1,
    }
    if deleted:
        metadata["deletionTimestamp"] = created
    return read(
        {"metadata": metadata, "spec": CACHE if spec is None else spec, "status": status or {}}
    )


def running(
    uuid: str = "web", *, cores: str = "0 1 2 3", ways: int = 2, number: int = 1, **more: Any
) -> RunningWorkload:
    """A workload as RMD v0.2 lists it."""
    body = {
        "id": str(number),
        "uuid": uuid,
        "core_ids": cores.split(),
        "cache": {"max": ways, "min": ways},
        "status": "Successful",
        "cos_name": f"{'_'.join(cores.split())}-guarantee",
        "origin": "REST",
        **more,
    }
    return decode(body)


def pod(
    *containers: dict[str, Any], annotations: dict[str, str] | None = None, **status: Any
) -> dict[str, Any]:
    """A pod that runs on worker-node-1."""
    return {
        "metadata": {
            "name": "pod-1",
            "namespace": "team",
            "uid": "uid-1",
            "annotations": annotations or {},
        },
        "spec": {"nodeName": "worker-node-1", "containers": list(containers)},
        "status": {"phase": "Running", "qosClass": "Guaranteed", **status},
    }


def container(name: str = "nginx1", cpu: str = "3", ways: str = "2") -> dict[str, Any]:
    """A container that asks for cache ways, or with ways "" for none."""
    resources = {
        "cpu": cpu,
        "memory": "64Mi",
        **({"intel.com/l3_cache_ways": ways} if ways else {}),
    }
    return {"name": name, "resources": {"limits": resources, "requests": resources}}


def report(**entries: str) -> dict[str, Any]:
    """An agent's report: container name to the CPUs that the CPU manager has given it in pod uid-1."""
    manager = {"policy": "static", "entries": {"uid-1": entries}}
    return {"schema": 3, "node": "worker-node-1", "cpu_manager": manager, "cgroups": {}}
