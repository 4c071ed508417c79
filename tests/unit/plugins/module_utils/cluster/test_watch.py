# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Watches: events, their end, and a hub that goes on through cuts and expired versions."""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client import watch
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Forbidden,
    Gone,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.watch import (
    WatchEvent,
    WatchHub,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    builtin,
)
from tests.unit.patience import PATIENCE_S

POD = builtin("v1", "Pod")
CUT = "cut the connection"


def pod(name: str, version: int, uid: str = "") -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": "n",
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "managedFields": [{}]},
        "spec": {"nodeName": "node", "containers": []},
    }


def event(type_: str, name: str, version: int) -> dict[str, Any]:
    return {"type": type_, "object": pod(name, version)}


def pods(version: int, *items: dict[str, Any]) -> tuple[int, dict[str, str], Any]:
    return 200, {}, {"metadata": {"resourceVersion": str(version)}, "items": list(items)}


GONE = {
    "type": "ERROR",
    "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"},
}


def gather(hub: WatchHub, count: int, seconds: float = PATIENCE_S) -> list[tuple[str, str]]:
    """(type, name) of the next events, in order."""
    found: list[WatchEvent] = []
    deadline = time.monotonic() + seconds
    while len(found) < count and time.monotonic() < deadline:
        found += hub.next(0.1)
    return [(event.type, event.object["metadata"]["name"]) for event in found]


def watching_since(before: list[threading.Thread]) -> list[threading.Thread]:
    """The threads of hubs that were made since then, not those of other tests of this process."""
    now = threading.enumerate()
    return [each for each in now if each.name == "watch-pods" and each not in before]


def test_a_watch_gives_events_and_bookmarks(fake: Any) -> None:
    bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}}
    fake.script((200, {}, [event("ADDED", "a", 2), bookmark]))
    found = list(
        fake.client().watch(POD, namespace="n", labels="x", resource_version="1", timeout_s=30)
    )
    assert [entry.type for entry in found] == ["ADDED", "BOOKMARK"]
    assert (
        "/api/v1/namespaces/n/pods?labelSelector=x&watch=true&allowWatchBookmarks=true"
        in fake.asked[0].path
    )
    assert "resourceVersion=1&timeoutSeconds=30" in fake.asked[0].path


def test_an_expired_version_is_gone_at_the_start_or_later(fake: Any) -> None:
    client = fake.client()
    fake.script((410, {}, {"kind": "Status", "code": 410, "reason": "Gone"}))
    with pytest.raises(Gone):
        client.watch(POD, resource_version="1", timeout_s=5)
    fake.script((200, {}, [event("ADDED", "a", 2), GONE]))
    stream = client.watch(POD, resource_version="1", timeout_s=5)
    assert next(stream).type == "ADDED"
    with pytest.raises(Gone, match="too old"):
        next(stream)


def test_a_cut_watch_says_so(fake: Any) -> None:
    fake.script((200, {}, [event("ADDED", "a", 2), CUT]))
    stream = fake.client().watch(POD, resource_version="1", timeout_s=5)
    assert next(stream).type == "ADDED"
    with pytest.raises(Unreachable, match="the connection was lost"):
        next(stream)


def test_a_watch_ends_when_it_is_told_to(fake: Any) -> None:
    hold = threading.Event()
    fake.script((200, {}, [event("ADDED", "a", 2), lambda: hold.wait(20)]))
    stream = fake.client().watch(POD, resource_version="1", timeout_s=60)
    assert next(stream).type == "ADDED"
    threading.Timer(0.2, stream.stop).start()
    started = time.monotonic()
    assert list(stream) == []
    hold.set()
    assert time.monotonic() - started < 3


def test_the_hub_goes_on_after_a_cut_and_tells_the_difference_after_gone(fake: Any) -> None:
    *taken, end = [threading.Event() for _turn in range(5)]
    listed, changed, added, renewed, hold = (
        partial(each.wait, PATIENCE_S) for each in (*taken, end)
    )
    fake.script(
        pods(5, pod("a", 1), pod("b", 2), pod("c", 3)),
        (200, {}, [listed, event("MODIFIED", "a", 6), changed, CUT]),
        (200, {}, [event("ADDED", "d", 7), added, GONE]),
        # a: as before; b: changed; c: gone; d: another one of the same name; e: new
        pods(20, pod("a", 6), pod("b", 18), pod("d", 19, uid="new"), pod("e", 20)),
        (200, {}, [renewed, event("MODIFIED", "e", 21), hold]),
    )
    hub = WatchHub(fake.client())
    hub.subscribe(POD, namespace="n")
    told = []
    for count, turn in zip((3, 1, 1, 5), taken, strict=True):
        told.append(gather(hub, count))
        turn.set()
    told.append(gather(hub, 1))
    assert told == [
        [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "c")],
        [("MODIFIED", "a")],
        [("ADDED", "d")],
        [("MODIFIED", "b"), ("DELETED", "d"), ("ADDED", "d"), ("ADDED", "e"), ("DELETED", "c")],
        [("MODIFIED", "e")],
    ]
    assert "resourceVersion=6&" in fake.asked[2].path
    assert "resourceVersion=20&" in fake.asked[4].path
    hub.close()
    end.set()


