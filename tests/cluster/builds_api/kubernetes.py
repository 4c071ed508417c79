# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this server asks of the API server in front of it: who may do what, and what is there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.cluster.api import Api, ApiError
from tests.cluster.builds_api.kinds import VERSION, Obj, Resource
from tests.cluster.builds_api.refusals import RefusalError, forbidden

_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"


@dataclass(frozen=True)
class User:
    """Who asks, as the API server has found out."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class Kubernetes:
    """The API server in front. Methods raise ApiError when it cannot be asked."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def authorize(
        self, user: User, verb: str, resource: Resource, namespace: str, name: str, subresource: str
    ) -> None:
        """Let the API server's authorizers decide; raises RefusalError (403)."""
        attributes = {
            "verb": verb,
            "group": resource.group,
            "version": VERSION,
            "resource": resource.plural,
            "subresource": subresource,
            "namespace": namespace,
            "name": name,
        }
        spec: Obj = {
            "user": user.name,
            "groups": list(user.groups),
            "resourceAttributes": attributes,
        }
        if user.uid:
            spec["uid"] = user.uid
        if user.extra:
            spec["extra"] = {key: list(values) for key, values in user.extra.items()}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        status = self._api.request("POST", _REVIEWS, review)["status"]
        if status["allowed"]:
            return
        what = f"{resource.plural}/{subresource}" if subresource else resource.plural
        where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
        why = f'User "{user.name}" cannot {verb} resource "{what}" in API group "{resource.group}" {where}'
        reason = status.get("reason")
        raise forbidden(resource, name, f"{why}: {reason}" if reason else why)

    def need_namespace(self, resource: Resource, namespace: str, name: str) -> None:
        """Refuse new objects in a namespace that is not there (404) or is going (403)."""
        found = self._get(f"/api/v1/namespaces/{namespace}")
        if found is None:
            details = {"name": namespace, "kind": "namespaces"}
            raise RefusalError(404, "NotFound", f'namespaces "{namespace}" not found', details)
        if found["status"].get("phase") == "Terminating":
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
            }
            raise forbidden(resource, name, why, [{**cause, "field": "metadata.namespace"}])

    def found(self, plural: str, namespace: str, name: str) -> Obj | None:
        """A Secret or ConfigMap (by its plural), or None."""
        return self._get(f"/api/v1/namespaces/{namespace}/{plural}/{name}")

    def annotations(self, namespace: str) -> Mapping[str, str]:
        """The annotations of a namespace; none where it is not there."""
        found = self._get(f"/api/v1/namespaces/{namespace}") or {}
        annotations: Mapping[str, str] = (found.get("metadata") or {}).get("annotations") or {}
        return annotations

    def _get(self, path: str) -> Obj | None:
        try:
            found: Obj = self._api.get(path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        return found
