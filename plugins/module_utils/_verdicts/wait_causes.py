# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why an object that is being deleted is still there, or why a definition is not served, in its own
words: conditions, finalizers, grace period, owner. Pure.

Sources: kubernetes/pkg/controller/namespace/deletion/status_condition_utils.go (conditions of
namespaces), apiextensions-apiserver/pkg/controller/finalizer/crd_finalizer.go (of definitions)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from .._json import Obj, elements, part
from .conditions import condition

_DISCOVERY = "NamespaceDeletionDiscoveryFailure"
# Which conditions of a namespace, where they are True, say what holds it, and what to do then; the
# first counts for the advice.
_OF_NAMESPACES: Mapping[str, str] = {
    _DISCOVERY: "mend or delete the APIService that is not available (kubectl get apiservices)",
    "NamespaceDeletionGroupVersionParsingFailure": "mend or delete the APIService that is named",
    "NamespaceDeletionContentFailure": "mend what refuses to delete these objects",
    "NamespaceFinalizersRemaining": "see that the controllers run which take these finalizers off",
    "NamespaceContentRemaining": "see what keeps these objects",
}
# API groups with versions in what a namespace says of discovery: metrics.k8s.io/v1beta1.
_GROUP_VERSION = re.compile(r"\b([a-z0-9-]+(?:\.[a-z0-9-]+)+)/(v\d+(?:(?:alpha|beta)\d+)?)\b")


@dataclass(frozen=True)
class WaitCause:
    """What an object waits for: why is half a sentence, todo what a person does about it. by_itself:
    nothing says so far that it does not pass without a person."""

    why: str
    todo: str
    by_itself: bool = False


# What finalizers of Kubernetes itself wait for.
_OF_KUBERNETES: Mapping[str, WaitCause] = {
    "foregroundDeletion": WaitCause(
        "what it owns is deleted first",
        "see which of its pods stay, and whether their nodes are Ready",
        by_itself=True,
    ),
    "orphan": WaitCause(
        "what it owns is let go first",
        "see that kube-controller-manager runs, whose garbage collector does so",
        by_itself=True,
    ),
    "kubernetes.io/pvc-protection": WaitCause("a pod uses it", "end the pods that use it"),
    "kubernetes.io/pv-protection": WaitCause(
        "a PersistentVolumeClaim is bound to it", "delete that claim"
    ),
}


def deletion_cause(obj: Obj) -> WaitCause:
    """Why an object is still there whose deletion was asked for."""
    found = (cause(obj) for cause in _CAUSES)
    return next(filter(None, found), None) or _under_way(obj)


def unserved_cause(definition: Obj) -> WaitCause:
    """Why a CustomResourceDefinition is not served: its deletion, a name that another one has, a
    schema, or nothing that it would say."""
    if definition["metadata"].get("deletionTimestamp"):
        return deletion_cause(definition)
    names = condition(definition, "NamesAccepted") or {}
    if names.get("status") == "False":
        return WaitCause(
            f"its names are not accepted: {_words(names)}",
            "delete the CustomResourceDefinition that has these names, then run again",
        )
    return WaitCause(
        "the API server has not established it yet",
        "see whether the API server is healthy, then run again",
        by_itself=True,
    )


def _of_namespace(obj: Obj) -> Optional[WaitCause]:
    if (obj.get("apiVersion"), obj.get("kind")) != ("v1", "Namespace"):
        return None
    found = {kind: condition(obj, kind) or {} for kind in _OF_NAMESPACES}
    true = {kind: _words(each) for kind, each in found.items() if each.get("status") == "True"}
    if not true:
        return None
    first = next(iter(true))
    services = _api_services(true[first]) if first == _DISCOVERY else ""
    todo = f"mend or delete APIService {services}" if services else _OF_NAMESPACES[first]
    return WaitCause("; ".join(true.values()), f"{todo}; then it goes by itself")


def _of_definition(obj: Obj) -> Optional[WaitCause]:
    if obj.get("kind") != "CustomResourceDefinition":
        return None
    found = condition(obj, "Terminating") or {}
    if found.get("status") != "True":
        return None
    return WaitCause(
        f"its custom resources are deleted first: {_words(found)}",
        f"see what keeps them: kubectl get {obj['metadata']['name']} --all-namespaces",
    )


def _of_finalizers(obj: Obj) -> Optional[WaitCause]:
    names = elements(obj["metadata"], "finalizers")
    others = [name for name in names if name not in _OF_KUBERNETES]
    if others:
        many = len(others) > 1
        return WaitCause(
            f"finalizer{'s' if many else ''} {', '.join(others)} hold{'' if many else 's'} it{_owner(obj)}",
            f"see that the controller runs which takes {'them' if many else 'it'} off",
        )
    return _OF_KUBERNETES[names[0]] if names else None


def _of_pod(obj: Obj) -> Optional[WaitCause]:
    node, until = part(obj, "spec").get("nodeName"), obj["metadata"].get("deletionTimestamp")
    if obj.get("kind") != "Pod" or not node or not until:
        return None
    return WaitCause(
        f"the kubelet of node {node} has until {until} to end it",
        f"see whether node {node} is Ready",
        by_itself=True,
    )


# The first that knows something decides.
_CAUSES: Sequence[Callable[[Obj], Optional[WaitCause]]] = (
    _of_namespace,
    _of_definition,
    _of_finalizers,
    _of_pod,
)


def _words(found: Obj) -> str:
    return str(found.get("message") or found.get("reason") or "no reason given")


def _api_services(text: str) -> str:
    """The names of the APIServices of all group versions in a text: v1beta1.metrics.k8s.io."""
    found = dict.fromkeys(f"{version}.{group}" for group, version in _GROUP_VERSION.findall(text))
    return ", ".join(found)


def _under_way(obj: Obj) -> WaitCause:
    asked = obj["metadata"].get("deletionTimestamp")
    why = f"its deletion is under way since {asked}" if asked else "its deletion has not begun"
    return WaitCause(why, "see that kube-controller-manager runs", by_itself=True)


def _owner(obj: Obj) -> str:
    """Whom an object belongs to, whose controller may be the one that is waited for."""
    owners = elements(obj["metadata"], "ownerReferences")
    found = next((each for each in owners if each.get("controller")), None)
    return f", which belongs to {found.get('kind')} {found.get('name')}" if found else ""