def test_of_what_changes_before_it_is_taken_the_last_is_told_in_its_place(fake: Any) -> None:
    hold = threading.Event()
    changes = [
        *(event("MODIFIED", "a", version) for version in range(6, 500)),
        *(event("ADDED", "d", 500), event("MODIFIED", "b", 501), event("DELETED", "b", 502)),
        *(event("MODIFIED", "a", 503), event("ADDED", "e", 504)),
    ]
    fake.script(
        pods(5, pod("a", 1), pod("b", 2)), (200, {}, [*changes, lambda: hold.wait(PATIENCE_S)])
    )
    hub = WatchHub(fake.client(), most_waiting=10)
    hub.subscribe(POD, namespace="n")
    deadline = time.monotonic() + PATIENCE_S
    while hub._subscriptions[0].resource_version != "504" and time.monotonic() < deadline:
        time.sleep(0.05)
    found = [
        (each.type, each.object["metadata"]["name"], each.object["metadata"]["resourceVersion"])
        for each in hub.next(1.0)
    ]
    assert found == [
        ("ADDED", "a", "503"),
        ("DELETED", "b", "502"),
        ("ADDED", "d", "500"),
        ("ADDED", "e", "504"),
    ]
    hub.close()
    hold.set()


def test_what_nobody_takes_waits_outside_and_nothing_is_lost(fake: Any) -> None:
    """A play may keep who listens for hours, while nodes and pods go on to change."""
    hold = threading.Event()
    changes = [event("MODIFIED", f"p-{number}", number + 2) for number in range(500)]
    fake.script(pods(1), (200, {}, [*changes, lambda: hold.wait(20)]))
    hub = WatchHub(fake.client(), most_waiting=10)
    hub.subscribe(POD, namespace="n")
    time.sleep(0.5)
    found: list[str] = []
    for _turn in range(500):
        told = hub.next(0.2)
        assert len(told) <= 10
        found += [each.object["metadata"]["name"] for each in told]
        if len(found) == 500:
            break
    assert found == [f"p-{number}" for number in range(500)]
    hub.close()
    hold.set()


def test_a_hub_that_is_closed_while_its_queue_is_full_ends_its_threads(fake: Any) -> None:
    fake.script(pods(1, *(pod(f"p-{number}", number + 2) for number in range(50))))
    before = threading.enumerate()
    hub = WatchHub(fake.client(), most_waiting=10)
    hub.subscribe(POD, namespace="n")
    time.sleep(0.3)
    (thread,) = watching_since(before)
    # It has not come to the end of its list, after which it watches.
    assert not [asked for asked in fake.asked if "watch=" in asked.path]
    hub.close()
    thread.join(5)
    assert not thread.is_alive()


def test_a_lean_subscription_tells_nothing_but_what_is_read(fake: Any) -> None:
    client = fake.client()
    taken = threading.Event()
    changed = [lambda: taken.wait(PATIENCE_S), event("MODIFIED", "a", 6)]
    fake.script(pods(5, pod("a", 3)), (200, {}, changed))
    hub = WatchHub(client)
    hub.subscribe(POD, namespace="n", leanly=True)
    found: list[WatchEvent] = []
    while len(found) < 2:
        found += hub.next(5.0)
        taken.set()
    hub.close()
    assert all("managedFields" not in told.object["metadata"] for told in found)
    assert [told.object["spec"] for told in found] == [{"nodeName": "node"}] * 2
    assert found[0].object["metadata"]["name"] is found[1].object["metadata"]["name"]


def test_synced_is_true_only_after_everything_was_handed_out(fake: Any) -> None:
    hold = threading.Event()
    lists = {"pods": pods(1, pod("a", 1)), "nodes": pods(1)}

    def answer(asked: Any) -> tuple[int, dict[str, str], Any]:
        if "watch=true" in asked.path:
            return 200, {}, [lambda: hold.wait(20)]
        return lists["nodes" if "/nodes" in asked.path else "pods"]

    fake.answer = answer
    hub = WatchHub(fake.client())
    hub.subscribe(POD)
    hub.subscribe(builtin("v1", "Node"))
    time.sleep(0.5)
    assert not hub.synced
    events = hub.next(1.0)
    assert [(entry.type, entry.object["kind"]) for entry in events] == [("ADDED", "Pod")]
    assert "managedFields" not in events[0].object["metadata"]
    assert hub.synced
    started = time.monotonic()
    assert hub.next(0.2) == []
    assert 0.15 < time.monotonic() - started < 1
    hub.close()
    hold.set()


