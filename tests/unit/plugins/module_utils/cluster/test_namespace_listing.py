# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in a namespace, of whatever kind: which kinds there are, and what of them could be read."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.namespace_listing import (
    namespaced_kinds,
    objects_of,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
)

KINDS = [
    Kind("a.io", "v1", "First", "firsts", namespaced=True),
    Kind("b.io", "v1", "Second", "seconds", namespaced=True),
]


def resource(name: str, *verbs: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "resource": name,
        "responseKind": {"kind": name.title()},
        "scope": scope,
        "verbs": list(verbs),
    }


def discovery(asked: Asked) -> tuple[int, dict[str, str], Any]:
    """What an API server tells of its kinds, and of one that is down."""
    assert "as=APIGroupDiscoveryList" in asked.headers["Accept"]
    both = ("delete", "list")
    versions = [
        {
            "version": "v2",
            "resources": [resource("apples", *both), resource("seen", "list")],
        },
        {
            "version": "v1",
            "resources": [resource("apples", *both), resource("pears", *both)],
        },
    ]
    groups = [
        {"metadata": {"name": "fruit.io"}, "versions": versions},
        {
            "metadata": {"name": "down.io"},
            "versions": [{"version": "v1", "freshness": "Stale", "resources": []}],
        },
        {
            "metadata": {"name": "wide.io"},
            "versions": [
                {"version": "v1", "resources": [resource("zones", *both, scope="Cluster")]}
            ],
        },
    ]
    core = [
        {"metadata": {}, "versions": [{"version": "v1", "resources": [resource("pods", *both)]}]}
    ]
    items = core if asked.path == "/api" else groups
    return 200, {}, {"kind": "APIGroupDiscoveryList", "items": items}


def test_all_kinds_that_go_with_a_namespace_in_two_requests(fake: FakeServer) -> None:
    fake.answer = discovery
    found = namespaced_kinds(fake.client())
    assert [(kind.api_version, kind.plural) for kind in found.kinds] == [
        ("v1", "pods"),
        ("fruit.io/v2", "apples"),
        ("fruit.io/v1", "pears"),
    ]
    assert found.silent == ["down.io/v1"]
    assert len(fake.asked) == 2


def test_an_api_server_that_does_not_tell_all_kinds_is_said(fake: FakeServer) -> None:
    fake.script((200, {}, {"kind": "APIVersions", "versions": ["v1"]}))
    with pytest.raises(Unreachable, match="the kinds of all groups are due"):
        namespaced_kinds(fake.client())


def listing(asked: Asked) -> tuple[int, dict[str, str], Any]:
    """The same object by two groups."""
    assert "as=PartialObjectMetadataList" in asked.headers["Accept"]
    item = {"metadata": {"name": "x", "namespace": "n", "uid": "u"}}
    return 200, {}, {"kind": "List", "items": [item]}


def test_an_object_that_two_groups_show_is_there_once(fake: FakeServer) -> None:
    fake.answer = listing
    found = objects_of(fake.client(), KINDS, "n")
    assert [obj["metadata"]["uid"] for obj in found.objects] == ["u"]
    assert {urlsplit(asked.path).path for asked in fake.asked} == {
        "/apis/a.io/v1/namespaces/n/firsts",
        "/apis/b.io/v1/namespaces/n/seconds",
    }


@pytest.mark.parametrize("status", [404, 403, 503])
def test_a_kind_that_has_gone_has_no_objects_and_one_that_cannot_be_listed_is_named(
    fake: FakeServer, status: int
) -> None:
    reason = {404: "NotFound", 403: "Forbidden", 503: "ServiceUnavailable"}[status]
    fake.script((status, {}, {"kind": "Status", "reason": reason, "message": "no", "code": status}))
    found = objects_of(fake.client(), KINDS, "n")
    names = ["firsts.a.io", "seconds.b.io"]
    assert list(found.objects) == []
    assert list(found.forbidden) == (names if status == 403 else [])
    assert list(found.silent) == (names if status == 503 else [])
