# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find somebody else who already serves the same devices, or does what the recipe does, before the
first write."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._cluster.api_objects.controller_references import controller_of
from ..._cluster.api_objects.host_access import canonical, host_paths, pod_spec, written_paths
from ..._cluster.api_objects.labels import PART_OF_LABEL, RECIPE_LABEL, TAKEN_OVER_LABEL
from ..._cluster.api_objects.objects import ObjectKey, key_of
from ..._cluster.applyset import applyset_id
from ..._errors import EnablementError
from ..._json import Obj, elements, part
from ..._nodes.discovery import Discovery
from ..._nodes.facts import NodeFacts
from ..._nodes.node_affinity import NodeAffinity
from ..._nodes.selectors import label_selector
from ..._recipes.loading.recipe import Recipe, Rival
from ..record.crd import GROUP, KIND

# Where every device plugin opens its socket (kubelet/pkg/apis/deviceplugin/v1beta1/constants.go,
# DevicePluginPath).
PLUGIN_FOLDER = "/var/lib/kubelet/device-plugins"


_NAMED = 3


# The device plugins of others, in whatever namespace; recipes say what else they look for.
RIGHTS = (Right("apps", ("daemonsets",), ("list",), CLUSTER, read_only=("list",)),)


@dataclass(frozen=True)
class RivalContext:
    """Whom a recipe shares a cluster with. own: the objects that it makes or takes over. nodes: gives
    the nodes that have the hardware. adopt: who only looks like a rival by what it does may stay, by a
    person's word."""

    own: Callable[[], Collection[ObjectKey]]
    nodes: Callable[[], Sequence[NodeFacts]]
    adopt: bool


def refuse_rivals(
    client: Client, recipe: Recipe, options: Mapping[str, Any], beside: RivalContext
) -> None:
    """Raise EnablementError where a rival of the recipe runs that counts with these options; what is
    scaled to nothing, has ended, or is being taken over, does not."""
    rivals = recipe.devices.rivals
    counting = [rival for rival in rivals if not rival.enabled or options[rival.enabled]]
    there = [(rival, _running(client, rivals, rival, beside)) for rival in counting]
    found = [text for _rival, texts in there for text in texts]
    if not found:
        return
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    raise EnablementError(
        f"Somebody else in this cluster does what {recipe.name} is to do",
        where=f"{', '.join(found[:_NAMED])}{more}",
        why="two would undo each other's work",
        todo=_instead([rival for rival, texts in there if texts]),
    )


def _instead(rivals: Sequence[Rival]) -> str:
    """What to do about them, all of which run."""
    switches = sorted({rival.enabled for rival in rivals if rival.enabled})
    ways = ["end or remove the other one first"]
    if len(switches) == 1:
        ways.append(f"leave it to that one ({switches[0]}=false)")
    if all(rival.host_paths for rival in rivals):
        ways.append("set adopt (hardware_enablement_adopt) where both may be")
    return ", or ".join(ways)


def _running(
    client: Client, rivals: Sequence[Rival], rival: Rival, beside: RivalContext
) -> list[str]:
    """The objects of a rival, one of the recipe's, that count, in words."""
    if rival.host_paths and beside.adopt:
        return []
    there = [obj for obj in _of_rival(client, rival) if _runs(obj)]
    if not rival.host_paths:
        return [str(key_of(obj)) for obj in there]
    found = _writing(there, rival)
    if not found:
        return []
    own, nodes = beside.own(), beside.nodes()
    return [
        f"{key_of(obj)}, which writes to {written} of the nodes"
        for obj, written in found
        if not _is_of_ours(obj, rivals, own) and any(_may_run(obj, node) for node in nodes)
    ]


def _writing(objects: Iterable[Obj], rival: Rival) -> list[tuple[Obj, str]]:
    """Those whose pods write to a path of the rival, and to which."""
    paths = set(map(canonical, rival.host_paths))
    found = [(obj, paths & written_paths(pod_spec(obj))) for obj in objects]
    return [(obj, " and ".join(sorted(written))) for obj, written in found if written]


