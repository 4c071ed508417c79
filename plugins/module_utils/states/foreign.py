# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find somebody else who already serves the same devices, before the first write."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import PART_OF_LABEL
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.discovery import Discovery
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe

Obj = dict[str, Any]

# Where every device plugin opens its socket (kubelet/pkg/apis/deviceplugin/v1beta1/constants.go, DevicePluginPath).
PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"


def refuse_foreign_plugin(client: Client, recipe: Recipe, discovery: Discovery) -> None:
    """Raise EnablementError where nodes already offer the recipe's resources before we ever enabled it."""
    served = sorted(
        name
        for name, amounts in discovery.resources.items()
        if amounts.get("allocatable", 0) and any(fnmatchcase(name, pattern) for pattern in recipe.resources)
    )
    if not served:
        return
    names = ", ".join(_plugins(client)) or "not a DaemonSet of this cluster"
    raise EnablementError(
        f"{', '.join(served)} is already served on these nodes by something that is not ours",
        where=names,
        why="two device plugins for one resource take the devices from each other",
        todo="remove the other one first, or set adopt (hardware_enablement_adopt in the playbooks)",
    )


def _plugins(client: Client) -> list[str]:
    """The DaemonSets, not ours, that mount the kubelet's device plugin folder."""
    kind = client.kind("apps/v1", "DaemonSet")
    found = []
    for daemonset in client.list(kind, labels=f"!{PART_OF_LABEL}").items:
        metadata = daemonset["metadata"]
        volumes = daemonset["spec"]["template"]["spec"].get("volumes") or []
        if any(str((v.get("hostPath") or {}).get("path", "")).rstrip("/") == PLUGIN_FOLDER for v in volumes):
            found.append(f"DaemonSet {metadata['namespace']}/{metadata['name']}")
    return sorted(found)
