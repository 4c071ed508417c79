# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a request to its answer: who may, which verb, on what."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.cluster.builds_api import discovery, negotiation, reading
from tests.cluster.builds_api.building import Building
from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, GROUPS, VERSION, Obj, find
from tests.cluster.builds_api.kubernetes import Kubernetes
from tests.cluster.builds_api.messages import TEXT, Answer, Request, json_answer
from tests.cluster.builds_api.objects import Objects, Place, Writer
from tests.cluster.builds_api.refusals import bad_request, no_path, not_allowed, unsupported_media
from tests.cluster.builds_api.selection import selector

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
_OF_ONE = ("get", "update", "patch", "delete")


class Rest:
    """Answers requests of authenticated users. Raises RefusalError, and ApiError when Kubernetes
    cannot be asked."""

    def __init__(self, objects: Objects, kubernetes: Kubernetes, building: Building) -> None:
        self._objects = objects
        self._kubernetes = kubernetes
        self._building = building
        self._do: dict[str, Callable[[Place, Request], Answer]] = {
            "get": partial(reading.get, objects),
            "list": partial(reading.listed, objects),
            "watch": partial(reading.watch, objects),
            "create": self._create,
            "update": self._update,
            "patch": self._patch,
            "delete": self._delete,
            "deletecollection": self._delete_collection,
        }

    def answer(self, request: Request) -> Answer:
        """The answer to one request."""
        parts = request.path.strip("/").split("/")
        match parts:
            case ["healthz" | "livez" | "readyz"]:
                return Answer(200, b"ok", TEXT)
            case ["apis"] if not negotiation.wants_discovery(request.headers.get("Accept", "")):
                return json_answer(discovery.groups())
            case ["apis", group] if group in GROUPS:
                return json_answer(discovery.group(group))
            case ["apis", group, version] if group in GROUPS and version == VERSION:
                return json_answer(discovery.resources(group))
            case ["openapi", "v2"]:
                return json_answer(discovery.openapi_2())
            case ["openapi", "v3"]:
                return json_answer(discovery.openapi_index())
            case ["openapi", "v3", "apis", group, version] if (
                group in GROUPS and version == VERSION
            ):
                return json_answer(discovery.openapi(group))
            case ["apis", group, version, "namespaces", namespace, plural, *rest] if (
                version == VERSION
            ):
                return self._on_resource(request, group, namespace, plural, rest)
            case ["apis", group, version, plural] if version == VERSION:
                return self._on_resource(request, group, "", plural, [])
        raise no_path(request.path)

    def _on_resource(
        self, request: Request, group: str, namespace: str, plural: str, rest: list[str]
    ) -> Answer:
        resource = find(group, plural)
        if resource is None or len(rest) > 2:
            raise no_path(request.path)
        name, subresource = (*rest, "", "")[:2]
        place = Place(resource, namespace, name)
        if request.method not in _VERBS:
            raise not_allowed(request.method)
        verb = _VERBS[request.method]
        if not name and verb == "get":
            verb = "watch" if request.asks("watch") else "list"
        elif not name and verb == "delete":
            verb = "deletecollection"
        self._kubernetes.authorize(request.user, verb, resource, namespace, name, subresource)
        if subresource:
            return self._on_subresource(place, subresource, verb, request)
        if verb not in resource.verbs or (verb in _OF_ONE) != bool(name):
            raise not_allowed(request.method)
        return self._do[verb](place, request)

    def _on_subresource(self, place: Place, name: str, verb: str, request: Request) -> Answer:
        if (name, verb) not in {(sub.name, sub.verb) for sub in place.resource.subresources}:
            raise no_path(request.path)
        if place.resource is BUILDS:
            return self._building.log(self._objects.get(place), request)
        given = negotiation.body(request.body, request.headers.get("Content-Type", ""))
        given, warnings = negotiation.checked(
            BUILD_CONFIGS, "BuildRequest", given, request.query.get("fieldValidation", "")
        )
        meta = given.setdefault("metadata", {})
        if meta.get("name") != place.name:
            raise bad_request(
                f"the name of the BuildRequest ({meta.get('name')}) must be that on the URL ({place.name})"
            )
        build = self._building.instantiate(place, given, dry_run=negotiation.dry_run(request.query))
        return reading.shown(BUILDS, build, request, 201, tuple(warnings))

    def _create(self, place: Place, request: Request) -> Answer:
        given, warnings = self._given(place, request)
        self._kubernetes.need_namespace(
            place.resource, place.namespace, given.get("metadata", {}).get("name", "")
        )
        found = self._objects.create(place, given, _writer(request))
        return reading.shown(place.resource, found, request, 201, warnings)

    def _update(self, place: Place, request: Request) -> Answer:
        given, warnings = self._given(place, request)
        return reading.shown(
            place.resource,
            self._objects.update(place, given, _writer(request)),
            request,
            200,
            warnings,
        )

    def _patch(self, place: Place, request: Request) -> Answer:
        media = request.headers.get("Content-Type", "").partition(";")[0]
        if media == negotiation.APPLY_PATCH:
            return self._apply(place, request)
        if media != negotiation.MERGE_PATCH:
            raise unsupported_media(media, (negotiation.MERGE_PATCH, negotiation.APPLY_PATCH))
        patch = negotiation.body(request.body, media, (media,))
        warnings: list[str] = []

        def check(merged: Obj) -> Obj:
            strictness = request.query.get("fieldValidation", "")
            checked, found = negotiation.checked(
                place.resource, place.resource.kind, merged, strictness
            )
            warnings.extend(found)
            return checked

        found = self._objects.merge(place, patch, _writer(request), check)
        return reading.shown(place.resource, found, request, 200, tuple(warnings))

    def _apply(self, place: Place, request: Request) -> Answer:
        if not request.query.get("fieldManager"):
            raise bad_request("fieldManager is required for apply patch")
        given = negotiation.body(request.body, negotiation.APPLY_PATCH, (negotiation.APPLY_PATCH,))
        if (given.get("metadata") or {}).get("managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        strictness = request.query.get("fieldValidation", "")
        given, warnings = negotiation.checked(
            place.resource, place.resource.kind, given, strictness
        )
        if self._objects.store.get(place.resource, place.namespace, place.name) is None:
            # As in Kubernetes, an apply that creates needs both rights.
            self._kubernetes.authorize(
                request.user, "create", place.resource, place.namespace, place.name, ""
            )
            self._kubernetes.need_namespace(place.resource, place.namespace, place.name)
        found, new = self._objects.apply(
            place, given, _writer(request), force=request.asks("force")
        )
        return reading.shown(place.resource, found, request, 201 if new else 200, tuple(warnings))

    def _delete(self, place: Place, request: Request) -> Answer:
        options = _delete_options(request)
        found = self._objects.delete(
            place, options, dry_run=negotiation.dry_run(request.query, options)
        )
        if found["metadata"].get("finalizers"):
            return reading.shown(place.resource, found, request)
        details = {"name": place.name, "group": place.resource.group, "kind": place.resource.plural}
        details["uid"] = found["metadata"]["uid"]
        status = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": details,
        }
        return json_answer(status)

    def _delete_collection(self, place: Place, request: Request) -> Answer:
        options = _delete_options(request)
        chosen = selector(
            request.query.get("labelSelector", ""), request.query.get("fieldSelector", "")
        )
        dry = negotiation.dry_run(request.query, options)
        with self._objects.store.lock:
            items = [
                obj
                for obj in self._objects.store.list(place.resource, place.namespace)
                if chosen(obj)
            ]
            for obj in items:
                meta = obj["metadata"]
                one = Place(place.resource, meta["namespace"], meta["name"])
                self._objects.delete(one, options, dry_run=dry)
            version = str(self._objects.store.version)
        kind, api_version = f"{place.resource.kind}List", place.resource.api_version
        return json_answer(
            {
                "kind": kind,
                "apiVersion": api_version,
                "metadata": {"resourceVersion": version},
                "items": items,
            }
        )

    def _given(self, place: Place, request: Request) -> tuple[Obj, tuple[str, ...]]:
        found = negotiation.body(request.body, request.headers.get("Content-Type", ""))
        strictness = request.query.get("fieldValidation", "")
        checked, warnings = negotiation.checked(
            place.resource, place.resource.kind, found, strictness
        )
        return checked, tuple(warnings)


def _writer(request: Request) -> Writer:
    return Writer(
        negotiation.manager(request.query, request.headers), negotiation.dry_run(request.query)
    )


def _delete_options(request: Request) -> Obj:
    """DeleteOptions from the body, completed by the query."""
    given = (
        negotiation.body(request.body, request.headers.get("Content-Type", ""))
        if request.body
        else {}
    )
    if "propagationPolicy" in request.query:
        given.setdefault("propagationPolicy", request.query["propagationPolicy"])
    return given