def _is_of_ours(obj: Obj, rivals: Sequence[Rival], own: Collection[ObjectKey]) -> bool:
    """Whether an object is the recipe's, made or to be taken over, or of another special resource,
    which is refused where they share nodes; or goes with a rival of the recipe's."""
    return _is_of_a_record(obj) or key_of(obj) in own or _is_owned_by_rival(obj, rivals)


def _is_owned_by_rival(obj: Obj, rivals: Sequence[Rival]) -> bool:
    """Whether an object was made of a custom resource that is a rival itself: that one is named, or
    is being taken over."""
    kinds = {(rival.api_version.rpartition("/")[0], rival.kind) for rival in rivals}
    owner = controller_of(obj)
    return (str(owner.get("apiVersion")).rpartition("/")[0], owner.get("kind")) in kinds


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
    resources: Sequence[str], discovery: Discovery, plugins: Callable[[], Sequence[Obj]]
) -> None:
    """Raise EnablementError where nodes already offer the recipe's resources before we ever enabled
    it.

    plugins: gives the DaemonSets of other device plugins.
    """
    served = sorted(
        name
        for name, amounts in discovery.resources.items()
        if amounts.get("allocatable", 0)
        and any(fnmatchcase(name, pattern) for pattern in resources)
    )
    if served:
        raise _served_twice(
            f"{', '.join(served)} is already served on these nodes by something that is not ours",
            [str(key_of(daemonset)) for daemonset in plugins()],
        )


def refuse_rival_plugins(resources: Sequence[str], names: Sequence[str]) -> None:
    """Raise EnablementError where there are DaemonSets of others that serve the recipe's resources
    beside ours."""
    if names:
        raise _served_twice(
            f"{', '.join(resources)} is served on these nodes by another device plugin, too",
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
    found = client.list(client.kind("apps/v1", "DaemonSet")).items
    others = [each for each in found if is_plugin(each) and not _is_of_a_record(each)]
    return sorted(others, key=lambda daemonset: str(key_of(daemonset)))


def _is_of_a_record(obj: Obj) -> bool:
    """Whether an object is in the ApplySet of a SpecialResource: other tools have ApplySets, too."""
    labels = part(obj["metadata"], "labels")
    own = applyset_id(str(labels.get(RECIPE_LABEL)), "", KIND, GROUP)
    return labels.get(PART_OF_LABEL) == own


def is_plugin(manifest: Obj) -> bool:
    """Whether an object is a DaemonSet whose pods mount the kubelet's device plugin folder."""
    paths = host_paths(pod_spec(manifest)).values() if manifest["kind"] == "DaemonSet" else ()
    return PLUGIN_FOLDER in paths


def rivals_of(
    ours: Sequence[Obj],
    others: Sequence[Obj],
    resources: Sequence[str],
    nodes: Callable[[], Sequence[NodeFacts]],
) -> list[str]:
    """The names of other device plugins that serve what ours do, on nodes that ours serve.

    A DaemonSet does not say which resource it serves. It is taken to serve the recipe's where it
    names one of them (command, arguments, environment), or runs an image of ours, whatever its
    registry and tag.

    ours, others: DaemonSets; nodes: gives the nodes that ours serve.
    """
    images = {_image_name(container) for plugin in ours for container in _containers(plugin)}
    named, own = _naming(resources), {key_of(plugin) for plugin in ours}

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


def _containers(daemonset: Obj) -> list[Obj]:
    return list(elements(pod_spec(daemonset), "containers"))


def _image_name(container: Obj) -> str:
    """The last two parts of an image's path: nvidia/k8s-device-plugin, whatever mirror it comes
    from."""
    path = str(container.get("image") or "").partition("@")[0]
    *folders, last = path.split("/")
    return "/".join([*folders[-1:], last.partition(":")[0]])


def _texts(container: Obj) -> str:
    values = [entry.get("value") or "" for entry in elements(container, "env")]
    return "\n".join(
        map(str, [*elements(container, "command"), *elements(container, "args"), *values])
    )


def _may_run(daemonset: Obj, node: NodeFacts) -> bool:
    """Whether a DaemonSet's pods may run on a node, by its labels and its name."""
    return NodeAffinity.of(pod_spec(daemonset)).takes(node.labels, node.name)
