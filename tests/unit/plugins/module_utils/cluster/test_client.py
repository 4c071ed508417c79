# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests: what is sent, what is sent again, and what a failure says."""

from __future__ import annotations

import contextlib
import email.utils
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client import reading
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    Unauthorized,
    UnknownKind,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.transport import (
    PATIENCE_S,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.authorization import (
    AccessReview,
    missing,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from tests.unit.plugins.module_utils.cluster.conftest import connection_request

POD = builtin("v1", "Pod")
CONFIG_MAP = builtin("v1", "ConfigMap")
METADATA = {"name": "a", "namespace": "n", "uid": "u", "resourceVersion": "1"}
MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": METADATA, "data": {"x": "1"}}
CUT = "cut the connection"


def status(code: int, reason: str = "", message: str = "", **details: Any) -> dict[str, Any]:
    return {
        "kind": "Status",
        "code": code,
        "reason": reason,
        "message": message,
        "details": details,
    }


def item(name: str, **annotations: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "n", "annotations": annotations}
    return {"metadata": metadata, "spec": {}}


def query(asked: Any) -> dict[str, list[str]]:
    return parse_qs(urlsplit(asked.path).query)


def test_apply_is_server_side_apply_by_our_manager(fake: Any) -> None:
    fake.script((201, {"Warning": '299 - "use \\"b\\" instead", 299 - "old"'}, MAP))
    applied = fake.client().apply_in_full(MAP, dry_run=True)
    asked = fake.asked[0]
    assert applied.created
    assert applied.warnings == ('use "b" instead', "old")
    assert (asked.method, urlsplit(asked.path).path) == (
        "PATCH",
        "/api/v1/namespaces/n/configmaps/a",
    )
    assert query(asked) == {
        "fieldManager": ["hardware-enablement"],
        "force": ["true"],
        "dryRun": ["All"],
    }
    assert asked.headers["Content-Type"] == "application/apply-patch+yaml"
    assert asked.headers["Authorization"] == "Bearer secret"
    assert json.loads(asked.body) == MAP


def test_patch_chooses_its_type_by_the_body(fake: Any) -> None:
    client = fake.client()
    client.patch(POD, "p", "n", {"a": 1})
    client.patch(
        POD, "p", "n", [{"op": "add", "path": "/status", "value": {}}], subresource="status"
    )
    assert [asked.headers["Content-Type"] for asked in fake.asked] == [
        "application/merge-patch+json",
        "application/json-patch+json",
    ]
    assert "/pods/p/status?" in fake.asked[1].path


def test_impersonation_sends_one_header_for_each_group(fake: Any) -> None:
    fake.client(impersonate_user="alice", impersonate_groups=["a", "b"]).version()
    assert fake.asked[0].headers["Impersonate-User"] == "alice"
    assert fake.asked[0].headers.get_all("Impersonate-Group") == ["a", "b"]


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        (401, "Unauthorized", Unauthorized),
        (403, "Forbidden", Forbidden),
        (404, "NotFound", NotFound),
        (409, "Conflict", Conflict),
        (409, "AlreadyExists", AlreadyExists),
        (410, "Expired", Gone),
        (422, "Invalid", Invalid),
        (405, "MethodNotAllowed", ApiError),
    ],
)
def test_a_status_becomes_an_error_of_its_kind(
    fake: Any, code: int, reason: str, kind: type[ApiError]
) -> None:
    fake.script((code, {}, status(code, reason, "that is how it is")))
    with pytest.raises(ApiError) as caught:
        fake.client().create(MAP)
    assert caught.type is kind
    assert str(caught.value).startswith(
        f"Cannot create ConfigMap n/a ({fake.url}): that is how it is"
    )


def test_an_invalid_object_names_its_fields(fake: Any) -> None:
    causes = [
        {"field": "spec.x", "message": "field is immutable"},
        {"field": "spec.y", "message": "Required value"},
    ]
    fake.script((422, {}, status(422, "Invalid", "a long preamble", causes=causes)))
    with pytest.raises(Invalid) as caught:
        fake.client().apply(MAP)
    assert caught.value.causes == ["spec.x: field is immutable", "spec.y: Required value"]
    assert "preamble" not in str(caught.value)


