# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From rights to Roles and ClusterRoles, in a stable order, and to what binds them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Optional

from ..._cluster.api_client.rights import CLUSTER, LOCKS, OPERANDS, Right
from ..._cluster.api_objects.labels import LOCK_NAMESPACE
from ..._json import Obj

_API_VERSION = "rbac.authorization.k8s.io/v1"
_GROUP = "rbac.authorization.k8s.io"
# As people list them.
_VERBS = (
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
    "bind",
    "escalate",
    "use",
)


@dataclass(frozen=True)
class Subject:
    """Whom a role is bound to."""

    kind: Literal["User", "Group", "ServiceAccount"]
    name: str
    namespace: Optional[str] = None


def cluster_roles(rights: Sequence[Right], name: str) -> list[Obj]:
    """Two ClusterRoles that are enough in whatever namespace: NAME-viewer only looks, NAME-runner
    writes.

    Where names follow the namespace they cannot be known, so objects are named only where that is
    no question: roles that may be bound, and CRDs.
    """
    found = []
    for role, chosen in _roles(rights):
        wide = [right if _keeps_names(right) else _without_names(right) for right in chosen]
        found.append(_manifest("ClusterRole", f"{name}-{role}", "", rules(wide)))
    return found


def namespaced_roles(rights: Sequence[Right], name: str, namespace: Obj) -> list[Obj]:
    """The namespaces, and in each a Role; a ClusterRole for the rest only. NAME-viewer looks,
    NAME-runner writes.

    namespace: that of the operands, as the recipe wants it, since a run uses no other one that is
    there.
    """
    operands = namespace["metadata"]["name"]
    locks: Obj = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": LOCK_NAMESPACE}}
    found: list[Obj] = [namespace] if operands == LOCK_NAMESPACE else [namespace, locks]
    for role, chosen in _roles(rights):
        existing = [_on_existing(right) for right in chosen]
        by_scope = {
            scope: [each for each in existing if each.scope == scope]
            for scope in (CLUSTER, OPERANDS, LOCKS)
        }
        found.append(_manifest("ClusterRole", f"{name}-{role}", "", rules(by_scope[CLUSTER])))
        found.append(_manifest("Role", f"{name}-{role}", operands, rules(by_scope[OPERANDS])))
        found.append(_manifest("Role", f"{name}-{role}", LOCK_NAMESPACE, rules(by_scope[LOCKS])))
    return found


def bindings(
    roles: Iterable[Mapping[str, Any]], subjects: Sequence[Subject], role: str
) -> list[Obj]:
    """What gives the roles whose name ends like that to the subjects."""
    found = []
    for manifest in roles:
        metadata, kind = manifest["metadata"], manifest["kind"]
        if kind.endswith("Role") and metadata["name"].endswith(f"-{role}"):
            binding = {
                "apiVersion": _API_VERSION,
                "kind": f"{kind}Binding",
                "metadata": dict(metadata),
                "roleRef": {"apiGroup": _GROUP, "kind": kind, "name": metadata["name"]},
                "subjects": [_reference(subject) for subject in subjects],
            }
            found.append(binding)
    return found


def rules(rights: Iterable[Right]) -> list[Obj]:
    """The shortest list of rules that grants these rights and no other."""
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = defaultdict(set)
    for right in rights:
        for resource in right.resources:
            for name in right.names or ("",):
                verbs[right.group, resource, (name,) if name else ()] |= set(right.verbs)
    # What may be done to all objects of a kind need not be said of one, nor a kind be named of which
    # nothing else may be done than of all kinds of its group.
    needed = {
        key: found - (verbs.get((*key[:2], ()), set()) if key[2] else set())
        for key, found in verbs.items()
        if key[1] == "*" or not found <= verbs.get((key[0], "*", ()), set())
    }
    return _merged(needed)


def _merged(verbs: Mapping[tuple[str, str, tuple[str, ...]], set[str]]) -> list[Obj]:
    """Objects of one resource, then resources of one group, that may be treated alike, in one rule."""
    names: dict[tuple[str, str, tuple[str, ...], bool], set[str]] = defaultdict(set)
    for (group, resource, named), found in verbs.items():
        if found:
            names[group, resource, _in_order(found), bool(named)] |= set(named)
    resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], set[str]] = defaultdict(set)
    for (group, resource, found_verbs, _is_named), found in names.items():
        resources[group, found_verbs, tuple(sorted(found))].add(resource)
    merged = []
    for (group, found_verbs, found_names), found in sorted(
        resources.items(), key=lambda item: _sorting(*item)
    ):
        rule: Obj = {"apiGroups": [group], "resources": sorted(found)}
        if found_names:
            rule["resourceNames"] = list(found_names)
        merged.append({**rule, "verbs": list(found_verbs)})
    return merged


def _sorting(
    key: tuple[str, tuple[str, ...], tuple[str, ...]], resources: set[str]
) -> tuple[str, list[str], Any]:
    return key[0], sorted(resources), key[1:]


def _roles(rights: Sequence[Right]) -> list[tuple[str, list[Right]]]:
    return [
        ("viewer", [right.to_read_only() for right in rights if right.read_only]),
        ("runner", list(rights)),
    ]


def _keeps_names(right: Right) -> bool:
    return "bind" in right.verbs or "customresourcedefinitions" in right.resources


def _on_existing(right: Right) -> Right:
    """The namespaces are there already: a run labels them, and neither makes nor removes them."""
    kept = tuple(verb for verb in right.verbs if verb not in ("create", "delete"))
    return replace(right, verbs=kept) if right.resources == ("namespaces",) else right


def _without_names(right: Right) -> Right:
    return replace(right, names=())


def _in_order(verbs: Iterable[str]) -> tuple[str, ...]:
    return tuple(
        sorted(
            verbs, key=lambda verb: (_VERBS.index(verb) if verb in _VERBS else len(_VERBS), verb)
        )
    )


def _manifest(kind: str, name: str, namespace: str, found: list[Obj]) -> Obj:
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": metadata, "rules": found}


def _reference(subject: Subject) -> Obj:
    """A subject as a binding names it."""
    found = {key: value for key, value in asdict(subject).items() if value}
    return found if subject.kind == "ServiceAccount" else {"apiGroup": _GROUP, **found}
