# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The types of the Kubernetes API in short: what an API server's OpenAPI documents say, without
their texts.

A type is the name of a scalar ("string", "integer", "number", "boolean", "any", "quantity",
"int-or-string"), or a mapping with one key: {"list": type}, {"map": type of its values}, {"enum":
texts}, {"ref": name of a definition}, or {"fields": name -> type, "required": names} for an object,
with "open": true where it may have other fields too; all of it is JSON."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from ..._cluster.api_objects.kinds import Kind
from ..._json import Obj, elements, part
from ..._schema.problems import suggest

ANY = "any"
_REFERENCE = "#/components/schemas/"
# What JSON cannot say of these: a resource's quantity may be a number too, a port may have a name.
_SPECIAL = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps": ANY,
}
# What may have fields that a schema does not say: anything, or a whole object inside of another one.
_OPEN = ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource")
# Nobody writes this into a manifest, nor the status of an object.
_LEFT_OUT = ("managedFields",)


class ApiTypes:
    """The kinds that a cluster is taken to serve. A kind without a type is served, but nothing is
    known of its fields.

    Data as compact() gives it: {"kinds": {"group/version/Kind": {"plural", "namespaced", "type"}},
    "definitions": {}}.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.version = str(data.get("version", ""))
        self._kinds: Mapping[str, Obj] = data["kinds"]
        self._definitions: Mapping[str, Any] = data["definitions"]

    @classmethod
    def of_crds(cls, crds: Iterable[Mapping[str, Any]]) -> ApiTypes:
        """The kinds of CustomResourceDefinitions, and of every object's metadata nothing."""
        types = cls({"kinds": {}, "definitions": {_OBJECT_META: ANY}})
        for crd in crds:
            types = types.with_crd(crd)
        return types

    def with_crd(self, crd: Mapping[str, Any]) -> ApiTypes:
        """The same with the kinds of a CustomResourceDefinition."""
        spec = part(crd, "spec")
        names = part(spec, "names")
        kinds = dict(self._kinds)
        for version in elements(spec, "versions"):
            found = short_type(_without_status(part(version, "schema", "openAPIV3Schema")))
            kinds[f"{spec.get('group')}/{version.get('name')}/{names.get('kind')}"] = {
                "plural": str(names.get("plural")),
                "namespaced": spec.get("scope") == "Namespaced",
                "type": _with_object_meta(found),
            }
        return ApiTypes({"version": self.version, "kinds": kinds, "definitions": self._definitions})

    @property
    def apis(self) -> frozenset[str]:
        """Every kind as needs_api writes it: "group/version/Kind", "version/Kind" for the core
        group."""
        return frozenset(self._kinds)

    def kind(self, api_version: str, kind: str) -> Kind | None:
        """What a kind is called in paths and roles, None for one that is not known."""
        found = self._kinds.get(f"{api_version}/{kind}")
        if found is None:
            return None
        group, _slash, version = api_version.rpartition("/")
        return Kind(group, version, kind, found["plural"], found["namespaced"])

    def suggested(self, api_version: str, kind: str) -> str:
        """What was probably meant by a kind that is not known, as the end of a sentence; "" for
        somebody else's."""
        group = api_version.rpartition("/")[0]
        known = [self.kind(*api.rsplit("/", 1)) for api in self._kinds]
        own = [each for each in known if each and each.group == group]
        versions = sorted(each.api_version for each in own if each.kind == kind)
        if versions:
            return f", did you mean {versions[-1]}?"
        return suggest(
            kind, [each.kind for each in own if each.api_version == api_version], listed=0
        )

    def namespaced(self, api_version: str, kind: str) -> bool | None:
        """Whether a kind lives in namespaces, None for one that is not known."""
        found = self.kind(api_version, kind)
        return None if found is None else found.namespaced

    def type_of(self, api_version: str, kind: str) -> Any:
        """The type of a kind's objects, "any" where nothing is known of it."""
        return self._kinds.get(f"{api_version}/{kind}", {}).get("type", ANY)

    def resolve(self, type_: Any) -> Any:
        """A type with the definition in place of its name."""
        while isinstance(type_, dict) and "ref" in type_:
            type_ = self._definitions[type_["ref"]]
        return type_


