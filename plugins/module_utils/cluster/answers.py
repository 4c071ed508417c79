# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what an API server answers, and tell what is no answer of one. Pure.

A proxy, a load balancer or a login page may answer in its place, with status 200. Whoever calls the client relies on
the shapes that are checked here and on nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

Obj = dict[str, Any]

_TEXTS = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
_TEXT_MAPS = ("labels", "annotations")
_WATCH_TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"})
_FIRST_WORDS = 60


class Form(Enum):
    """What an answer has to be.

    OBJECT: one with metadata and a name. LIST: such objects in items. DOCUMENT: any JSON object, such as a Status or
    the version. KINDS: what a group-version serves. TEXT: a log.
    """

    OBJECT = "object"
    LIST = "list"
    DOCUMENT = "document"
    KINDS = "kinds"
    TEXT = "text"


class NotAnAnswer(Exception):  # noqa: N818  (it is a finding, which the transport turns into the error)
    """What came is not what an API server answers; its text says what it is instead."""


def read_answer(form: Form, body: bytes, content_type: str = "") -> Any:
    """A JSON object, or text for TEXT; raises NotAnAnswer."""
    if form is Form.TEXT:
        if content_type.startswith("text/html"):
            raise NotAnAnswer(_quote(body))
        return body.decode(errors="replace")
    found = _parse(body)
    if form is Form.OBJECT:
        _check_object(found)
    elif form is Form.LIST:
        _check_list(found)
    elif form is Form.KINDS:
        _check_kinds(found)
    return found


def read_event(line: bytes) -> tuple[str, Obj]:
    """(type, object) of one line of a watch; the object of an ERROR is a Status. Raises NotAnAnswer."""
    found = _parse(line)
    type_, obj = found.get("type"), found.get("object")
    if type_ not in _WATCH_TYPES or not isinstance(obj, dict):
        raise NotAnAnswer("a line that is no event of a watch")
    if type_ == "BOOKMARK":
        _check_metadata(_metadata_of(obj))
    elif type_ != "ERROR":
        _check_object(obj)
    return str(type_), obj


def _parse(body: bytes) -> Obj:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        raise NotAnAnswer(_quote(body)) from None
    if not isinstance(found, dict):
        raise NotAnAnswer(f"JSON that is {_kind_of(found)}")
    return found


def _quote(body: bytes) -> str:
    """The first words of what is no JSON. What looks like JSON is not quoted: it may be a Secret that broke off."""
    text = body[:1000].decode(errors="replace")
    words = "".join(letter if letter.isprintable() else "." for letter in " ".join(text.split()))
    if not words:
        return "an empty body"
    if words[0] in '{["':
        return f"JSON that breaks off or is spoilt ({len(body)} bytes)"
    return f'"{words[:_FIRST_WORDS]}{"…" if len(words) > _FIRST_WORDS else ""}"'


def _check_object(found: Mapping[str, Any]) -> None:
    metadata = _metadata_of(found)
    if not metadata.get("name"):
        raise NotAnAnswer(f"{_name_of(found)} without a name in its metadata")
    _check_metadata(metadata)
    for part in ("spec", "status"):
        if not isinstance(found.get(part) or {}, dict):
            raise NotAnAnswer(f"{_name_of(found)} whose {part} is {_kind_of(found[part])}")


def _metadata_of(found: Mapping[str, Any]) -> Obj:
    metadata = found.get("metadata")
    if not isinstance(metadata, dict):
        raise NotAnAnswer(f"{_name_of(found)} whose metadata is {_kind_of(metadata)}")
    return metadata


def _check_metadata(metadata: Mapping[str, Any]) -> None:
    for name in _TEXTS:
        if not isinstance(metadata.get(name) or "", str):
            raise NotAnAnswer(f"an object whose metadata.{name} is {_kind_of(metadata[name])}")
    for name in _TEXT_MAPS:
        entries = metadata.get(name) or {}
        if not isinstance(entries, dict) or not all(isinstance(value, str) for value in entries.values()):
            raise NotAnAnswer(f"an object whose metadata.{name} is no map of texts")
    for name in ("ownerReferences", "managedFields"):
        entries = metadata.get(name) or []
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise NotAnAnswer(f"an object whose metadata.{name} is no list of objects")


def _check_list(found: Mapping[str, Any]) -> None:
    items = found.get("items")
    if "items" not in found or not isinstance(items or [], list):
        raise NotAnAnswer(f"{_name_of(found)} without a list in items")
    metadata = found.get("metadata") or {}
    if not isinstance(metadata, dict) or not isinstance(metadata.get("continue") or "", str):
        raise NotAnAnswer("a list whose metadata is spoilt")
    for item in items or []:
        if not isinstance(item, dict):
            raise NotAnAnswer(f"a list with {_kind_of(item)} among its items")
        _check_object(item)


def _check_kinds(found: Mapping[str, Any]) -> None:
    entries = found.get("resources")
    if not isinstance(entries, list):
        raise NotAnAnswer(f"{_name_of(found)} without a list in resources")
    for entry in entries:
        if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in ("kind", "name")):
            raise NotAnAnswer("a list of resources with one that has no name or kind")


def _name_of(found: Mapping[str, Any]) -> str:
    kind = found.get("kind")
    return f"a {kind}" if isinstance(kind, str) and kind.isalnum() and len(kind) <= _FIRST_WORDS else "an object"


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "a boolean", list: "a list", str: "a text", dict: "an object"}
    return names.get(type(value), "a number")
