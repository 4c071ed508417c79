# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have made and what a removal would take along: with a namespace all that is in it,
with a CRD all objects of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ..._cluster.api_client.api_errors import ApiError, UnknownKind
from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import MADE, Right
from ..._cluster.api_objects.change_report import name_some
from ..._cluster.api_objects.labels import (
    DOMAIN,
    FIELD_MANAGER,
    MANAGED_BY_LABEL,
    PART_OF_LABEL,
    RECIPE_LABEL,
)
from ..._cluster.api_objects.objects import ObjectKey, key_of
from ..._cluster.definitions import kinds_in
from ..._cluster.namespace_listing import (
    KindDiscovery,
    ObjectListing,
    namespaced_kinds,
    objects_of,
)
from ..._json import Obj, elements, part

_LIST = ("list",)
# Core kinds, of which Secrets are not for who only reads; and groups of Kubernetes, and of what is
# common where devices are, all kinds of each. What others bring is not known beforehand.
_CORE_KINDS = (
    *("configmaps", "limitranges", "persistentvolumeclaims", "pods", "podtemplates"),
    *("replicationcontrollers", "resourcequotas", "serviceaccounts", "services"),
)
_COMMON_GROUPS = (
    *("apps", "autoscaling", "batch", "networking.k8s.io", "policy", "resource.k8s.io"),
    "rbac.authorization.k8s.io",
    *("cert-manager.io", "acme.cert-manager.io", "monitoring.coreos.com", "k8s.cni.cncf.io"),
    *("nfd.k8s-sigs.io", "kmm.sigs.x-k8s.io", "nvidia.com", "amd.com", "intel.com"),
    "sriovnetwork.openshift.io",
    *(f"{name}.openshift.io" for name in ("apps", "build", "image", "route", "template")),
    "operators.coreos.com",
)
# Who removes a namespace has to see what is in it.
RIGHTS = (
    Right("", ("secrets",), _LIST, MADE),
    Right("", _CORE_KINDS, _LIST, MADE, read_only=_LIST),
    *(Right(group, ("*",), _LIST, MADE, read_only=_LIST) for group in _COMMON_GROUPS),
)

# (group, plural): nobody's, since controllers write them about other objects; or what OpenShift shows
# of its ImageStreams, and of Roles, once more.
_NOBODYS_KINDS = frozenset(
    {
        *(("", "endpoints"), ("discovery.k8s.io", "endpointslices")),
        *(("", "events"), ("events.k8s.io", "events")),
        *(("coordination.k8s.io", name) for name in ("leases", "leasecandidates")),
        ("storage.k8s.io", "csistoragecapacities"),
        *(("image.openshift.io", name) for name in ("imagestreamtags", "imagetags")),
        *(("authorization.openshift.io", name) for name in ("roles", "rolebindings")),
    }
)
# (kind, name): what Kubernetes, OpenShift and Istio put into each namespace.
_IN_EACH_NAMESPACE = frozenset(
    {
        *(("ServiceAccount", name) for name in ("default", "builder", "deployer")),
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("ConfigMap", "istio-ca-root-cert"),
        *(
            ("RoleBinding", f"system:{name}")
            for name in ("deployers", "image-builders", "image-pullers")
        ),
    }
)
# The Operator Lifecycle Manager's copies of what is installed elsewhere.
_COPY_LABEL = "olm.copiedFrom"
# A token or pull secret of a ServiceAccount, which is worth nothing without it.
_ACCOUNT_ANNOTATIONS = (
    "kubernetes.io/service-account.name",
    "openshift.io/internal-registry-auth-token.service-account",
)
# So far are owners followed; a custom resource, a Deployment, a ReplicaSet and a pod are four.
_GENERATIONS = 6
_SHOWN = 5


@dataclass(frozen=True)
class RemovalScope:
    """What a removal is of: the special resource's name and applyset_id. going: objects that are
    removed before, whatever their labels say; given_back: those that were somebody's before us, and
    are so again."""

    name: str
    applyset_id: str
    going: Set[ObjectKey] = frozenset()
    given_back: Set[ObjectKey] = frozenset()

    def has_made(self, obj: Mapping[str, Any]) -> bool:
        """Whether an object goes with this special resource."""
        key = key_of(obj)
        if key in self.going or key in self.given_back:
            return key in self.going
        labels = part(obj, "metadata", "labels")
        if PART_OF_LABEL in labels:
            return bool(labels[PART_OF_LABEL] == self.applyset_id)
        if RECIPE_LABEL in labels:
            return bool(labels[RECIPE_LABEL] == self.name)
        return labels.get(MANAGED_BY_LABEL) in (DOMAIN, FIELD_MANAGER)


@dataclass(frozen=True)
class ForeignObjects:
    """objects: what others have made. forbidden, silent: the kinds of which nobody knows, since the
    user may not list them or their API does not answer."""

    objects: Sequence[ObjectKey] = ()
    forbidden: Sequence[str] = ()
    silent: Sequence[str] = ()

    def __bool__(self) -> bool:
        return bool(self.objects or self.forbidden or self.silent)

    @property
    def reason(self) -> str:
        """Why that stays in which they are: after its name and a comma."""
        found = []
        if self.objects:
            names = name_some(map(str, self.objects), _SHOWN)
            found.append(f"with which would go what others have made: {names}")
        if self.forbidden:
            names = name_some(self.forbidden, _SHOWN)
            found.append(
                f"of which it is not known what would go with it: this user may not list {names}"
            )
        if self.silent:
            names = name_some(self.silent, _SHOWN)
            found.append(
                f"of which it is not known what would go with it: the API of {names} does not answer"
            )
        return "; ".join(found)

    @property
    def todo(self) -> str:
        """What ends that."""
        found = []
        if self.objects:
            found.append("keep elsewhere what is needed of it")
        if self.forbidden:
            found.append("have these rights granted (docs/admin/rights.md), or see yourself")
        if self.silent:
            found.append("repair or remove that API")
        return ", ".join(found)