def compact(documents: Mapping[str, Mapping[str, Any]], version: str) -> Obj:
    """What OpenAPI v3 documents (path such as "apis/apps/v1" -> document) say of the kinds that can
    be written."""
    schemas: dict[str, Any] = {}
    kinds: dict[str, Obj] = {}
    for document in documents.values():
        schemas |= document["components"].get("schemas", {})
        for api, plural, namespaced in _served(document):
            kinds[api] = {"plural": plural, "namespaced": namespaced, "type": ANY}
    for name, schema in schemas.items():
        for gvk in schema.get("x-kubernetes-group-version-kind", ()):
            api = "/".join(filter(None, (gvk["group"], gvk["version"], gvk["kind"])))
            if api in kinds and schema.get("properties"):
                kinds[api]["type"] = {"ref": name}
    wanted = [kind["type"]["ref"] for kind in kinds.values() if kind["type"] != ANY]
    definitions: Obj = {}
    while wanted:
        name = wanted.pop()
        if name not in definitions:
            definitions[name] = short_type(schemas[name])
            wanted += _references(definitions[name])
    return {"version": version, "kinds": kinds, "definitions": definitions}


def short_type(schema: Mapping[str, Any]) -> Any:
    """The type that an OpenAPI schema describes."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REFERENCE)
        return _SPECIAL.get(name, {"ref": name})
    if len(schema.get("allOf", ())) == 1 and "properties" not in schema:
        return short_type(schema["allOf"][0])
    if schema.get("x-kubernetes-int-or-string") or schema.get("format") == "int-or-string":
        return "int-or-string"
    if schema.get("properties"):
        # Of an object, as opposed to parts of one, of which some have a field of that name (a CRD's
        # subresources).
        kept = _without_status(schema) if is_whole(schema["properties"]) else schema
        fields = {
            name: short_type(field)
            for name, field in kept["properties"].items()
            if name not in _LEFT_OUT
        }
        return {
            "fields": fields,
            "required": sorted(set(schema.get("required", ())) & fields.keys()),
            **({"open": True} if any(map(schema.get, _OPEN)) else {}),
        }
    return _short_scalar_or_collection(schema)


def is_whole(fields: Container[str]) -> bool:
    """Whether these are the fields of an object, and not of a part of one."""
    return all(name in fields for name in ("apiVersion", "kind", "metadata"))


def _short_scalar_or_collection(schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if any(map(schema.get, _OPEN)):
        return ANY
    if kind == "array":
        return {"list": short_type(schema.get("items", {}))}
    if kind == "object":
        values = schema.get("additionalProperties")
        return {"map": short_type(values)} if isinstance(values, dict) else ANY
    if kind == "string" and schema.get("enum"):
        return {"enum": list(schema["enum"])}
    return kind if kind in ("string", "integer", "number", "boolean") else ANY


def _without_status(schema: Mapping[str, Any]) -> Obj:
    """The schema of an object without the part that only controllers write."""
    properties = {
        name: field for name, field in part(schema, "properties").items() if name != "status"
    }
    return {**schema, "properties": properties}


def _with_object_meta(type_: Any) -> Any:
    """A CRD's schema says nothing of what every object has."""
    if not isinstance(type_, dict) or "fields" not in type_:
        return type_
    meta = {"apiVersion": "string", "kind": "string", "metadata": {"ref": _OBJECT_META}}
    return {**type_, "fields": {**type_["fields"], **meta}}


_OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def _served(document: Mapping[str, Any]) -> Iterator[tuple[str, str, bool]]:
    """(group/version/Kind, plural, namespaced) of every kind that can be created."""
    for path, operations in document.get("paths", {}).items():
        made = part(operations, "post")
        gvk, parts = made.get("x-kubernetes-group-version-kind"), path.strip("/").split("/")
        # A subresource's path goes on after the name of its object; namespaces have none of their
        # own.
        if gvk and not parts[-1].startswith("{") and "{name}" not in parts:
            api = "/".join(filter(None, (gvk["group"], gvk["version"], gvk["kind"])))
            yield api, parts[-1], "{namespace}" in parts


def _references(type_: Any) -> Iterator[str]:
    if isinstance(type_, dict):
        for key, value in type_.items():
            if key == "ref":
                yield value
            elif key == "fields":
                for field in value.values():
                    yield from _references(field)
            elif key in ("list", "map"):
                yield from _references(value)
