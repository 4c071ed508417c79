# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a removal took away, what it leaves in the cluster and why, and how a person removes that
too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.change_report import count_kinds, count_nodes, name_some
from ..._cluster.api_objects.labels import LOCK_NAMESPACE, PART_OF_LABEL
from ..._cluster.api_objects.objects import ObjectKey, key_of
from ..._json import Obj, elements
from ..preparation.prepare import Prepared
from ..record import record_spec
from ..record.crd import NAME as CRD_NAME
from ..record.crd import RECORD
from .prune import DEFINITION

# Namespaces of the cluster itself, of which nothing need be said.
_OF_THE_CLUSTER = ("default", "kube-", "openshift")
# So many are named instead of counted.
_FEW = 3


@dataclass(frozen=True)
class KeepReason:
    """An object that stays. todo: what removes it; "" where nobody should."""

    key: ObjectKey
    reason: str
    todo: str = ""

    def __str__(self) -> str:
        todo = f"; to remove it: {self.todo}" if self.todo else ""
        return f"stays: {self.key}, {self.reason}{todo}"


def find_kept(
    client: Client, prepared: Prepared, record: Mapping[str, Any] | None, going: Set[ObjectKey]
) -> list[KeepReason]:
    """What stays of a recipe when it is removed. going: what is removed or given back."""
    found = [
        *_namespaces(client, prepared, record),
        *_definitions(client, prepared, record),
        *_dependencies(client, record),
        *_of_all_recipes(client, prepared),
    ]
    return [kept for kept in found if kept.key not in going]


def report_removal(
    removed: Sequence[ObjectKey],
    restored: Sequence[ObjectKey],
    nodes: Sequence[str] = (),
    kept: Sequence[KeepReason] = (),
    lost: Sequence[ObjectKey] = (),
    *,
    would: bool,
    named: bool,
) -> list[str]:
    """A removal in a few lines; none where nothing was removed. nodes: those that carried our
    labels. lost: what others had made and what went with the rest. named: whether to name each
    object."""
    remove, put = ("would remove", "would put") if would else ("removed", "put")
    lines = []
    if removed:
        lines += _report_objects(remove, removed, named=named)
    if nodes:
        lines.append(f"{remove} our labels and annotations of {count_nodes(nodes)}")
    if lost:
        most = len(lost) if named else _FEW
        lines.append(f"{remove} with it what others had made: {name_some(map(str, lost), most)}")
    if restored:
        lines.append(f"{put} back as it was before: {name_some(map(str, restored))}")
    if lines and kept:
        lines += [
            *map(str, kept),
            "stays: the labels of Node Feature Discovery on nodes, which are not ours",
        ]
    return lines


def _report_objects(remove: str, removed: Sequence[ObjectKey], *, named: bool) -> list[str]:
    few = len(removed) <= _FEW
    what = ", ".join(map(str, removed)) if few else count_kinds(removed)
    each = [f"  - {key}" for key in removed] if named and not few else []
    return [f"{remove} {what}", *each]


def _namespaces(
    client: Client, prepared: Prepared, record: Mapping[str, Any] | None
) -> list[KeepReason]:
    """The namespaces that held its objects and were there before; those that enabling made go."""
    names = {prepared.namespace, *record_spec.namespaces(record)}
    names -= set(record_spec.made_namespaces(record))
    names = {name for name in names if not name.startswith(_OF_THE_CLUSTER)}
    kind = client.kind("v1", "Namespace")
    return [
        KeepReason(
            ObjectKey("v1", "Namespace", "", name),
            "which was there before",
            f"see what is in it, then kubectl delete namespace {name}",
        )
        for name in sorted(names)
        if client.get(kind, name) is not None
    ]


def _definitions(
    client: Client, prepared: Prepared, record: Mapping[str, Any] | None
) -> list[KeepReason]:
    return [
        KeepReason(
            key_of(live),
            "since every object of its kind would go with it",
            "run with -e hardware_enablement_delete_definitions=true",
        )
        for live in brought_definitions(client, prepared, record)
    ]


def _dependencies(client: Client, record: Mapping[str, Any] | None) -> list[KeepReason]:
    """What was enabled before it, since it depends on it."""
    names = elements(record or {}, "spec", "depends")
    return [
        KeepReason(
            ObjectKey(RECORD.api_version, RECORD.kind, "", name),
            "which this one depends on",
            f"run disable with -e hardware_enablement_recipe={name}",
        )
        for name in names
        if client.get(RECORD, name) is not None
    ]


def brought_definitions(
    client: Client, prepared: Prepared, record: Mapping[str, Any] | None
) -> list[Obj]:
    """The CRDs that its states brought."""
    kinds = {kind for found in record_spec.state_kinds(record).values() for kind in found}
    if "/".join(DEFINITION) not in kinds:
        return []
    labels = f"{PART_OF_LABEL}={prepared.applyset_id}"
    return client.list(client.kind(*DEFINITION), labels=labels).items


def _of_all_recipes(client: Client, prepared: Prepared) -> list[KeepReason]:
    """The CRD of the record, and the namespace of locks."""
    served = client.serves(RECORD.api_version, RECORD.kind)
    names = {item["metadata"]["name"] for item in (client.list(RECORD).items if served else ())}
    others = name_some(names - {prepared.recipe.name})
    reason = f"needed by {others}" if others else "kept for the next run"
    found = {
        ObjectKey(*DEFINITION, "", CRD_NAME): "run with -e hardware_enablement_delete_crd=true",
        ObjectKey(
            "v1", "Namespace", "", LOCK_NAMESPACE
        ): f"kubectl delete namespace {LOCK_NAMESPACE}",
    }
    return [
        KeepReason(key, reason, "" if others else todo)
        for key, todo in found.items()
        if client.get(client.kind(key.api_version, key.kind), key.name) is not None
    ]
