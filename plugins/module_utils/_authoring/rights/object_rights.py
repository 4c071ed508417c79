# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rights that a recipe's objects need: to write them, and to grant what they grant. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._cluster.api_client.rights import CLUSTER, OPERANDS, READ, WRITE, Right
from ..._cluster.api_objects.kinds import plural_of
from ..._cluster.definitions import kinds_in
from ..._recipes.checking.api_types import ApiTypes
from ..._recipes.checking.made import Made

_ROLES = ("Role", "ClusterRole")
_RBAC = "rbac.authorization.k8s.io"


def object_rights(objects: Sequence[Made], types: ApiTypes, namespace: str) -> Iterator[Right]:
    """Rights on every kind that is made. An object elsewhere than in the namespace needs them in
    the whole cluster."""
    own_roles = {
        made.manifest["metadata"]["name"] for made in objects if made.manifest["kind"] in _ROLES
    }
    for made in objects:
        yield from _rights_of(made, types, namespace, own_roles)


def _rights_of(made: Made, types: ApiTypes, namespace: str, own_roles: set[str]) -> Iterator[Right]:
    manifest, metadata = made.manifest, made.manifest["metadata"]
    api_version, kind = str(manifest["apiVersion"]), str(manifest["kind"])
    group = api_version.rpartition("/")[0]
    known = types.kind(api_version, kind)
    plural = known.plural if known else plural_of(kind)
    here = metadata.get("namespace") == namespace
    scope = OPERANDS if here else CLUSTER
    # Names of objects in the namespace say nothing more than the namespace does, but for what
    # grants rights.
    is_named = not made.per_group and (not here or group == _RBAC)
    names = (metadata["name"],) if is_named else ()
    yield Right(group, (plural,), READ, scope, read_only=READ if kind != "Secret" else ())
    yield Right(group, (plural,), WRITE, scope, names)
    if kind == "Route":
        yield Right(group, ("routes/custom-host",), ("create", "patch"), scope)
    if group == _RBAC:
        yield from _granted(manifest, scope, own_roles)
    if kind == "CustomResourceDefinition":
        # Who removes it has to see whose objects would go with it.
        for brought in kinds_in(manifest):
            yield Right(brought.group, (brought.plural,), ("list",), CLUSTER, read_only=("list",))


def _granted(manifest: Mapping[str, Any], scope: str, own_roles: set[str]) -> Iterator[Right]:
    """An API server lets nobody grant what they do not have.

    Who makes a role needs its rules, and may then bind it; a role of somebody else's may be bound
    by its name.
    """
    for rule in manifest.get("rules") or ():
        for group in rule.get("apiGroups") or ():
            names = tuple(rule.get("resourceNames") or ())
            yield Right(
                group,
                tuple(rule.get("resources") or ()),
                tuple(rule.get("verbs") or ()),
                scope,
                names,
            )
    role = manifest.get("roleRef")
    if role and role.get("name") not in own_roles:
        plural = "clusterroles" if role.get("kind") == "ClusterRole" else "roles"
        where = CLUSTER if plural == "clusterroles" else scope
        yield Right(_RBAC, (plural,), ("bind",), where, (str(role.get("name")),))
