# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked before the first write of a run: whether somebody else does the same already, and
whether its user may do all of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from .._cluster.api_client.api_errors import UnknownKind
from .._cluster.api_client.client import Client
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.kinds import Kind
from .._cluster.api_objects.labels import LOCK_NAMESPACE
from .._cluster.authorization import AccessReview, access, missing
from .._cluster.definitions import kinds_in
from .._cluster.lease import LEASE
from .._errors import EnablementError
from .desired import Desired
from .on_nodes.proven_condition import is_wanted
from .preparation.foreign import refuse_foreign_plugin, refuse_rival_plugins, refuse_rivals
from .preparation.shared import refuse_shared
from .record.crd import NAME, RECORD

Rights = dict[AccessReview, set[str]]

# By what is done to an object; server-side apply creates by a patch, and is asked for both.
_VERBS: Mapping[str, tuple[str, ...]] = {
    "create": ("create", "patch"),
    "update": ("patch",),
    "replace": ("create", "delete", "patch"),
    "delete": ("delete",),
    "restore": ("patch",),
}


def refuse_others(client: Client, desired: Desired, *, adopt: bool) -> None:
    """Raise EnablementError where something else serves these devices, or these nodes. adopt: what
    only seems to do so may stay, by a person's word."""
    is_new, recipe = desired.record is None, desired.recipe
    options, resources = desired.facts.options_of(None), recipe.devices.resources
    refuse_rivals(client, recipe, options, desired.rival_context(adopt=adopt))
    if is_new:
        refuse_shared(client, desired.prepared, desired.discovery)
    if is_new and not adopt:
        refuse_foreign_plugin(resources, desired.discovery, lambda: desired.foreign_plugins)
    if not adopt:
        refuse_rival_plugins(resources, desired.rival_plugins)


def refuse_missing_rights(
    client: Client, desired: Desired, changes: Iterable[Change], *, proves: bool
) -> None:
    """Raise EnablementError that names every right that these changes, the run's own objects and
    its proofs lack."""
    rights = of_changes(client.kind, changes)
    for entry, names in of_run(client, desired, proves=proves).items():
        rights.setdefault(entry, set()).update(names)
    refuse_lacking(client, rights, f"enable {desired.recipe.name}")


def refuse_lacking(client: Client, rights: Rights, purpose: str) -> None:
    """Raise EnablementError that names those of the rights that the user lacks. purpose: what they
    are for ("enable x")."""
    lacking = missing(client, rights)
    if not lacking:
        return
    raise EnablementError(
        f"The user of this run lacks rights to {purpose}",
        where=client.host,
        why=f"may not {in_words(lacking)}; nothing was written",
        todo="have an admin grant them: kubectl apply -f manifests/rbac.yaml, and bind the ClusterRole"
        " hardware-enablement-runner to the user (docs/admin/rights.md)",
    )


def in_words(rights: Iterable[AccessReview]) -> str:
    """Rights by what they are about: "create, patch daemonsets.apps in gpu; patch nodes"."""
    verbs: dict[str, list[str]] = defaultdict(list)
    for entry in sorted(rights):
        verbs[entry.on].append(entry.verb)
    return "; ".join(f"{', '.join(found)} {on}" for on, found in verbs.items())


def of_changes(kind_of: Callable[[str, str], Kind], changes: Iterable[Change]) -> Rights:
    """The rights that changes need, each with the names of the objects. kind_of: what is served,
    else UnknownKind."""
    rights: Rights = defaultdict(set)
    found = [change for change in changes if change.action in _VERBS]
    definitions = [
        change.desired or {} for change in found if change.key.kind == "CustomResourceDefinition"
    ]
    brought = {
        (kind.api_version, kind.kind): kind for each in definitions for kind in kinds_in(each)
    }
    for change in found:
        key = change.key
        try:
            kind = brought.get((key.api_version, key.kind)) or kind_of(key.api_version, key.kind)
        except UnknownKind:
            # What these changes deploy brings it, so nobody knows its plural yet.
            continue
        for verb in _VERBS[change.action]:
            rights[access(kind, key.namespace, verb)].add(key.name)
    return rights


def of_record(name: str, *, exists: bool) -> Rights:
    """The lock and the record of a special resource."""
    rights: Rights = {
        access(LEASE, LOCK_NAMESPACE, verb): {name} for verb in ("get", "create", "patch")
    }
    recorded = ("patch",) if exists else ("create", "patch")
    return rights | {access(RECORD, None, verb): {name} for verb in recorded}


def of_run(client: Client, desired: Desired, *, proves: bool) -> Rights:
    """The lock, the record, and with proofs the labels on nodes and the pods that are started for
    them."""
    name, namespace = desired.recipe.name, desired.prepared.namespace
    rights = of_record(name, exists=desired.record is not None)
    if not client.serves(RECORD.api_version, RECORD.kind):
        definitions = client.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        rights |= {access(definitions, None, verb): {NAME} for verb in _VERBS["create"]}
    if not proves:
        return rights
    rights[access(RECORD, None, "patch", "status")] = {name}
    rights[access(client.kind("v1", "Node"), None, "patch")] = set()
    if is_wanted(desired.prepared.options):
        rights[access(client.kind("v1", "Node"), None, "patch", "status")] = set()
    if _starts_pods(desired):
        pods = client.kind("v1", "Pod")
        rights |= {
            access(pods, namespace, verb): set()
            for verb in ("create", "delete", "deletecollection")
        }
    return rights


def _starts_pods(desired: Desired) -> bool:
    return any(proof.kind == "workload" for plan in desired.plans for proof in plan.proofs)