@pytest.mark.parametrize(
    ("message", "causes"),
    [
        (
            "failed to create typed patch object (n/a; /v1, Kind=A): .x.y: field not declared in schema",
            ["x.y: field not declared in schema"],
        ),
        (
            "failed to create typed patch object (/a; b/v1, Kind=C): errors:\n  .y: no map\n  .x: no\n",
            ["y: no map", "x: no"],
        ),
        ("etcdserver: request is too large", []),
        ("rpc error: trying to send message larger than max (3000000 vs. 2097152)", []),
    ],
)
def test_what_is_wrong_with_an_objects_content_is_never_the_servers_health(
    fake: Any, message: str, causes: list[str]
) -> None:
    fake.script((500, {}, status(500, "", message)))
    with pytest.raises(Invalid) as caught:
        fake.client().apply(MAP)
    assert caught.value.causes == causes
    assert caught.value.todo == "mend what it names, then run again"
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>\n<body>no</body></html>", "HTTP status 403"),
        (b"no\n entry", "no entry"),
        (b"", "HTTP status 403"),
    ],
)
def test_a_body_that_is_no_status(fake: Any, body: bytes, words: str) -> None:
    fake.script((403, {}, body))
    with pytest.raises(Forbidden, match=words) as caught:
        fake.client().create(MAP)
    assert "html" not in str(caught.value)


def test_429_with_retry_after_is_sent_again_even_for_a_write(fake: Any) -> None:
    fake.script((429, {"Retry-After": "1"}, status(429)), (201, {}, MAP))
    assert fake.client().create(MAP) == MAP
    assert fake.clock.pauses == [1.0]


CALLS: dict[str, Callable[[Client], Any]] = {
    "version": lambda client: client.version(),
    "discovery": lambda client: client.kind("example.com/v1", "Toy"),
    "rights": lambda client: missing(client, {AccessReview("", "nodes", "", "get"): {""}}),
    "list": lambda client: client.list(CONFIG_MAP, namespace="n"),
    "write": lambda client: client.create(MAP),
}
ANSWERS: dict[str, Any] = {
    "version": {"major": "1"},
    "discovery": {"resources": [{"kind": "Toy", "name": "toys", "namespaced": True}]},
    "rights": {"status": {"allowed": True}},
    "list": {"kind": "ConfigMapList", "items": [], "metadata": {"resourceVersion": "1"}},
    "write": MAP,
}


@pytest.mark.parametrize("wait", [1, 32])
@pytest.mark.parametrize("name", CALLS)
def test_what_the_server_asks_to_wait_is_waited_for_on_the_first_request_too(
    fake: Any, name: str, wait: int
) -> None:
    busy = (429, {"Retry-After": str(wait)}, status(429, "TooManyRequests", "busy"))
    fake.script(busy, busy, busy, (200, {}, ANSWERS[name]))
    CALLS[name](fake.client())
    assert fake.clock.pauses == [wait] * 3


def test_a_time_to_come_back_may_be_a_date(fake: Any) -> None:
    date = email.utils.formatdate(time.time() + 20, usegmt=True)
    fake.script((429, {"Retry-After": date}, status(429)), (200, {}, {"major": "1"}))
    fake.client().version()
    assert len(fake.clock.pauses) == 1
    assert 17 < fake.clock.pauses[0] <= 20


@pytest.mark.parametrize(
    "nonsense",
    ["", "soon", "-1", "1.5", "\xb2", "0x10", "Sun, 99 Foo 99999999999 99:99:99 +99999999"],
)
def test_a_time_that_cannot_be_read_is_none(fake: Any, nonsense: str) -> None:
    fake.script((429, {"Retry-After": nonsense}, status(429)), (200, {}, {"major": "1"}))
    fake.client().version()
    assert len(fake.clock.pauses) == 1
    assert fake.clock.pauses[0] < 1


@pytest.mark.parametrize(
    ("wait", "words"), [("600", "busy and asks to wait 600 s;"), ("9" * 5000, "to wait for ever;")]
)
def test_whoever_asks_for_too_much_ends_the_request_with_that(
    fake: Any, wait: str, words: str
) -> None:
    fake.script((429, {"Retry-After": wait}, status(429, "TooManyRequests", "busy")))
    with pytest.raises(Unreachable, match=words):
        fake.client().version()
    assert fake.clock.pauses == []


