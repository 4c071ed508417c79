# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label and field selectors. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.cluster.builds_api.kinds import Obj
from tests.cluster.builds_api.refusals import bad_request

Matches = Callable[[Obj], bool]
_SET = re.compile(r"^\s*(?P<key>[^\s!=,()]+)\s+(?P<word>in|notin)\s*\((?P<values>[^)]*)\)\s*$")
_COMPARED = re.compile(
    r"^\s*(?P<key>[^\s!=,()]+)\s*(?P<operator>==|!=|=)\s*(?P<value>[^\s!=,()]*)\s*$"
)
_EXISTS = re.compile(r"^\s*(?P<absent>!?)\s*(?P<key>[^\s!=,()]+)\s*$")


def selector(labels: str, fields: str) -> Matches:
    """A test for objects that both selectors (or one, or none) choose; raises RefusalError for text
    that is none."""
    tests = [_label_test(part) for part in _split(labels)] + [
        _field_test(part) for part in _split(fields)
    ]
    return lambda obj: all(test(obj) for test in tests)


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    return [part for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _label_test(text: str) -> Matches:
    if found := _SET.match(text):
        key, values = found["key"], {value.strip() for value in found["values"].split(",")}
        wanted = found["word"] == "in"
        return lambda obj: (_labels(obj).get(key) in values) == wanted
    if found := _COMPARED.match(text):
        key, value, equal = found["key"], found["value"], found["operator"] != "!="
        return lambda obj: (_labels(obj).get(key) == value) == equal
    if found := _EXISTS.match(text):
        key, present = found["key"], not found["absent"]
        return lambda obj: (key in _labels(obj)) == present
    raise bad_request(f'unable to parse requirement: "{text}"')


def _field_test(text: str) -> Matches:
    found = _COMPARED.match(text)
    if found is None:
        raise bad_request(f'invalid field selector: "{text}"')
    read, value, equal = _FIELDS.get(found["key"]), found["value"], found["operator"] != "!="
    if read is None:
        raise bad_request(f"field label not supported: {found['key']}")
    return lambda obj: (read(obj) == value) == equal


def _labels(obj: Obj) -> dict[str, str]:
    return obj["metadata"].get("labels") or {}


# The last two are of builds: openshift-apiserver, pkg/build/apis/build/fields.go.
_FIELDS: dict[str, Callable[[Obj], str]] = {
    "metadata.name": lambda obj: obj["metadata"]["name"],
    "metadata.namespace": lambda obj: obj["metadata"]["namespace"],
    "status": lambda obj: str((obj.get("status") or {}).get("phase", "")),
    "podName": lambda obj: f"{obj['metadata']['name']}-build",
}
