# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers: what is one of an API server, and what is said of everything else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.answers import (
    Form,
    NotAnAnswer,
    read_answer,
    read_event,
)

NODE: dict[str, Any] = {"kind": "Node", "metadata": {"name": "a", "labels": {"x": "y"}}, "spec": {}, "status": None}


@pytest.mark.parametrize(
    ("form", "found"),
    [
        (Form.OBJECT, NODE),
        (Form.LIST, {"items": [NODE], "metadata": {"continue": "more"}}),
        (Form.LIST, {"items": None}),
        (Form.DOCUMENT, {"kind": "Status"}),
        (Form.KINDS, {"resources": [{"name": "nodes", "kind": "Node", "namespaced": False}]}),
    ],
)
def test_answers(form: Form, found: Any) -> None:
    assert read_answer(form, json.dumps(found).encode()) == found


@pytest.mark.parametrize(
    ("form", "found", "words"),
    [
        (Form.OBJECT, None, "JSON that is null"),
        (Form.OBJECT, [NODE], "JSON that is a list"),
        (Form.OBJECT, "no", "JSON that is a text"),
        (Form.OBJECT, 7, "JSON that is a number"),
        (Form.OBJECT, {"kind": "Status", "metadata": {}}, "a Status without a name in its metadata"),
        (Form.OBJECT, {"kind": "x y"}, "an object whose metadata is null"),
        (Form.OBJECT, {**NODE, "metadata": []}, "a Node whose metadata is a list"),
        (Form.OBJECT, {**NODE, "metadata": {"name": {}}}, "without a name"),
        (Form.OBJECT, {**NODE, "metadata": {"name": 7}}, "metadata.name is a number"),
        (Form.OBJECT, {**NODE, "metadata": {"name": "a", "labels": ["x"]}}, "metadata.labels is no map of texts"),
        (Form.OBJECT, {**NODE, "metadata": {"name": "a", "labels": {"x": 1}}}, "metadata.labels is no map of texts"),
        (Form.OBJECT, {**NODE, "metadata": {"name": "a", "ownerReferences": ["x"]}}, "no list of objects"),
        (Form.OBJECT, {**NODE, "status": "fine"}, "a Node whose status is a text"),
        (Form.OBJECT, {**NODE, "spec": True}, "a Node whose spec is a boolean"),
        (Form.LIST, NODE, "a Node without a list in items"),
        (Form.LIST, {"items": "many"}, "without a list in items"),
        (Form.LIST, {"items": [NODE, "text"]}, "a list with a text among its items"),
        (Form.LIST, {"items": [{"metadata": None}]}, "an object whose metadata is null"),
        (Form.LIST, {"items": [], "metadata": {"continue": {}}}, None),
        (Form.LIST, {"items": [], "metadata": {"continue": 7}}, "a list whose metadata is spoilt"),
        (Form.KINDS, {"kind": "Status"}, "a Status without a list in resources"),
        (Form.KINDS, {"resources": [{"name": "nodes"}]}, "one that has no name or kind"),
    ],
)
def test_what_is_none(form: Form, found: Any, words: str | None) -> None:
    body = json.dumps(found).encode()
    if words is None:
        assert read_answer(form, body) == found
        return
    with pytest.raises(NotAnAnswer, match=words):
        read_answer(form, body)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "an empty body"),
        (b"<html>\n <p>no</p>", '"<html> <p>no</p>"'),
        (b"\x16\x03\x01", '"..."'),
        (b"[" * 100_000, "spoilt"),
        (b"x" * 100, f'"{"x" * 60}…"'),
    ],
)
def test_what_is_no_json(body: bytes, words: str) -> None:
    with pytest.raises(NotAnAnswer, match=words):
        read_answer(Form.DOCUMENT, body)


def test_what_broke_off_is_not_quoted() -> None:
    body = b'{"data": {"password": "c2VjcmV0'
    with pytest.raises(NotAnAnswer) as caught:
        read_answer(Form.OBJECT, body)
    assert str(caught.value) == f"JSON that breaks off or is spoilt ({len(body)} bytes)"


@pytest.mark.parametrize(
    "line",
    [b"", b"null", b"{}", b'{"type": "ADDED"}', b'{"type": "ODD", "object": {}}', b'{"type": "ADDED", "object": {}}'],
)
def test_lines_that_are_no_events(line: bytes) -> None:
    with pytest.raises(NotAnAnswer):
        read_event(line)


def test_events() -> None:
    assert read_event(json.dumps({"type": "ADDED", "object": NODE}).encode()) == ("ADDED", NODE)
    bookmark = {"kind": "Node", "metadata": {"resourceVersion": "7"}}
    assert read_event(json.dumps({"type": "BOOKMARK", "object": bookmark}).encode()) == ("BOOKMARK", bookmark)
    assert read_event(b'{"type": "ERROR", "object": {"code": 410}}') == ("ERROR", {"code": 410})
