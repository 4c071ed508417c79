# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is done about a recipe that another one depends on: enabled anew, gone on with, or proven."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup import (
    dependency_order,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.dependency_order import (
    DependenciesRequest,
    run,
)

GRAPH: dict[str, dict[str, Any]] = {
    "kmod": {
        "namespace": "kmod",
        "options": {},
        "recipe_dir": "/src/kmod",
        "depends": [{"name": "base", "options": {"set": {"a": 1}}, "recipe_dir": "/src/base"}],
    },
    "base": {
        "namespace": "headers",
        "options": {"custom_resource": {"spec": {}}, "set": {"a": 2}},
        "recipe_dir": "/src/base",
        "depends": [],
    },
}


def row(monkeypatch: pytest.MonkeyPatch, *records: dict[str, Any]) -> dict[str, Any]:
    """What is said of the one that the other depends on."""
    monkeypatch.setattr(dependency_order, "connect", lambda _request: None)
    monkeypatch.setattr(dependency_order, "_records", lambda _client: list(records))
    request = DependenciesRequest(ConnectionRequest(), "kmod", None, [], GRAPH)
    (found,) = run(request, RunContext())["dependencies"]
    return dict(found)


def record(name: str, ready: str) -> dict[str, Any]:
    """A record of it."""
    spec = {"recipe": "base", "namespace": "mine", "options": {"set": {"a": 3}}, "pools": [{}]}
    status = {"conditions": [{"type": "Ready", "status": ready}]}
    return {"metadata": {"name": name}, "spec": spec, "status": status}


def test_one_that_is_not_enabled_gets_its_own_and_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert row(monkeypatch) == {
        "name": "base",
        "recipe_dir": "/src/base",
        "instance": "base",
        "options": {"custom_resource": {"spec": {}}, "set": {"a": 1}},
        "namespace": "headers",
        "pools": [],
        "enabled": False,
        "unfinished": False,
    }


@pytest.mark.parametrize(("ready", "unfinished"), [("True", False), ("False", True)])
def test_one_that_is_enabled_keeps_what_its_record_says(
    monkeypatch: pytest.MonkeyPatch, ready: str, unfinished: bool
) -> None:
    found = row(monkeypatch, record("site", ready))
    assert (found["enabled"], found["unfinished"]) == (True, unfinished)
    assert (found["instance"], found["namespace"]) == ("site", "mine")
    assert (found["options"], found["pools"]) == ({"set": {"a": 3}}, [{}])


def test_its_own_name_goes_before_other_instances(monkeypatch: pytest.MonkeyPatch) -> None:
    found = row(monkeypatch, record("a-site", "False"), record("base", "True"))
    assert (found["instance"], found["unfinished"]) == ("base", False)
