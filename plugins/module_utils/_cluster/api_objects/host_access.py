# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What pods mount of their node: that says what they do there, whatever they are called. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._json import Obj, elements, part

# /var/run is a link to /run.
_LINK, _LINKED = "/var/run/", "/run/"


def pod_spec(obj: Mapping[str, Any]) -> Obj:
    """The spec of a Pod, or of the pods that a workload makes."""
    template = part(obj, "spec", "template")
    return part(template, "spec") if template else part(obj, "spec")


def host_paths(spec: Mapping[str, Any]) -> dict[str, str]:
    """Volume -> the path of the node that it is, without a slash at its end."""
    volumes = {each.get("name"): part(each, "hostPath") for each in elements(spec, "volumes")}
    return {
        str(name): canonical(str(host["path"]))
        for name, host in volumes.items()
        if host.get("path")
    }


def written_paths(spec: Mapping[str, Any]) -> set[str]:
    """The paths of the node that a container mounts for writing."""
    paths = host_paths(spec)
    mounts = [
        mount
        for field in ("initContainers", "containers")
        for container in spec.get(field) or ()
        for mount in elements(container, "volumeMounts")
    ]
    return {
        paths[mount["name"]]
        for mount in mounts
        if not mount.get("readOnly") and mount.get("name") in paths
    }


def canonical(path: str) -> str:
    """A path of a node as the node itself has it."""
    path = f"{path.rstrip('/')}/"
    path = f"{_LINKED}{path[len(_LINK) :]}" if path.startswith(_LINK) else path
    return path.rstrip("/") or "/"
