# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From answers to what they say: the one place where it is decided what an answer of an API server
is. Pure.

A login page with status 200 is none, nor is JSON that ends early, a list in the place of an object
or text in the place of its labels. Who gets an object from here may rely on its metadata and its
shape (object_shapes.py)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ..._json import JsonError, Obj, elements, parse_json, part
from ..api_objects.kinds import Kind
from ..api_objects.object_shapes import (
    METADATA,
    kept_of,
    mismatch,
    mismatch_of,
    named,
    named_part,
    shape_of,
    without_mismatch,
)

JSON = "application/json"
# Of a list that is read or removed; without this the API server tells all of each object.
METADATA_ALONE = f"{JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
# All kinds of all groups in one answer (KEP-3352), by the version of its own form that is served.
ALL_KINDS = ",".join(
    f"{JSON};g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)

# Items, the token to continue with, resource version.
Page = tuple[list[Obj], str, str]
EVENT_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})
_WORDS = 80
_HIDDEN = "…"
# Tokens, keys and hashes; words of a page are shorter.
_SECRETS = re.compile(r"[\w+/=.~-]{24,}")
_INVISIBLE = re.compile(
    r"<(script|style)\b.*?(</\1>|$)|<!--.*?(-->|$)|<[^>]*(>|$)", re.DOTALL | re.IGNORECASE
)
_LIST = {"kind": str, "metadata": {"continue": str, "resourceVersion": str}, "items": list}
_KINDS = {"resources!": [{"kind!": str, "name!": str, "namespaced": bool}]}
_DISCOVERY = {
    "kind!": str,
    "items": [
        {
            "metadata": {"name": str},
            "versions": [
                {
                    "version!": str,
                    "freshness": str,
                    "resources": [
                        {
                            "resource!": str,
                            "responseKind": {"kind": str},
                            "scope": str,
                            "verbs": [str],
                        }
                    ],
                }
            ],
        }
    ],
}
# What is kept of every object; who set its fields is more than all the rest.
_HEAD = {
    "apiVersion": str,
    "kind": str,
    "metadata": {name: below for name, below in METADATA.items() if name != "managedFields"},
}
_VERSION = {"gitVersion": str, "major!": str, "minor": str}
_REVIEW = {"status!": {"allowed!": bool}}
# With status 200, of a container that the runtime has removed meanwhile (GetContainerLogs in
# pkg/kubelet/kuberuntime/kuberuntime_container.go).
_LOG_IS_GONE = "unable to retrieve container logs for "


class DecodingError(Exception):
    """An answer is none of an API server. str() says what is wrong with it, without showing what it
    holds."""


