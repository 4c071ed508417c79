# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who uses a node's devices, and what keeps a user from being evicted. Pure.

Rules of what may be evicted: kubectl drain (k8s.io/kubectl/pkg/drain/filters.go)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Optional

from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.labels import RECIPE_LABEL, summary_label
from .._cluster.api_objects.objects import ObjectKey
from .._json import elements, part
from .._nodes.taints import EXCHANGE, Taint, is_tolerated
from .._states.on_nodes.claiming_pods import CLAIM_STATUS
from .._states.on_nodes.holders import asked_for

_MIRROR = "kubernetes.io/config.mirror"
_ENDED = ("Succeeded", "Failed")
_CONTAINER: Mapping[str, Any] = {"resources": {}}
# What is read of a pod, and of thousands of them no more than that.
KEPT: Mapping[str, Any] = {
    "metadata": {
        "name": str,
        "namespace": str,
        "uid": str,
        "labels": {},
        "annotations": {_MIRROR: str},
        "deletionTimestamp": str,
        "finalizers": [str],
        "ownerReferences": [{"kind": str, "name": str, "controller": bool}],
    },
    "spec": {
        "nodeName": str,
        "runtimeClassName": str,
        "resourceClaims": [{"name": str}],
        "containers": [_CONTAINER],
        "initContainers": [_CONTAINER],
        "volumes": [{"hostPath": {"path": str}, "emptyDir": {}}],
        "tolerations": [{}],
    },
    "status": {"phase": str, **CLAIM_STATUS},
}


@dataclass(frozen=True)
class DeviceUse:
    """How a pod is known to use the devices: serves says whether an extended resource is theirs;
    runtime_classes, host_paths (in which * may stand) and dra_drivers are of pods that ask for
    none."""

    serves: Callable[[str], bool]
    runtime_classes: tuple[str, ...] = ()
    host_paths: tuple[str, ...] = ()
    dra_drivers: tuple[str, ...] = ()

    def reason(self, spec: Mapping[str, Any], *, claims: bool = False) -> str:
        """Why a pod is a user of the devices ("asks for example.com/gpu"), "" where it is none.
        claims: whether one of the DRA drivers' is reserved for it."""
        asked = sorted(filter(self.serves, asked_for(spec)))
        if asked:
            return f"asks for {', '.join(asked)}"
        if claims:
            return f"claims a device of {', '.join(self.dra_drivers)}"
        runtime = spec.get("runtimeClassName")
        if runtime and runtime in self.runtime_classes:
            return f"runs with runtime class {runtime}"
        paths = [
            str(part(volume, "hostPath").get("path", "")) for volume in elements(spec, "volumes")
        ]
        mounted = next((path for path in paths if self._is_device(path)), "")
        return f"mounts {mounted} of the node" if mounted else ""

    def _is_device(self, path: str) -> bool:
        return any(fnmatchcase(path.rstrip("/"), pattern) for pattern in self.host_paths)


@dataclass(frozen=True)
class DrainRules:
    """What may be evicted, in kubectl drain's words. whole_node: every pod leaves, not only users
    of the devices; force: pods that nobody makes again; daemonsets: pods of DaemonSets that use
    the devices; grace_period: seconds, None for each pod's own; timeout: seconds for all of it."""

    whole_node: bool = False
    force: bool = False
    delete_emptydir_data: bool = False
    daemonsets: bool = True
    grace_period: Optional[int] = None
    timeout: int = 600


@dataclass(frozen=True)
class DrainPolicy:
    """Who leaves a node, and who may be evicted. recipe, namespaces: its own pods, and where they
    are; these leave with their gates."""

    recipe: str
    namespaces: frozenset[str]
    use: DeviceUse
    rules: DrainRules

    @property
    def taint(self) -> Taint:
        """That of a node whose driver is exchanged."""
        return Taint(summary_label(self.recipe), EXCHANGE, "NoSchedule")

    def is_own(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod is the recipe's own."""
        return namespace in self.namespaces and labels.get(RECIPE_LABEL) == self.recipe


@dataclass(frozen=True)
class DeviceUser:
    """A pod that has to leave before the driver can. why: how it uses the devices. leaving: it is on
    its way out. obstacle: why it may not be evicted, "" where it may."""

    key: ObjectKey
    uid: str
    node: str
    labels: Mapping[str, str]
    why: str
    leaving: bool = False
    obstacle: str = ""

    def __str__(self) -> str:
        return f"{self.key.namespace}/{self.key.name}"


def device_users(
    pods: Iterable[Mapping[str, Any]], policy: DrainPolicy, claiming: Collection[str] = ()
) -> list[DeviceUser]:
    """The pods that have to leave their node, by name. claiming: uids of those that have claimed a
    device."""
    found = [_user(pod, policy, claims=pod["metadata"]["uid"] in claiming) for pod in pods]
    return sorted(filter(None, found), key=str)


def _user(pod: Mapping[str, Any], policy: DrainPolicy, *, claims: bool) -> DeviceUser | None:
    metadata, spec = pod["metadata"], part(pod, "spec")
    labels = part(metadata, "labels")
    if _has_ended(pod) or policy.is_own(metadata["namespace"], labels):
        return None
    owner = _owner(pod)
    mirrored = _MIRROR in part(metadata, "annotations")
    stays = mirrored or _is_of_daemonset(owner)
    why = policy.use.reason(spec, claims=claims)
    if not why and (stays or not policy.rules.whole_node):
        return None
    return DeviceUser(
        key=ObjectKey("v1", "Pod", metadata["namespace"], metadata["name"]),
        uid=metadata["uid"],
        node=spec.get("nodeName") or "",
        labels=labels,
        why=why or "is on the node",
        leaving=bool(metadata.get("deletionTimestamp")),
        obstacle=_obstacle(spec, owner, policy, mirrored=mirrored),
    )


def _has_ended(pod: Mapping[str, Any]) -> bool:
    return part(pod, "status").get("phase") in _ENDED


def _owner(pod: Mapping[str, Any]) -> str:
    found = controller_of(pod)
    return f"{found['kind']} {found['name']}" if found else ""


def _is_of_daemonset(owner: str) -> bool:
    return owner.startswith("DaemonSet ")


def _obstacle(spec: Mapping[str, Any], owner: str, policy: DrainPolicy, *, mirrored: bool) -> str:
    """Why a pod may not be evicted, "" where it may."""
    rules = policy.rules
    if mirrored:
        return "it is a static pod of the kubelet: take its manifest off the node"
    if _is_of_daemonset(owner):
        if not rules.daemonsets:
            return f"it belongs to {owner}, and drain.daemonsets is off"
        if is_tolerated(policy.taint, elements(spec, "tolerations")):
            return f"{owner} tolerates every taint and would come back: let it tolerate less, or keep it off the node"
        return ""
    if not owner and not rules.force:
        return "nobody makes it again: end it, or set drain.force"
    if not rules.delete_emptydir_data and any(map(_keeps_data, elements(spec, "volumes"))):
        return "it has data in an emptyDir: set drain.delete_emptydir_data"
    return ""


def _keeps_data(volume: Mapping[str, Any]) -> bool:
    """Whether a volume's data ends with the pod; shared memory is nothing that anybody keeps."""
    return "emptyDir" in volume and (volume["emptyDir"] or {}).get("medium") != "Memory"