def test_whoever_puts_off_for_ever_is_given_up(fake: Any) -> None:
    fake.script((429, {"Retry-After": "32"}, status(429, "TooManyRequests", "busy")))
    with pytest.raises(Unreachable, match="busy and asks to wait 32 s;"):
        fake.client().version()
    assert fake.clock.pauses == [32.0] * 3
    fake.clock.pauses.clear()
    with pytest.raises(Unreachable):
        fake.client().hurried(5.0, 5.0).version()
    assert fake.clock.pauses == []


def test_too_many_requests_means_that_nothing_was_done(fake: Any) -> None:
    fake.script((429, {}, status(429)), (201, {}, {"kind": "Build", "metadata": {"name": "b"}}))
    fake.client().create_subresource(POD, "p", "n", "instantiate", {})
    assert len(fake.asked) == 2


def test_a_wait_that_is_too_long_is_not_waited_for(fake: Any) -> None:
    fake.script((429, {"Retry-After": "600"}, status(429, "TooManyRequests", "busy")))
    with pytest.raises(Unreachable, match="busy") as caught:
        fake.client().create(MAP)
    assert caught.value.status == 429
    assert len(fake.asked) == 1


@pytest.mark.parametrize("failure", [(503, {}, b"later"), (500, {}, b"etcd"), (0, {}, CUT)])
def test_a_read_is_tried_again(fake: Any, failure: Any) -> None:
    fake.script(failure, (200, {}, MAP))
    assert fake.client().get(builtin("v1", "ConfigMap"), "a", "n") == MAP
    assert len(fake.asked) == 2


LOST = [
    (503, {}, b"later"),
    (500, {}, b"etcd"),
    (200, {}, b"<html>please log in</html>"),
    (0, {}, CUT),
]
# Each way to write, and what its second attempt is answered where the first one was carried out.
WRITES: dict[str, tuple[Any, Any]] = {
    "apply": (lambda client: client.apply(MAP), (200, {}, MAP)),
    "patch": (
        lambda client: client.patch(CONFIG_MAP, "a", "n", {"data": {"x": "1"}}),
        (200, {}, MAP),
    ),
    "delete": (
        lambda client: client.delete(CONFIG_MAP, "a", "n", uid="u"),
        (404, {}, status(404, "NotFound")),
    ),
    "collection": (
        lambda client: client.delete_collection(CONFIG_MAP, namespace="n", labels="a=b"),
        (200, {}, {"kind": "Status", "status": "Success"}),
    ),
    "create": (lambda client: client.create(MAP), (409, {}, status(409, "AlreadyExists"))),
}


@pytest.mark.parametrize("failure", LOST)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_whose_answer_was_lost_is_sent_again_and_counts_as_done(
    fake: Any, name: str, failure: Any
) -> None:
    write, second = WRITES[name]
    fake.script(failure, second, (200, {}, MAP))
    assert write(fake.client()) in (MAP, True, None)
    assert [asked.method for asked in fake.asked[2:]] == (["GET"] if name == "create" else [])


def test_an_object_that_is_there_is_ours_only_if_it_is_what_was_sent(fake: Any) -> None:
    exists, other = (409, {}, status(409, "AlreadyExists")), {**MAP, "data": {"x": "2"}}
    fake.script(exists, (200, {}, MAP))
    with pytest.raises(AlreadyExists):
        fake.client().create(MAP)
    fake.script((0, {}, CUT), exists, (200, {}, other))
    with pytest.raises(AlreadyExists):
        fake.client().create(MAP)


def test_what_makes_something_new_each_time_is_sent_once(fake: Any) -> None:
    fake.script((0, {}, CUT), (201, {}, MAP))
    with pytest.raises(Unreachable):
        fake.client().create_subresource(POD, "p", "n", "eviction", {})
    assert len(fake.asked) == 1


@pytest.mark.parametrize("code", [401, 403, 404, 422])
@pytest.mark.parametrize("name", WRITES)
def test_a_refusal_is_never_sent_again(fake: Any, name: str, code: int) -> None:
    fake.script((code, {"Retry-After": "1"}, status(code)))
    with contextlib.suppress(ApiError):
        assert WRITES[name][0](fake.client()) is False
    assert len(fake.asked) == 1