def foreign_in_namespaces(
    client: Client, names: Sequence[str], scope: RemovalScope
) -> dict[str, ForeignObjects]:
    """What others have made in each of these namespaces. Where nobody can know, it says so."""
    if not names:
        return {}
    try:
        known = namespaced_kinds(client)
    except ApiError as error:
        every = f"all kinds ({error.why})"
        return dict.fromkeys(names, ForeignObjects(silent=[every]))
    return {name: _in_namespace(client, name, known, scope) for name in names}


def foreign_of_definition(
    client: Client, definition: Mapping[str, Any], scope: RemovalScope
) -> ForeignObjects:
    """What others have made of the kinds that a CRD brings."""
    # A version that is not served is not found, and each other one shows all objects.
    return _foreign(client, objects_of(client, kinds_in(definition), None), scope)


def _in_namespace(
    client: Client, name: str, known: KindDiscovery, scope: RemovalScope
) -> ForeignObjects:
    kinds = [kind for kind in known.kinds if (kind.group, kind.plural) not in _NOBODYS_KINDS]
    listing = objects_of(client, kinds, name)
    silent = [*known.silent, *listing.silent]
    return _foreign(client, replace(listing, silent=silent), scope)


def _foreign(client: Client, listing: ObjectListing, scope: RemovalScope) -> ForeignObjects:
    search = _ForeignSearch(scope, listing.objects)
    for _generation in range(_GENERATIONS):
        wanted = search.unknown()
        if not wanted:
            break
        search.learn(_read(client, wanted))
    found = sorted(key_of(obj) for obj in listing.objects if search.is_foreign(obj))
    return ForeignObjects(found, listing.forbidden, listing.silent)


def _read(client: Client, keys: Mapping[str, ObjectKey]) -> dict[str, Obj | None]:
    """Owners by uid, None for those that are gone; what cannot be read is left out."""
    calls = [partial(_get, client, key) for key in keys.values()]
    found: dict[str, Obj | None] = {}
    for uid, answer in zip(keys, client.parallel(calls), strict=True):
        if not isinstance(answer, ApiError):
            same = answer is not None and answer["metadata"]["uid"] == uid
            found[uid] = answer if same else None
    return found


def _get(client: Client, key: ObjectKey) -> Obj | None:
    try:
        kind = client.kind(key.api_version, key.kind)
    except UnknownKind as error:
        # Nobody can say whether it is there.
        raise ApiError(error.what, where=error.where) from error
    return client.get(kind, key.name, key.namespace if kind.namespaced else None)


class _ForeignSearch:
    """Follows owner references. Reads nothing by itself."""

    def __init__(self, scope: RemovalScope, objects: Iterable[Obj]) -> None:
        self._scope = scope
        self._objects = list(objects)
        self._known: dict[str, Obj | None] = {obj["metadata"]["uid"]: obj for obj in self._objects}
        self._asked: set[str] = set()
        self._accounts = {
            (obj["metadata"].get("namespace"), obj["metadata"]["name"]): obj
            for obj in self._objects
            if obj["kind"] == "ServiceAccount"
        }

    def unknown(self) -> dict[str, ObjectKey]:
        """uid -> the owners of which nothing is known yet, and that have not been unknown before."""
        found = {
            str(reference["uid"]): ObjectKey(
                str(reference.get("apiVersion")),
                str(reference.get("kind")),
                obj["metadata"].get("namespace") or "",
                str(reference.get("name")),
            )
            for obj in self._known.values()
            if obj is not None and not self._is_settled(obj)
            for reference in _owners(obj)
        }
        wanted = {
            uid: key
            for uid, key in found.items()
            if uid not in self._known and uid not in self._asked
        }
        self._asked |= wanted.keys()
        return wanted

    def learn(self, owners: Mapping[str, Obj | None]) -> None:
        """Take owners as _read returns them."""
        self._known |= owners

    def is_foreign(self, obj: Obj, below: frozenset[str] = frozenset()) -> bool:
        """Whether somebody else has made an object that is not about to go anyway. below: whom it is
        the owner of; references that lead back to those say nothing."""
        if self._is_settled(obj):
            return False
        metadata = obj["metadata"]
        account = next(
            filter(None, map(part(metadata, "annotations").get, _ACCOUNT_ANNOTATIONS)), ""
        )
        if obj["kind"] == "Secret" and account:
            of = self._accounts.get((metadata.get("namespace"), account))
            return of is not None and self.is_foreign(of)
        owners = _owners(obj)
        seen = below | {metadata["uid"]}
        return not owners or any(self._is_foreign_owner(str(each["uid"]), seen) for each in owners)

    def _is_foreign_owner(self, uid: str, below: frozenset[str]) -> bool:
        if uid in below or uid not in self._known:
            return True
        owner = self._known[uid]
        # What has lost its owner is being collected.
        return owner is not None and self.is_foreign(owner, below)

    def _is_settled(self, obj: Obj) -> bool:
        """Whether nobody need ask who made it: we did, or each namespace has it, or it is going."""
        metadata = obj["metadata"]
        return (
            "deletionTimestamp" in metadata
            or (obj["kind"], metadata["name"]) in _IN_EACH_NAMESPACE
            or _COPY_LABEL in part(metadata, "labels")
            or self._scope.has_made(obj)
        )


def _owners(obj: Obj) -> list[Obj]:
    """The owner references of an object that say enough."""
    references = elements(obj["metadata"], "ownerReferences")
    return [each for each in references if each.get("uid")]
