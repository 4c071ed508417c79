# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From rendered text to manifests: Kubernetes objects, as far as can be told without asking a
cluster."""

from __future__ import annotations

import marshal
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ..._errors import InvalidInput
from ..._json import Obj, part
from ..._schema.problems import describe
from .documents import DoubledKey, parse, parse_foreign

ObjectId = tuple[str, str, str, str]

# Where each kind keeps the pods that it makes.
_POD_TEMPLATES: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (),
    ("apps", "DaemonSet"): ("spec", "template"),
    ("apps", "Deployment"): ("spec", "template"),
    ("apps", "StatefulSet"): ("spec", "template"),
    ("apps", "ReplicaSet"): ("spec", "template"),
    ("batch", "Job"): ("spec", "template"),
    ("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}


def manifests_in(text: str, source: str, *, named: bool = True, foreign: bool = False) -> list[Obj]:
    """The objects of a rendered file; a List gives its items. named: every object must have a name.
    foreign: of a key that is there twice the last one counts, and null is an empty text.

    Raises InvalidInput that names the file and the document (from 1).
    """
    return [
        _checked(manifest, place, named=named, foreign=foreign)
        for number, document in enumerate(
            _documents(text, f"{source} (as rendered)", foreign=foreign)[0], 1
        )
        for manifest, place in _flatten(document, f"{source}, document {number}")
    ]


def doubled_keys(text: str, source: str) -> list[DoubledKey]:
    """The keys of a rendered file that are there twice. Raises InvalidInput."""
    return _documents(text, f"{source} (as rendered)", foreign=True)[1]


def group_of(manifest: Obj) -> str:
    """The API group of an object, "" for the core group."""
    return str(manifest["apiVersion"]).rpartition("/")[0]


def identity(manifest: Obj) -> ObjectId:
    """(group, kind, namespace, name): two objects with the same one are the same object to the API
    server."""
    metadata = manifest["metadata"]
    return group_of(manifest), manifest["kind"], metadata.get("namespace") or "", metadata["name"]


def title(manifest: Obj) -> str:
    """An object as a sentence names it."""
    return f"{manifest['kind']} {manifest['metadata'].get('name', '')}".rstrip()


def pod_template(manifest: Obj) -> Obj | None:
    """The part of an object that is a pod template ("metadata", "spec"), None for kinds without
    one."""
    steps = _POD_TEMPLATES.get((group_of(manifest), manifest["kind"]))
    if steps is None:
        return None
    found: Any = manifest
    for step in steps:
        found = found.get(step) if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(found.get("spec"), dict):
        raise InvalidInput(
            f"{title(manifest)} has no pod template",
            why=f"{'.'.join([*steps, 'spec'])} is no mapping",
        )
    if not isinstance(part(found, "metadata"), dict):
        why = f"{'.'.join([*steps, 'metadata'])} is no mapping"
        raise InvalidInput(f"{title(manifest)} has no pod template", why=why)
    return found


def with_own_pods(workload: Obj) -> tuple[Obj, Obj]:
    """A workload, or a pod, and the pod template in it: both are copies, down to the containers, which
    may be given other keys without a change of the original."""
    copied = {**workload, "metadata": {**workload["metadata"]}}
    template = copied
    for step in _POD_TEMPLATES[group_of(workload), workload["kind"]]:
        template[step] = {**template[step]}
        template = template[step]
    spec = template["spec"] = {**template["spec"]}
    for key in ("initContainers", "containers"):
        if isinstance(spec.get(key), list):
            spec[key] = [{**each} if isinstance(each, dict) else each for each in spec[key]]
    return copied, template


def copy_of(value: Any) -> Any:
    """A copy in which nothing is shared, as YAML aliases would have it."""
    if isinstance(value, dict):
        return {key: copy_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [copy_of(item) for item in value]
    return value


def _documents(text: str, source: str, *, foreign: bool) -> tuple[list[Any], list[DoubledKey]]:
    """The documents of a text, whoever wants them its own copy; and, of others' texts, the keys that
    are there twice."""
    packed = _packed(text, source, foreign=foreign)
    found: tuple[list[Any], list[DoubledKey]] = marshal.loads(packed)  # noqa: S302 - of our own
    return found


@lru_cache(maxsize=2048)
def _packed(text: str, source: str, *, foreign: bool) -> bytes:
    """Kept, since most files of a recipe give the same text for many groups, options and nodes: as
    bytes, of which a copy is made fast. Version 2 shares nothing, as YAML aliases would have it."""
    return marshal.dumps(parse_foreign(text, source) if foreign else (parse(text, source), []), 2)


def _flatten(document: Any, place: str) -> Iterator[tuple[Any, str]]:
    if (
        isinstance(document, dict)
        and str(document.get("kind", "")).endswith("List")
        and "items" in document
    ):
        for number, item in enumerate(document["items"] or (), start=1):
            yield item, f"{place}, item {number}"
    else:
        yield document, place


def _checked(manifest: Any, place: str, *, named: bool, foreign: bool) -> Obj:
    """A manifest as the API server would take it, as far as its head goes. Raises InvalidInput."""
    if not isinstance(manifest, dict):
        raise _no_object(place, "a mapping", describe(manifest))
    for key in ("apiVersion", "kind"):
        if not isinstance(manifest.get(key), str) or not manifest[key]:
            raise _no_object(place, key, describe(manifest.get(key)))
    if manifest.get("metadata") is None and not named:
        manifest["metadata"] = {}
    _check_metadata(manifest.get("metadata"), place, named=named)
    for path, values in _text_maps(manifest):
        _check_texts(values or {}, path, place, foreign=foreign)
    return manifest


def _check_metadata(metadata: Any, place: str, *, named: bool) -> None:
    if not isinstance(metadata, dict):
        raise _no_object(place, "metadata", describe(metadata))
    if named and (not isinstance(metadata.get("name"), str) or not metadata["name"]):
        raise _no_object(place, "metadata.name as text", describe(metadata.get("name")))


def _check_texts(values: Any, path: str, place: str, *, foreign: bool) -> None:
    """Names and texts, as in labels. foreign: null is made an empty text, as the API server takes it."""
    if not isinstance(values, dict):
        raise _no_object(place, f"a mapping as {path}", describe(values))
    for name, value in values.items():
        if value is None and foreign:
            values[name] = ""
        elif not isinstance(value, str):
            raise _no_object(place, f"text (in quotes) as {path}.{name}", describe(value))


def _text_maps(manifest: Obj) -> Iterator[tuple[str, Any]]:
    """What the API server takes text in only; a number there is a forgotten quote."""
    yield "metadata.labels", manifest["metadata"].get("labels")
    yield "metadata.annotations", manifest["metadata"].get("annotations")
    if manifest["apiVersion"] == "v1" and manifest["kind"] in ("ConfigMap", "Secret"):
        for key in ("data", "stringData"):
            yield key, manifest.get(key)


def _no_object(place: str, expected: str, found: str) -> InvalidInput:
    return InvalidInput(
        "a template does not give a Kubernetes object",
        where=place,
        why=f"expected {expected}, found {found}",
        todo="correct the template",
    )