def test_a_patch_for_one_version_tells_of_the_race(fake: Any) -> None:
    fake.script((409, {}, status(409, "Conflict")), (200, {}, MAP))
    fake.client().patch(CONFIG_MAP, "a", "n", {"data": {}})
    for condition in ("resourceVersion", "uid"):
        fake.script((409, {}, status(409, "Conflict")), (200, {}, MAP))
        with pytest.raises(Conflict):
            fake.client().patch(CONFIG_MAP, "a", "n", {"metadata": {condition: "1"}})


def test_what_fails_for_long_ends_with_its_reason(fake: Any) -> None:
    fake.script((500, {}, status(500, "InternalError", "failed calling webhook")))
    with pytest.raises(Unreachable, match="failed calling webhook"):
        fake.client().apply(MAP, dry_run=True)
    assert 3 <= len(fake.asked) <= 12


def test_an_apply_that_met_another_write_is_sent_again_unless_managers_conflict(fake: Any) -> None:
    fake.script((409, {}, status(409, "Conflict", "modified")), (200, {}, MAP))
    assert fake.client().apply(MAP) == MAP
    conflict = status(
        409,
        "Conflict",
        "conflict",
        causes=[{"field": ".data", "message": 'conflict with "kubectl"'}],
    )
    fake.script((409, {}, conflict))
    with pytest.raises(Conflict):
        fake.client().apply(MAP, force=False)
    assert len(fake.asked) == 3


def test_nobody_listens() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    client = connect(connection_request(host=f"http://127.0.0.1:{port}", api_key="x"))
    started = time.monotonic()
    with pytest.raises(Unreachable) as caught:
        client.version()
    assert time.monotonic() - started < 4
    assert str(caught.value) == (
        f"Cannot get the version (http://127.0.0.1:{port}): the API server cannot be reached: Connection refused; "
        "check option host (hardware_enablement_host) and the network, then run again."
    )


def test_calls_in_parallel_keep_their_order_and_end_early_when_nobody_answers(fake: Any) -> None:
    agreeable = fake.answer
    fake.answer = lambda asked: (404, {}, status(404)) if "/b" in asked.path else agreeable(asked)
    client = fake.client()
    names = ["a", "b", "c", "d", "e"]
    found = client.parallel([lambda name=name: client.patch(POD, name, "n", {}) for name in names])
    assert [isinstance(entry, NotFound) for entry in found] == [False, True, False, False, False]
    assert [entry["metadata"]["name"] for entry in found if isinstance(entry, dict)] == [
        "a",
        "c",
        "d",
        "e",
    ]
    fake.asked.clear()
    fake.script((0, {}, CUT))
    found = client.parallel([lambda: client.apply(MAP)] * 40)
    assert all(isinstance(entry, Unreachable) for entry in found)
    assert len(fake.asked) <= 4 * 12
    assert sum(fake.clock.pauses) < 4 * PATIENCE_S