@dataclass(frozen=True)
class ApiResponse:
    """An answer as it came. headers are found in any case of letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def content_type(self) -> str:
        """Without parameters; "" where none is told."""
        return (self.headers.get("Content-Type") or "").partition(";")[0].strip().lower()

    def __str__(self) -> str:
        """What answered, for messages: status, content type and the first words of what is no JSON."""
        parts = [f"HTTP status {self.status}", self.content_type]
        if 300 <= self.status < 400:
            parts.append(
                f"it leads to {urlsplit(self.headers.get('Location') or '').hostname or 'nowhere'}"
            )
        parts.append(first_words(self.body))
        return ", ".join(filter(None, parts))


def first_words(body: bytes) -> str:
    """The first words of a page or text, quoted; "" of JSON, which may be an object that holds
    secrets."""
    text = body[:4000].decode(errors="replace").strip()
    if not text or text[0] in '{["':
        return ""
    words = _SECRETS.sub(_HIDDEN, " ".join(_INVISIBLE.sub(" ", text).split()))
    words = "".join(letter for letter in words if letter.isprintable())
    return f'"{words[:_WORDS]}{_HIDDEN if len(words) > _WORDS else ""}"' if words else ""


def read_json(answer: ApiResponse) -> Obj:
    """Any JSON object."""
    if answer.content_type not in ("", JSON):
        raise DecodingError("JSON is due")
    return _json(answer.body)


def read_object(kind: Kind, name: str | None, answer: ApiResponse) -> Obj:
    """An object of this kind, and of this name where there is one; it has apiVersion and kind."""
    found = _object(kind, read_json(answer))
    if name and found["metadata"]["name"] != name:
        raise DecodingError("it is another object than the one that was asked for")
    return found


def read_page(
    kind: Kind, answer: ApiResponse, *, metadata_only: bool, each_alone: bool = False
) -> Page:
    """(items, the token to continue with, resource version) of one page of a list. each_alone: an
    item with fields of other types has only its metadata (mismatch_of), instead of ending the list."""
    found = read_json(answer)
    _fit(found, _LIST)
    if not str(found.get("kind", "List")).endswith("List") or "items" not in found:
        raise DecodingError("a list is due")
    # A list of nothing may be null: so Go writes a slice that nobody made.
    items = [
        _object(kind, item, metadata_only=metadata_only, each_alone=each_alone)
        for item in found["items"] or []
    ]
    metadata = part(found, "metadata")
    return items, metadata.get("continue") or "", metadata.get("resourceVersion") or ""


def lean(obj: Obj, kept: Mapping[str, Any] | None = None) -> Obj:
    """An object with nothing but what is read of its kind (object_shapes.py), or what kept, a shape,
    names; who set its fields left out: of a Node or Pod that is a small part."""
    if mismatch_of(obj):
        return obj
    kept = kept or kept_of(obj["apiVersion"], obj["kind"])
    return dict(named_part(obj, {**_HEAD, **kept}))


def read_kinds(api_version: str, answer: ApiResponse) -> dict[str, Kind]:
    """The kinds of a group-version, by name."""
    found = read_json(answer)
    _fit(found, _KINDS)
    group, _slash, version = api_version.rpartition("/")
    return {
        entry["kind"]: Kind(
            group, version, entry["kind"], entry["name"], bool(entry.get("namespaced"))
        )
        for entry in found["resources"]
        if "/" not in entry["name"]
    }


def read_namespaced(answer: ApiResponse, verbs: Set[str]) -> tuple[list[Kind], list[str]]:
    """The kinds of all groups that live in a namespace and allow all these verbs, each in the version
    that its group prefers; and the group-versions that do not answer at the moment."""
    found = _fit(read_json(answer), _DISCOVERY)
    if found["kind"] != "APIGroupDiscoveryList":
        raise DecodingError("the kinds of all groups are due")
    kinds: dict[tuple[str, str], Kind] = {}
    silent = []
    for group in elements(found, "items"):
        name = part(group, "metadata").get("name") or ""
        for version in elements(group, "versions"):
            if version.get("freshness") == "Stale":
                silent.append(f"{name}/{version['version']}")
            for kind in _namespaced(name, version, verbs):
                kinds.setdefault((name, kind.plural), kind)
    return list(kinds.values()), silent


def _namespaced(group: str, version: Mapping[str, Any], verbs: Set[str]) -> Iterator[Kind]:
    for each in elements(version, "resources"):
        if each.get("scope") == "Namespaced" and verbs <= set(elements(each, "verbs")):
            kind = str(part(each, "responseKind").get("kind") or "")
            yield Kind(group, version["version"], kind, each["resource"], namespaced=True)


def read_version(answer: ApiResponse) -> Obj:
    """What GET /version tells."""
    return _fit(read_json(answer), _VERSION)


def read_review(answer: ApiResponse) -> bool:
    """What a SelfSubjectAccessReview allows."""
    return bool(_fit(read_json(answer), _REVIEW)["status"]["allowed"])


def read_made(answer: ApiResponse) -> Obj:
    """What a POST to a subresource answers: the object that it made, or a Status."""
    found = _fit(read_json(answer), {"kind!": str, "metadata": {}})
    return found if found["kind"] == "Status" else _fit(found, {"metadata!": METADATA})


def read_removal(answer: ApiResponse) -> Obj:
    """What a DELETE answers: the object as it goes, a list of such, or a Status."""
    return _fit(read_json(answer), {"kind!": str, "items": list})


def read_log(answer: ApiResponse) -> str:
    """Lines of a container; none where its log is gone."""
    if answer.content_type == "text/html":
        raise DecodingError("a log is due")
    text = answer.body.decode(errors="replace")
    return "" if text.startswith(_LOG_IS_GONE) else text


def read_text(answer: ApiResponse) -> str:
    """Whatever somebody behind the API server says."""
    return answer.body.decode(errors="replace")


def read_event(kind: Kind, line: bytes, *, each_alone: bool = False) -> tuple[str, Obj]:
    """(type, object) of one line of a watch. The object of an ERROR is a Status, that of a BOOKMARK
    mere metadata. each_alone: as of a page."""
    found = _json(line)
    type_, obj = found.get("type"), found.get("object")
    if type_ not in EVENT_TYPES or not isinstance(obj, dict):
        raise DecodingError("an event is due")
    if type_ == "BOOKMARK":
        _fit(obj, {"metadata!": {"resourceVersion!": str}})
    elif type_ != "ERROR":
        obj = _object(kind, obj, each_alone=each_alone)
    return type_, obj


def _json(body: bytes) -> Obj:
    try:
        found = parse_json(body, cut=True)
    except JsonError as error:
        raise DecodingError(str(error)) from None
    if not isinstance(found, dict):
        raise DecodingError(f"it is {named(found)}, where an object is due")
    return found


def _object(
    kind: Kind, found: Any, *, metadata_only: bool = False, each_alone: bool = False
) -> Obj:
    """The object itself, with apiVersion, kind, and at least empty texts as uid and
    resourceVersion; each_alone: as of a page."""
    if not isinstance(found, dict):
        raise DecodingError(f"an item is {named(found)}, where an object is due")
    if not metadata_only and found.get("kind", kind.kind) != kind.kind:
        raise DecodingError(f"an object of kind {kind.kind} is due")
    _fit(found, {"metadata!": METADATA})
    wrong = "" if metadata_only else mismatch(found, shape_of(kind.api_version, kind.kind))
    if wrong and not each_alone:
        raise DecodingError(wrong)
    taken: Obj = without_mismatch(found, wrong) if wrong else found
    metadata = taken["metadata"]
    if kind.namespaced and not metadata.get("namespace"):
        raise DecodingError("metadata.namespace is missing")
    taken["apiVersion"], taken["kind"] = kind.api_version, kind.kind
    metadata.setdefault("uid", "")
    metadata.setdefault("resourceVersion", "")
    return taken


def _fit(found: Obj, shape: Mapping[str, Any]) -> Obj:
    if wrong := mismatch(found, shape):
        raise DecodingError(wrong)
    return found