def test_an_end_that_no_waiting_heals_reaches_the_caller(fake: Any) -> None:
    fake.script(
        (
            403,
            {},
            {
                "kind": "Status",
                "code": 403,
                "reason": "Forbidden",
                "message": "alice cannot list pods",
            },
        )
    )
    hub = WatchHub(fake.client())
    hub.subscribe(POD)
    with pytest.raises(Forbidden, match="alice cannot list pods"):
        hub.next(5.0)
    with pytest.raises(Forbidden):
        hub.next(0.0)
    hub.close()


def test_an_error_ends_a_subscription_with_a_source_alone(fake: Any) -> None:
    hold = threading.Event()

    def answer(asked: Any) -> tuple[int, dict[str, str], Any]:
        if "/nodes" in asked.path:
            return (
                403,
                {},
                {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "alice may not"},
            )
        if "watch=true" in asked.path:
            return 200, {}, [lambda: hold.wait(20)]
        return pods(1, pod("a", 1))

    fake.answer = answer
    hub = WatchHub(fake.client())
    hub.subscribe(POD, source="pods")
    hub.subscribe(builtin("v1", "Node"), source="nodes")
    found: list[WatchEvent] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(found) < 3 and time.monotonic() < deadline:
        found += hub.next(0.1)
    assert {(entry.source, entry.type) for entry in found} == {
        ("pods", "ADDED"),
        ("pods", "SYNCED"),
        ("nodes", "ERROR"),
    }
    assert "alice may not" in next(
        entry.object["message"] for entry in found if entry.type == "ERROR"
    )
    assert hub.synced
    hub.close()
    hold.set()


def test_an_outage_reaches_the_caller_only_where_nothing_was_read_yet(fake: Any) -> None:
    fake.script((503, {}, b"down"))
    hub = WatchHub(fake.client(), patience_s=0.5)
    hub.subscribe(POD)
    with pytest.raises(Unreachable, match="down"):
        gather(hub, 1)
    hub.close()


CUT_AT_ONCE: dict[str, Any] = {
    "refused": (500, {}, b"down"),
    "busy": (429, {"Retry-After": "0"}, b""),
    "ends": (200, {}, []),
    "reset": (0, {}, CUT),
    "page": (200, {"Content-Type": "text/html"}, b"<html>log in</html>"),
    "garbage": (200, {}, b"no event\n"),
    "half": (200, {}, b'{"type": "ADDED", "obj'),
    "no object": (200, {}, [{"type": "ADDED", "object": []}]),
    "gone": (200, {}, [GONE]),
    "gone at once": (410, {}, {"kind": "Status", "code": 410, "reason": "Expired"}),
}


@pytest.mark.parametrize("name", CUT_AT_ONCE)
def test_a_watch_that_is_cut_again_and_again_goes_on_and_loses_nothing(
    fake: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold = threading.Event()
    cuts, limit = 0, 6
    attempts: list[int] = []
    monkeypatch.setattr(watch, "pause_before", lambda attempt: attempts.append(attempt) or 0.01)

    def answer(asked: Any) -> tuple[int, dict[str, str], Any]:
        nonlocal cuts
        if "watch=true" not in asked.path:
            return pods(
                5 if cuts < limit else 6, pod("a", 1), *([pod("b", 6)] if cuts >= limit else [])
            )
        cuts += 1
        if cuts <= limit:
            return CUT_AT_ONCE[name]  # type: ignore[no-any-return]
        since = parse_qs(urlsplit(asked.path).query)["resourceVersion"]
        return (
            200,
            {},
            [*([event("ADDED", "b", 6)] if since == ["5"] else []), lambda: hold.wait(20)],
        )

    fake.answer = answer
    hub = WatchHub(fake.client(), patience_s=0.1)
    hub.subscribe(POD)
    assert gather(hub, 2) == [("ADDED", "a"), ("ADDED", "b")]
    # Each time it is waited longer, and there is one request for each pause, with a list where that
    # was asked for.
    assert attempts == list(range(3, 3 + limit))
    lists = [asked for asked in fake.asked if "watch=true" not in asked.path]
    assert len(lists) == (1 + limit if name.startswith("gone") else 1)
    assert hub.trouble == ""
    hub.close()
    hold.set()


def test_close_ends_the_threads(fake: Any) -> None:
    hold = threading.Event()
    fake.script(pods(1), (200, {}, [lambda: hold.wait(600)]))
    before = threading.enumerate()
    hub = WatchHub(fake.client())
    hub.subscribe(POD)
    (thread,) = watching_since(before)
    while not hub.synced:
        hub.next(0.1)
    time.sleep(0.3)
    hub.close()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    hold.set()
