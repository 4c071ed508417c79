# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.builds_api import clock, discovery, negotiation, reading
from tests.cluster.builds_api.kinds import BUILD_CONFIGS, RESOURCES
from tests.cluster.builds_api.kubernetes import User
from tests.cluster.builds_api.logs import Logs
from tests.cluster.builds_api.messages import Request
from tests.cluster.builds_api.objects import Objects, Place, Writer
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.selection import selector
from tests.cluster.builds_api.store import Store
from tests.cluster.builds_api.tables import duration

Obj = dict[str, Any]
ALL = Place(BUILD_CONFIGS, "n", "")
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    made = Objects(Store(tmp_path / "state.json"))
    for name, labels in (("a", {"x": "1"}), ("b", {})):
        spec = {"source": {"dockerfile": "FROM a"}, "strategy": {"dockerStrategy": {}}}
        obj = {
            "apiVersion": "build.openshift.io/v1",
            "kind": "BuildConfig",
            "metadata": {"name": name},
            "spec": spec,
        }
        obj["metadata"] = {"name": name, "labels": labels}
        made.create(Place(BUILD_CONFIGS, "n", name), obj, Writer("me"))
    return made


def asked(accept: str = "application/json", **query: str) -> Request:
    return Request("GET", "/", User("me"), query, {"Accept": accept})


def listed(objects: Objects, request: Request) -> Obj:
    body = reading.listed(objects, ALL, request).body
    assert isinstance(body, bytes)
    found: Obj = json.loads(body)
    return found


def watched(objects: Objects, request: Request) -> list[Obj]:
    body = reading.watch(objects, ALL, request).body
    assert not isinstance(body, bytes)
    return [json.loads(line) for line in body]


@pytest.mark.parametrize(
    ("labels", "fields", "chosen"),
    [
        ("", "", "ab"),
        ("x=1", "", "a"),
        ("x!=1", "", "b"),
        ("x", "", "a"),
        ("!x", "", "b"),
        ("x in (1, 2),x notin (3)", "", "a"),
        ("", "metadata.name=b", "b"),
        ("x", "metadata.name!=a", ""),
    ],
)
def test_selectors_choose(objects: Objects, labels: str, fields: str, chosen: str) -> None:
    found = listed(objects, asked(labelSelector=labels, fieldSelector=fields))
    assert "".join(item["metadata"]["name"] for item in found["items"]) == chosen


def test_a_selector_that_is_none_is_refused() -> None:
    for labels, fields in (("a b", ""), ("", "spec.x=1")):
        with pytest.raises(RefusalError):
            selector(labels, fields)


def test_lists_have_the_form_that_was_asked_for(objects: Objects) -> None:
    table = listed(objects, asked(TABLE))
    assert [column["name"] for column in table["columnDefinitions"]] == [
        "Name",
        "Type",
        "From",
        "Latest",
    ]
    assert table["rows"][0]["cells"] == ["a", "Docker", "Dockerfile", "0"]
    assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    meta = listed(
        objects, asked("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
    )
    assert (meta["kind"], set(meta["items"][0])) == (
        "PartialObjectMetadataList",
        {"kind", "apiVersion", "metadata"},
    )
    with pytest.raises(RefusalError) as caught:
        listed(objects, asked("application/vnd.kubernetes.protobuf"))
    assert caught.value.code == 406
    assert negotiation.wants_discovery(
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    )


def test_a_watch_tells_what_a_selector_sees(objects: Objects) -> None:
    version = str(objects.store.version)
    for name, label in (("b", "1"), ("a", "2"), ("b", "1")):
        patch = {"metadata": {"labels": {"x": label}, "annotations": {"t": str(time.time_ns())}}}
        objects.merge(Place(BUILD_CONFIGS, "n", name), patch, Writer("me"), lambda merged: merged)
    objects.delete(Place(BUILD_CONFIGS, "n", "b"), {}, dry_run=False)
    events = watched(
        objects, asked(resourceVersion=version, timeoutSeconds="1", labelSelector="x=1")
    )
    seen = [(event["type"], event["object"]["metadata"]["name"]) for event in events]
    assert seen == [("ADDED", "b"), ("DELETED", "a"), ("MODIFIED", "b"), ("DELETED", "b")]
    start = watched(objects, asked(TABLE, timeoutSeconds="1", sendInitialEvents="true"))
    assert [event["type"] for event in start] == ["ADDED", "BOOKMARK"]
    assert start[0]["object"]["columnDefinitions"]
    assert start[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    late = watched(objects, asked(resourceVersion="1", timeoutSeconds="1"))
    assert (late[0]["type"], late[0]["object"]["code"]) == ("ERROR", 410)


def test_every_reference_of_the_openapi_document_leads_somewhere() -> None:
    for group in {resource.group for resource in RESOURCES}:
        document = discovery.openapi(group)
        text = json.dumps(document)
        for part in text.split('"$ref": "')[1:]:
            assert part.partition('"')[0].rpartition("/")[2] in document["components"]["schemas"]


def test_a_log_is_followed_until_its_build_ends(tmp_path: Path) -> None:
    logs = Logs(tmp_path)
    for number in range(3):
        logs.append("u", str(number))
    assert b"".join(logs.read("u", tail=2, follow=None)) == b"1\n2\n"
    assert b"".join(logs.read("u", tail=0, follow=None)) == b""

    def follow() -> bool:
        logs.append("u", "more")
        return len(logs.lines("u")) < 5

    assert b"".join(logs.read("u", tail=1, follow=follow)) == b"2\nmore\nmore\n"


@pytest.mark.parametrize(("text", "seconds"), [("", 0), ("3s", 3), ("2m0s", 120), ("1h1m1s", 3661)])
def test_durations_read_as_go_writes_them(text: str, seconds: int) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("text", "passed"),
    [
        ("Less than a second", 0),
        ("1 second", 1),
        ("59 seconds", 59),
        ("2 minutes", 130),
        ("47 hours", 47 * 3600),
    ],
)
def test_times_read_in_words(text: str, passed: int) -> None:
    assert clock.ago(clock.stamp(1_000_000), 1_000_000 + passed) == text
