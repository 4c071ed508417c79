# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which CPUs a container has, by the report of the node's agent. Pure.

The CPU manager's state is what the kubelet decided. Where it cannot be read, the container's cgroup
is what the kernel does, but looks the same for a container that shares its CPUs with others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._errors import EnablementError
from ..._json import part
from ..._nodes.cpuset import parse_cores, to_ranges

_STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")


def exclusive_cores(
    report: Mapping[str, Any], pod: Mapping[str, Any], container: str, count: int
) -> tuple[int, ...]:
    """The CPUs that only this container has; count: how many it was given. Raises EnablementError,
    which says why not.

    report: the agent's. pod: a Pod that runs on its node.
    """
    node, uid = report.get("node", ""), pod["metadata"]["uid"]
    manager = report.get("cpu_manager")
    if manager is not None:
        if manager.get("policy") != "static":
            raise _none(
                container,
                node,
                f"its CPU manager's policy is {manager.get('policy')}",
                "set policy static",
            )
        text = part(manager, "entries", uid).get(container)
        if text is None:
            raise _none(
                container,
                node,
                "its CPU manager has given it none of its own",
                "start the pod anew",
            )
        return parse_cores([text])
    text = part(report, "cgroups", uid).get(_container_id(pod, container))
    if text is None:
        todo = "see the problems that the agent reports"
        raise _none(
            container,
            node,
            "neither the CPU manager's state nor its cgroup can be read there",
            todo,
        )
    cores = parse_cores([text])
    if len(cores) != count:
        why = f"its cgroup allows {to_ranges(cores)}, which are {len(cores)} and not {count} CPUs"
        raise _none(container, node, why, "set the CPU manager's policy static")
    return cores


def _container_id(pod: Mapping[str, Any], container: str) -> str:
    """Without its scheme, whatever the runtime ("containerd://", "cri-o://")."""
    status = part(pod, "status")
    entries = [
        entry
        for field in _STATUSES
        for entry in status.get(field) or []
        if entry.get("name") == container
    ]
    return str(entries[0].get("containerID") or "").rpartition("://")[2] if entries else ""


def _none(container: str, node: str, why: str, todo: str) -> EnablementError:
    what = f"Container {container} has no CPUs of its own that could be given cache"
    return EnablementError(what, where=f"node {node}" if node else "", why=why, todo=todo)
