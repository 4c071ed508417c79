# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who else sets fields of an object, by its managedFields. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._json import elements, parse_json
from .labels import FIELD_MANAGER, PART_OF_LABEL

Path = tuple[str, ...]

# Parts of Kubernetes itself, whose additions are no surprise.
_SYSTEM = ("kube-", "kubelet", "openshift-", "cluster-policy-controller")
_SHOWN = 3
# Tools that keep what a repository says in a cluster, by their field managers: argo-cd issue 20815 (Argo CD
# has two), and pkg/apis of fluxcd's kustomize-controller and helm-controller, which are called as their
# controllers.
_CLIENT_SIDE = "kubectl-client-side-apply"
_GITOPS = {
    "argocd-controller": "Argo CD",
    "argocd-application-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
}


def foreign_fields(obj: Mapping[str, Any]) -> str:
    """One line that names other managers and the fields that they alone set; "" when there are
    none."""
    entries = elements(obj, "metadata", "managedFields")
    others = [entry for entry in entries if is_foreign(entry)]
    if not others:
        return ""
    ours = _fields_of_ours(entries)
    return "; ".join(filter(None, (_note(entry, ours) for entry in others)))


def _fields_of_ours(entries: Sequence[Mapping[str, Any]]) -> set[Path]:
    """All fields that we set, in whatever way."""
    return {
        path
        for entry in entries
        if entry.get("manager") == FIELD_MANAGER
        for path in paths_of(entry.get("fieldsV1") or {})
    }


def _note(entry: Mapping[str, Any], ours: set[Path]) -> str:
    """Who sets which fields besides ours; "" for none."""
    theirs = [path for path in paths_of(entry.get("fieldsV1") or {}) if path not in ours]
    if not theirs:
        return ""
    names = sorted(map(readable, theirs))
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{entry.get('manager') or 'somebody'} also sets {', '.join(names[:_SHOWN])}{more}"


def is_foreign(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is of somebody who is neither we nor a part of Kubernetes."""
    manager = entry.get("manager") or ""
    return (
        manager != FIELD_MANAGER and not entry.get("subresource") and not is_of_kubernetes(manager)
    )


def gitops_tool(manager: str) -> str:
    """The tool that a field manager is of, if it sets again whatever its repository says; "" for none."""
    return _GITOPS.get(manager, "")


def deploys(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is of somebody who has applied our manifest of an object, as a folder of them has it:
    one that applies, and has set our label. A restore, or a person with an editor, does not apply."""
    manager = str(entry.get("manager") or "")
    applies = entry.get("operation") == "Apply" or manager in (_CLIENT_SIDE, *_GITOPS)
    fields = entry.get("fieldsV1") or {}
    return applies and ("f:metadata", "f:labels", f"f:{PART_OF_LABEL}") in paths_of(fields)


def gitops_tool_of(obj: Mapping[str, Any]) -> str:
    """The tool that applies an object from a repository; "" for none."""
    entries = elements(obj, "metadata", "managedFields")
    return next(filter(None, (gitops_tool(str(each.get("manager"))) for each in entries)), "")


def is_of_kubernetes(manager: str) -> bool:
    """Whether a field manager is a part of Kubernetes itself."""
    return manager.startswith(_SYSTEM)


def paths_of(fields: Mapping[str, Any], parent: Path = ()) -> Iterator[Path]:
    """The leaves of a fieldsV1 tree."""
    for key, below in fields.items():
        if key == ".":
            continue
        path = (*parent, key)
        if isinstance(below, Mapping) and any(name != "." for name in below):
            yield from paths_of(below, path)
        else:
            yield path


def readable(path: Path) -> str:
    """f:spec f:containers k:{"name":"a"} f:image -> spec.containers[a].image"""
    text = ""
    for part in path:
        mark, _colon, value = part.partition(":")
        if mark == "f":
            text += f".{value}" if text else value
        elif mark == "k":
            text += f"[{_keys(value)}]"
        else:
            text += f"[{value}]"
    return text


def _keys(value: str) -> str:
    """{"name":"a"} -> a"""
    try:
        return "/".join(str(entry) for entry in parse_json(value).values())
    except (ValueError, AttributeError):
        return value
