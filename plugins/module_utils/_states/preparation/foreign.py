# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find somebody else who already serves the same devices, or does what the recipe does, before the
first write."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._cluster.api_objects.labels import PART_OF_LABEL, TAKEN_OVER_LABEL
from ..._cluster.api_objects.objects import key_of
from ..._errors import EnablementError
from ..._json import Obj, part
from ..._nodes.discovery import Discovery
from ..._nodes.facts import NodeFacts
from ..._nodes.node_affinity import NodeAffinity
from ..._nodes.selectors import label_selector
from ..._recipes.loading.recipe import Recipe, Rival

# Where every device plugin opens its socket (kubelet/pkg/apis/deviceplugin/v1beta1/constants.go,
# DevicePluginPath).
PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"


_NAMED = 3


# The device plugins of others, in whatever namespace; recipes say what else they look for.
RIGHTS = (Right("apps", ("daemonsets",), ("list",), CLUSTER, read_only=("list",)),)


def refuse_rivals(client: Client, recipe: Recipe, options: Mapping[str, Any]) -> None:
    """Raise EnablementError where a rival of the recipe runs that counts with these options; what is
    scaled to nothing, has ended, or is being taken over, does not."""
    found = [
        str(key_of(obj))
        for rival in recipe.rivals
        if not rival.enabled or options[rival.enabled]
        for obj in _of_rival(client, rival)
        if _runs(obj)
    ]
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
    return client.list(
        client.kind(rival.api_version, rival.kind), labels=labels, fields=fields
    ).items


def _runs(obj: Obj) -> bool:
    ended = part(obj, "status").get("phase") in ("Succeeded", "Failed")
    taken_over = TAKEN_OVER_LABEL in part(obj["metadata"], "labels")
    return not (ended or taken_over) and part(obj, "spec").get("replicas") != 0


def refuse_foreign_plugin(
    recipe: Recipe, discovery: Discovery, plugins: Callable[[], Sequence[Obj]]
) -> None:
    """Raise EnablementError where nodes already offer the recipe's resources before we ever enabled
    it.

    plugins: gives the DaemonSets of other device plugins.
    """
    served = sorted(
        name
        for name, amounts in discovery.resources.items()
        if amounts.get("allocatable", 0)
        and any(fnmatchcase(name, pattern) for pattern in recipe.resources)
    )
    if served:
        raise _served_twice(
            f"{', '.join(served)} is already served on these nodes by something that is not ours",
            [str(key_of(daemonset)) for daemonset in plugins()],
        )


def refuse_rival_plugins(recipe: Recipe, names: Sequence[str]) -> None:
    """Raise EnablementError where there are DaemonSets of others that serve the recipe's resources
    beside ours."""
    if names:
        raise _served_twice(
            f"{', '.join(recipe.resources)} is served on these nodes by another device plugin, too",
            names,
        )


def _served_twice(what: str, names: Sequence[str]) -> EnablementError:
    remove = (
        "remove the other one first" if names else f"end what has a socket in {PLUGIN_FOLDER} there"
    )
    return EnablementError(
        what,
        where=", ".join(names) or "not a DaemonSet of this cluster",
        why="two device plugins for one resource take the devices from each other",
        todo=f"{remove}, or set adopt (hardware_enablement_adopt in the playbooks)",
    )


def foreign_plugins(client: Client) -> list[Obj]:
    """The DaemonSets, not ours, that mount the kubelet's device plugin folder."""
    found = client.list(client.kind("apps/v1", "DaemonSet"), labels=f"!{PART_OF_LABEL}").items
    return sorted(filter(is_plugin, found), key=lambda daemonset: str(key_of(daemonset)))


def is_plugin(manifest: Obj) -> bool:
    """Whether an object is a DaemonSet whose pods mount the kubelet's device plugin folder."""
    volumes = _pod(manifest).get("volumes") or [] if manifest["kind"] == "DaemonSet" else []
    return any(
        str(part(volume, "hostPath").get("path", "")).rstrip("/") == PLUGIN_FOLDER
        for volume in volumes
    )


def rivals_of(
    ours: Sequence[Obj],
    others: Sequence[Obj],
    recipe: Recipe,
    nodes: Callable[[], Sequence[NodeFacts]],
) -> list[str]:
    """The names of other device plugins that serve what ours do, on nodes that ours serve.

    A DaemonSet does not say which resource it serves. It is taken to serve the recipe's where it
    names one of them (command, arguments, environment), or runs an image of ours, whatever its
    registry and tag.

    ours, others: DaemonSets; nodes: gives the nodes that ours serve.
    """
    images = {_image_name(container) for plugin in ours for container in _containers(plugin)}
    named, own = _naming(recipe.resources), {key_of(plugin) for plugin in ours}

    def serves_ours(plugin: Obj) -> bool:
        return any(
            _image_name(each) in images or named.search(_texts(each))
            for each in _containers(plugin)
        )

    found = [plugin for plugin in others if key_of(plugin) not in own and serves_ours(plugin)]
    there = nodes() if found else []
    return [
        str(key_of(plugin)) for plugin in found if any(_may_run(plugin, node) for node in there)
    ]


def _naming(resources: Iterable[str]) -> re.Pattern[str]:
    """What finds the name of a resource in a text, whatever its asterisks stand for."""
    patterns = [re.escape(name).replace(r"\*", "[A-Za-z0-9._-]+") for name in resources]
    return re.compile(rf"(?<![A-Za-z0-9.-])(?:{'|'.join(patterns)})(?![A-Za-z0-9._-])")


def _pod(daemonset: Obj) -> Obj:
    return part(daemonset, "spec", "template", "spec")


def _containers(daemonset: Obj) -> list[Obj]:
    return list(_pod(daemonset).get("containers") or [])


def _image_name(container: Obj) -> str:
    """The last two parts of an image's path: nvidia/k8s-device-plugin, whatever mirror it comes
    from."""
    path = str(container.get("image") or "").partition("@")[0]
    *folders, last = path.split("/")
    return "/".join([*folders[-1:], last.partition(":")[0]])


def _texts(container: Obj) -> str:
    values = [entry.get("value") or "" for entry in container.get("env") or []]
    return "\n".join(
        map(str, [*(container.get("command") or []), *(container.get("args") or []), *values])
    )


def _may_run(daemonset: Obj, node: NodeFacts) -> bool:
    """Whether a DaemonSet's pods may run on a node, by its labels and its name."""
    return NodeAffinity.of(_pod(daemonset)).takes(node.labels, node.name)
