# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Find what states of a special resource own in the cluster, by labels and without any local
memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import KEPT_ANNOTATION, PART_OF_LABEL, STATE_LABEL
from ..._cluster.api_objects.objects import ObjectKey
from ..._cluster.applyset import owned
from ..._json import Obj, part
from ..preparation.prepare import Prepared
from ..record import record_spec


def was_kept(namespace: Mapping[str, Any], applyset_id: str) -> bool:
    """Whether enabling had made a namespace, and disabling has left it for what others have in it."""
    labels = part(namespace, "metadata", "labels")
    is_ours = labels.get(PART_OF_LABEL) == applyset_id
    return is_ours and KEPT_ANNOTATION in part(namespace, "metadata", "annotations")


def gone_states(
    prepared: Prepared, names: Sequence[str], record: Mapping[str, Any] | None
) -> list[str]:
    """The states that were applied once and that the recipe no longer has, or does not have with
    these options. Empty where names are only some of the recipe's states, since then the task is
    not about the rest."""
    every = prepared.recipe.states.keys()
    if not every <= set(names):
        return []
    return [name for name in record_spec.state_kinds(record) if name not in every]


def find_owned(
    client: Client,
    prepared: Prepared,
    names: Sequence[str],
    record: Mapping[str, Any] | None,
    desired: Iterable[Obj] = (),
    *,
    aside: Set[str] = frozenset(),
) -> dict[ObjectKey, Obj]:
    """What the named states own: one list for each kind that they have (desired) or, by the record,
    ever had. aside: kinds ("v1/Secret") that are not asked for."""
    remembered = record_spec.state_kinds(record)
    wanted = {kind for name in names for kind in remembered.get(name, [])}
    namespaces = {prepared.namespace, *record_spec.namespaces(record)}
    for obj in desired:
        wanted.add(f"{obj['apiVersion']}/{obj['kind']}")
        namespaces.update(filter(None, [obj["metadata"].get("namespace")]))
    kinds = []
    for name in sorted(wanted - aside):
        api_version, _slash, kind = name.rpartition("/")
        # A kind that is not served has no objects: its CRD is gone, or comes with this very plan.
        if client.serves(api_version, kind):
            kinds.append(client.kind(api_version, kind))
    labels = f"{PART_OF_LABEL}={prepared.applyset_id},{STATE_LABEL} in ({','.join(sorted(names))})"
    return owned(client, kinds, labels, sorted(namespaces)) if kinds and names else {}
