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
    ShapeError,
    kept_of,
    mismatch,
    named,
    named_part,
    shape_of,
    with_mismatch,
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
_HEAD = {"apiVersion": str, "kind": str, "metadata!": METADATA}
# Who set the fields of a Node or Pod is more than all the rest of it.
_LEAN_HEAD = {
    **_HEAD,
    "metadata!": {name: below for name, below in METADATA.items() if name != "managedFields"},
}
_VERSION = {"gitVersion": str, "major!": str, "minor": str}
_REVIEW = {"status!": {"allowed!": bool}}
# With status 200, of a container that the runtime has removed meanwhile (GetContainerLogs in
# pkg/kubelet/kuberuntime/kuberuntime_container.go).
_LOG_IS_GONE = "unable to retrieve container logs for "


@dataclass(frozen=True)
class ReadRules:
    """How much is taken of each object of a list or a watch; all of it by default.

    metadata_only: it has nothing else. leanly: what is read of its kind (object_shapes.py). kept: what
    this shape names. each_alone: of one with fields of other types its metadata (mismatch_of), where
    else it would end the list.
    """

    metadata_only: bool = False
    leanly: bool = False
    kept: Mapping[str, Any] | None = None
    each_alone: bool = False


WHOLE = ReadRules()


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
    found = _object(kind, read_json(answer), WHOLE)
    if name and found["metadata"]["name"] != name:
        raise DecodingError("it is another object than the one that was asked for")
    return found


def read_page(kind: Kind, answer: ApiResponse, rules: ReadRules) -> Page:
    """(items, the token to continue with, resource version) of one page of a list."""
    found = read_json(answer)
    _fit(found, _LIST)
    if not str(found.get("kind", "List")).endswith("List") or "items" not in found:
        raise DecodingError("a list is due")
    # A list of nothing may be null: so Go writes a slice that nobody made.
    items = [_object(kind, item, rules) for item in found["items"] or []]
    metadata = part(found, "metadata")
    return items, metadata.get("continue") or "", metadata.get("resourceVersion") or ""


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


def read_event(kind: Kind, line: bytes, rules: ReadRules) -> tuple[str, Obj]:
    """(type, object) of one line of a watch. The object of an ERROR is a Status, that of a BOOKMARK
    mere metadata."""
    found = _json(line)
    type_, obj = found.get("type"), found.get("object")
    if type_ not in EVENT_TYPES or not isinstance(obj, dict):
        raise DecodingError("an event is due")
    if type_ == "BOOKMARK":
        _fit(obj, {"metadata!": {"resourceVersion!": str}})
    elif type_ != "ERROR":
        obj = _object(kind, obj, rules)
    return type_, obj


def _json(body: bytes) -> Obj:
    try:
        found = parse_json(body, cut=True)
    except JsonError as error:
        raise DecodingError(str(error)) from None
    if not isinstance(found, dict):
        raise DecodingError(f"it is {named(found)}, where an object is due")
    return found


def _object(kind: Kind, found: Any, rules: ReadRules) -> Obj:
    """The object itself, or what is to be taken of it, with apiVersion, kind, and at least empty
    texts as uid and resourceVersion."""
    if not isinstance(found, dict):
        raise DecodingError(f"an item is {named(found)}, where an object is due")
    if not rules.metadata_only and found.get("kind", kind.kind) != kind.kind:
        raise DecodingError(f"an object of kind {kind.kind} is due")
    found["apiVersion"], found["kind"] = kind.api_version, kind.kind
    try:
        is_whole = not rules.leanly and rules.kept is None
        head: Obj = named_part(found, _HEAD if is_whole else _LEAN_HEAD)
        if kind.namespaced and not head["metadata"].get("namespace"):
            raise DecodingError("metadata.namespace is missing")
        taken = _taken(kind, found, head, rules)
    except ShapeError as wrong:
        raise DecodingError(str(wrong)) from None
    taken["metadata"].setdefault("uid", "")
    taken["metadata"].setdefault("resourceVersion", "")
    return taken


def _taken(kind: Kind, found: Obj, head: Obj, rules: ReadRules) -> Obj:
    """head: apiVersion, kind and metadata of the object. Raises ShapeError."""
    if rules.metadata_only:
        return found
    shape = shape_of(kind.api_version, kind.kind)
    try:
        if rules.leanly:
            return {**head, **named_part(found, kept_of(kind.api_version, kind.kind))}
        named_part(found, shape)
        return found if rules.kept is None else {**head, **named_part(found, rules.kept)}
    except ShapeError as wrong:
        if not rules.each_alone:
            raise
        return with_mismatch(head, str(wrong))


def _fit(found: Obj, shape: Mapping[str, Any]) -> Obj:
    if wrong := mismatch(found, shape):
        raise DecodingError(wrong)
    return found
