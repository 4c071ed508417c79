# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""500 spoilt answers over all calls: each call ends, with a result or with one sentence."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.cluster import lock, transport
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.authorization import Access, missing
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.identity import identify
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import builtin
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.watch import WatchHub
from ansible_collections.hardware.enablement.plugins.module_utils.errors import EnablementError

SPOILT = 500
POD, NODE = builtin("v1", "Pod"), builtin("v1", "Node")
METADATA = {"name": "a", "namespace": "n", "uid": "1", "resourceVersion": "7", "labels": {"x": "y"}}
OBJECT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {**METADATA, "ownerReferences": [{"kind": "Job", "name": "j"}], "annotations": {"b": "c"}},
    "spec": {"nodeName": "node", "holderIdentity": "me", "renewTime": "2026-01-01T00:00:00Z"},
    "status": {"phase": "Running", "allowed": True},
}
LIST = {"kind": "PodList", "metadata": {"resourceVersion": "9", "continue": ""}, "items": [OBJECT, OBJECT]}
KINDS = {"kind": "APIResourceList", "resources": [{"name": "things", "kind": "Thing", "namespaced": True}]}
STATUS = {"kind": "Status", "code": 422, "reason": "Invalid", "details": {"causes": [{"field": "x", "message": "y"}]}}
EVENT = {"type": "ADDED", "object": OBJECT}


def _watch(client: Client) -> None:
    hub = WatchHub(client, patience_s=0.0)
    hub.subscribe(POD)
    hub.next(0.02)
    hub.close()


CALLS: list[tuple[Callable[[Client], Any], Any]] = [
    (lambda client: client.get(POD, "a", "n"), OBJECT),
    (lambda client: client.list(POD), LIST),
    (lambda client: client.list(NODE, metadata_only=True, limit=1), LIST),
    (lambda client: list(client.watch(POD, resource_version="1", timeout_s=1.0)), EVENT),
    (_watch, LIST),
    (_watch, EVENT),
    (lambda client: client.apply(OBJECT), OBJECT),
    (lambda client: client.create(OBJECT), OBJECT),
    (lambda client: client.patch(NODE, "a", None, {"metadata": {"labels": {"x": "z"}}}), OBJECT),
    (lambda client: client.delete(POD, "a", "n", uid="1"), STATUS),
    (lambda client: client.delete_collection(POD, namespace="n", labels="x=y"), STATUS),
    (lambda client: client.create_subresource(POD, "a", "n", "eviction", {}), STATUS),
    (lambda client: client.logs("n", "a"), "line"),
    (lambda client: client.newest_warning("n", "Pod", "a"), LIST),
    (lambda client: client.version(), {"gitVersion": "v1.36.2"}),
    (lambda client: client.kind("example.com/v1", "Thing"), KINDS),
    (lambda client: client.serves("example.com/v1", "Thing"), KINDS),
    (lambda client: missing(client, {Access("", "pods", "n", "get"): frozenset({"a"})}), OBJECT),
    (identify, OBJECT),
    (lambda client: lock.read(client, "gpu"), OBJECT),
    (lambda client: lock.RunLock(client, "gpu", "me").acquire(), OBJECT),
]
JUNK: list[Any] = [None, "", "text", 0, -1, 1.5, True, [], {}, ["x"], [None], {"x": 1}, {"name": []}, "\x00", "ä" * 300]
BODIES = [b"", b"null", b"[]", b"true", b"{", b"<html>", b"\xff\xfe", b"[" * 5000, b'{"items": "text"}', b"{}\n{}"]
STATUSES = [200, 201, 204, 301, 302, 400, 403, 404, 409, 410, 418, 422, 429, 500, 503]
HEADERS = [{}, {"Retry-After": "soon"}, {"Retry-After": "-1"}, {"Content-Type": "text/html"}, {"Warning": "299"}]


def _spoil(dice: random.Random, found: Any) -> Any:
    """The answer with one place of it, at any depth, replaced or taken away."""
    found = copy.deepcopy(found)
    places = []
    left = [found]
    while left:
        entry = left.pop()
        keys = list(entry) if isinstance(entry, dict) else list(range(len(entry))) if isinstance(entry, list) else []
        places += [(entry, key) for key in keys]
        left += [entry[key] for key in keys]
    if not places:
        return dice.choice(JUNK)
    entry, key = dice.choice(places)
    if dice.random() < 0.2:
        del entry[key]
    else:
        entry[key] = copy.deepcopy(dice.choice(JUNK))
    return found


@pytest.mark.parametrize("tenth", range(10))
def test_spoilt_answers(fake: Any, monkeypatch: pytest.MonkeyPatch, tenth: int) -> None:
    # What is sent again is the subject of other tests.
    monkeypatch.setattr(transport, "FIRST_PATIENCE_S", 0.0)
    refused = 0
    for number in range(tenth * SPOILT // 10, (tenth + 1) * SPOILT // 10):
        dice = random.Random(number)
        call, good = CALLS[number % len(CALLS)]
        body = dice.choice(BODIES) if dice.random() < 0.3 else json.dumps(_spoil(dice, good)).encode()
        status = 200 if dice.random() < 0.7 else dice.choice(STATUSES)
        fake.script((status, dice.choice(HEADERS), body))
        fake.asked.clear()
        try:
            call(fake.client())
        except EnablementError as error:
            refused += 1
            text = str(error)
            assert text.endswith(".") and "\n" not in text, (number, text)
            assert "Traceback" not in text and "Error:" not in text, (number, text)
        except Exception as error:
            raise AssertionError(f"case {number}: {body[:80]!r}") from error
        assert len(fake.asked) < 20, (number, "a loop")
    assert refused > SPOILT // 40, "the answers are hardly spoilt"
