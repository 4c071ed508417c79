# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What this server says about itself: groups, resources, OpenAPI 3. Pure.

There is no aggregated discovery here, and nothing in OpenAPI 2: the API server does with what there
is.
"""

from __future__ import annotations

import hashlib

from tests.cluster.builds_api.kinds import GROUPS, RESOURCES, VERSION, Obj, Resource
from tests.cluster.builds_api.messages import encoded
from tests.cluster.builds_api.schema import openapi_type, reachable

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_PACKAGES = {group: f"com.github.openshift.api.{group.partition('.')[0]}.v1." for group in GROUPS}
# kubectl asks here whether a server knows these before it sends them.
_PARAMETERS = {
    "dryRun": "string",
    "fieldManager": "string",
    "fieldValidation": "string",
    "force": "boolean",
}


def groups() -> Obj:
    """The answer to /apis."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group(name) for name in GROUPS]}


def group(name: str) -> Obj:
    """The answer to /apis/GROUP."""
    version = {"groupVersion": f"{name}/{VERSION}", "version": VERSION}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": [version],
        "preferredVersion": version,
    }


def resources(name: str) -> Obj:
    """The answer to /apis/GROUP/VERSION."""
    listed: list[Obj] = []
    for resource in (item for item in RESOURCES if item.group == name):
        entry = {
            "name": resource.plural,
            "singularName": resource.singular,
            "namespaced": True,
            "kind": resource.kind,
            "verbs": list(resource.verbs),
            "categories": ["all"] if "create" in resource.verbs else [],
        }
        listed.append(
            {**entry, "shortNames": list(resource.short_names)} if resource.short_names else entry
        )
        listed += [
            {
                "name": f"{resource.plural}/{sub.name}",
                "singularName": "",
                "namespaced": True,
                "kind": sub.kind,
                "verbs": [sub.verb],
            }
            for sub in resource.subresources
        ]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{name}/{VERSION}",
        "resources": listed,
    }


def openapi_2() -> Obj:
    """The answer to /openapi/v2: no types. Without any answer the API server would complain in its
    log all the time."""
    info = {"title": "Kubernetes", "version": "unversioned"}
    return {"swagger": "2.0", "info": info, "paths": {}, "definitions": {}}


def openapi_index() -> Obj:
    """The answer to /openapi/v3."""
    paths = {}
    for name in GROUPS:
        path = f"apis/{name}/{VERSION}"
        digest = hashlib.sha256(encoded(openapi(name))).hexdigest()
        paths[path] = {"serverRelativeURL": f"/openapi/v3/{path}?hash={digest}"}
    return {"paths": paths}


def openapi(name: str) -> Obj:
    """The answer to /openapi/v3/apis/GROUP/VERSION."""
    package = _PACKAGES[name]
    reference = f"#/components/schemas/{package}"
    schemas: Obj = {
        _META: {"type": "object", "description": "Name, namespace, labels and the like."}
    }
    paths: Obj = {}
    for resource in (item for item in RESOURCES if item.group == name):
        for type_name in reachable(resource.kind):
            schemas.setdefault(package + type_name, openapi_type(type_name, reference))
        schemas[package + resource.kind] = _object_schema(resource, reference)
        paths |= _paths(resource, f"{reference}{resource.kind}")
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _gvk(resource: Resource) -> Obj:
    return {"group": resource.group, "version": VERSION, "kind": resource.kind}


def _object_schema(resource: Resource, reference: str) -> Obj:
    schema = openapi_type(resource.kind, reference)
    meta = {
        "apiVersion": {"type": "string"},
        "kind": {"type": "string"},
        "metadata": {"allOf": [{"$ref": f"#/components/schemas/{_META}"}]},
    }
    schema["properties"] = {**meta, **schema["properties"]}
    return {**schema, "x-kubernetes-group-version-kind": [_gvk(resource)]}


def _paths(resource: Resource, reference: str) -> Obj:
    collection = f"/apis/{resource.group}/{VERSION}/namespaces/{{namespace}}/{resource.plural}"
    answer = {
        "200": {
            "description": "OK",
            "content": {"application/json": {"schema": {"$ref": reference}}},
        }
    }
    query = [
        {"name": key, "in": "query", "schema": {"type": kind, "uniqueItems": True}}
        for key, kind in _PARAMETERS.items()
    ]
    common = {"responses": answer, "x-kubernetes-group-version-kind": _gvk(resource)}
    methods = {"get": "get", "update": "put", "patch": "patch", "delete": "delete"}
    one = {
        method: {
            **common,
            "x-kubernetes-action": verb,
            **({} if verb == "get" else {"parameters": query}),
        }
        for verb, method in methods.items()
        if verb in resource.verbs
    }
    found: Obj = {f"{collection}/{{name}}": one}
    if "create" in resource.verbs:
        found[collection] = {"post": {**common, "x-kubernetes-action": "post", "parameters": query}}
    return found