def test_a_list_has_pages_and_its_items_have_kinds(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_ITEMS", 1)
    first = {"metadata": {"continue": "more", "resourceVersion": "7"}, "items": [item("a")]}
    last = {"metadata": {"resourceVersion": "7"}, "items": [item("b")]}
    fake.script((200, {}, first), (200, {}, last))
    listing = fake.client().list(POD, namespace="n", labels="a=b,c", fields="x=y")
    assert listing.resource_version == "7"
    assert [
        (found["kind"], found["apiVersion"], found["metadata"]["name"]) for found in listing.items
    ] == [
        ("Pod", "v1", "a"),
        ("Pod", "v1", "b"),
    ]
    assert query(fake.asked[1]) == {
        "labelSelector": ["a=b,c"],
        "fieldSelector": ["x=y"],
        "limit": ["1"],
        "continue": ["more"],
    }


def test_pages_that_are_too_long_are_asked_for_in_fewer_items(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_BYTES", 2**20)
    large = [item(f"pod-{number}", note="x" * 100_000) for number in range(30)]

    def page(asked: Any) -> Any:
        said = query(asked)
        start, limit = int(said.get("continue", ["0"])[0]), int(said["limit"][0])
        left = large[start + limit :]
        metadata = {"continue": str(start + limit) if left else "", "resourceVersion": "7"}
        return 200, {}, {"metadata": metadata, "items": large[start : start + limit]}

    fake.answer = page
    found = fake.client().list(POD).items
    assert [each["metadata"]["name"] for each in found] == [f"pod-{n}" for n in range(30)]
    # Once it is known how many fit, no more are asked for.
    assert [query(asked)["limit"] for asked in fake.asked] == [["500"], ["50"], *[["5"]] * 6]


def test_one_object_that_is_larger_than_any_is_said_and_not_kept(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "PAGE_BYTES", 2**20)
    fake.script((200, {}, {"metadata": {}, "items": [item("a", note="x" * 2**21)]}))
    with pytest.raises(ApiError, match="the answer has more than 1 MiB"):
        fake.client().list(POD)
    assert [query(asked)["limit"] for asked in fake.asked] == [["500"], ["50"], ["5"], ["1"]]


def test_an_expired_continue_token_means_one_list_in_one_piece(fake: Any) -> None:
    first = {"metadata": {"continue": "more"}, "items": [item("a")]}
    whole = {"metadata": {}, "items": [item("a"), item("b")]}
    fake.script((200, {}, first), (410, {}, status(410, "Expired")), (200, {}, whole))
    assert len(fake.client().list(POD).items) == 2
    assert "limit" not in query(fake.asked[2])


def test_a_kind_costs_one_request_and_a_second_one_only_with_refresh(fake: Any) -> None:
    served = {
        "resources": [
            {"name": "foos", "kind": "Foo", "namespaced": True},
            {"name": "foos/status", "kind": "Foo"},
        ]
    }
    fake.script((404, {}, status(404)), (200, {}, served))
    client = fake.client()
    assert not client.serves("ex.io/v1", "Foo")
    assert not client.serves("ex.io/v1", "Foo")
    assert len(fake.asked) == 1
    assert (
        client.kind("ex.io/v1", "Foo", refresh=True).path("n", "a")
        == "/apis/ex.io/v1/namespaces/n/foos/a"
    )
    with pytest.raises(UnknownKind, match=r"does not serve Bar of ex\.io/v1"):
        client.kind("ex.io/v1", "Bar")
    assert [asked.path for asked in fake.asked] == ["/apis/ex.io/v1"] * 2
    assert client.requests == {"discover": 2}


def test_delete_tells_whether_it_was_there(fake: Any) -> None:
    client = fake.client()
    assert client.delete(POD, "p", "n", uid="u", propagation="Foreground")
    assert json.loads(fake.asked[0].body) == {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "preconditions": {"uid": "u"},
    }
    fake.script((404, {}, status(404)))
    assert not client.delete(POD, "p", "n")
    fake.script((409, {}, status(409, "Conflict")))
    assert not client.delete(POD, "p", "n", uid="other")


def test_nothing_without_a_namespace_or_a_selection(fake: Any) -> None:
    with pytest.raises(InvalidInput, match=r"ConfigMap a has no namespace"):
        fake.client().apply({**MAP, "metadata": {"name": "a"}})
    with pytest.raises(InvalidInput, match="Cannot delete all pods"):
        fake.client().delete_collection(POD, namespace="n", labels="")
    assert not fake.asked


def test_logs_and_proxy(fake: Any) -> None:
    fake.script((200, {}, b"one\ntwo\n"))
    client = fake.client()
    assert client.logs("n", "p", container="c", tail=2, previous=True) == "one\ntwo\n"
    assert client.pod_proxy("n", "p", 9400, "/metrics") == "one\ntwo\n"
    assert query(fake.asked[0]) == {"tailLines": ["2"], "previous": ["true"], "container": ["c"]}
    assert fake.asked[1].path == "/api/v1/namespaces/n/pods/p:9400/proxy/metrics"
    client.pod_proxy("n", "p", 9400, "/metrics", scheme="https")
    assert fake.asked[2].path == "/api/v1/namespaces/n/pods/https:p:9400/proxy/metrics"
    fake.script((503, {}, b"no"))
    with pytest.raises(Unreachable):
        client.pod_proxy("n", "p", 9400, "metrics")
    assert len(fake.asked) == 4


def test_a_log_that_the_kubelet_no_longer_has_is_empty(fake: Any) -> None:
    fake.script((200, {}, b"unable to retrieve container logs for containerd://f7f1"))
    assert fake.client().logs("n", "p") == ""
