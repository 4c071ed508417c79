# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find somebody else who already serves the same devices, or does what the recipe does, before the first write."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import PART_OF_LABEL
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import key_of
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.rights import CLUSTER, Right
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.discovery import Discovery
from ansible_collections.hardware.enablement.plugins.module_utils.nodes.selectors import label_selector
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.model import Recipe, Rival

Obj = dict[str, Any]

# Where every device plugin opens its socket (kubelet/pkg/apis/deviceplugin/v1beta1/constants.go, DevicePluginPath).
PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"


_NAMED = 3


# The device plugins of others, in whatever namespace; recipes say what else they look for.
RIGHTS = (Right("apps", ("daemonsets",), ("list",), CLUSTER, look=("list",)),)


def refuse_rivals(client: Client, recipe: Recipe) -> None:
    """Raise EnablementError where a rival of the recipe runs; what is scaled to nothing, or has ended, does not."""
    found = [str(key_of(obj)) for rival in recipe.rivals for obj in _of_rival(client, rival) if _runs(obj)]
    if not found:
        return
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    raise EnablementError(
        f"Somebody else in this cluster does what {recipe.name} is to do",
        where=f"{', '.join(found[:_NAMED])}{more}",
        why="two would undo each other's work",
        todo="end or remove the other one first",
    )


def _of_rival(client: Client, rival: Rival) -> list[Obj]:
    if not client.serves(rival.api_version, rival.kind):
        return []
    fields = f"metadata.name={rival.name}" if rival.name else None
    labels = label_selector(rival.labels) or None
    return client.list(client.kind(rival.api_version, rival.kind), labels=labels, fields=fields).items


def _runs(obj: Obj) -> bool:
    ended = (obj.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended and (obj.get("spec") or {}).get("replicas") != 0


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
