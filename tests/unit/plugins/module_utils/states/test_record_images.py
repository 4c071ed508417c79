# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the record remembers of images."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._states.record import (
    image_entries,
)

BEFORE: dict[str, Any] = {
    "state": "driver_container",
    "group": "a",
    "kernel": "6.1.0",
    "image": "registry.example/driver@sha256:1",
    "name": "registry.example/driver:precompiled",
    "inputs": "11",
    "problem": "",
    "failed": "",
}
RECORD = {"status": {"images": [BEFORE]}}


def row(**changes: Any) -> dict[str, Any]:
    return {**BEFORE, "source": "prebuilt", "tried": [], **changes}


def test_what_is_found_replaces_what_was_known() -> None:
    other = {
        "image": "registry.example/driver@sha256:2",
        "name": "registry.example/driver:compiling",
        "inputs": "22",
    }
    assert image_entries.merge(RECORD, [row(**other)], {"a"}) == [{**BEFORE, **other}]


def test_a_record_of_before_does_not_say_which_image_was_looked_up() -> None:
    entries = [{key: value for key, value in BEFORE.items() if key != "name"}]
    assert image_entries.names(entries) == {"driver_container": {"a": ""}}
    assert image_entries.names([BEFORE]) == {"driver_container": {"a": BEFORE["name"]}}


def test_a_registry_that_was_not_reached_changes_nothing() -> None:
    assert image_entries.merge(RECORD, [row(source="kept", problem="no connection")], {"a"}) == [
        BEFORE
    ]


def test_a_build_that_failed_is_remembered_beside_the_image_of_before() -> None:
    kept = row(source="kept", problem="the build failed", failed="22")
    assert image_entries.merge(RECORD, [kept], {"a"}) == [
        {**BEFORE, "problem": "the build failed", "failed": "22"}
    ]


def test_a_kernel_that_nobody_runs_is_forgotten_but_not_while_there_are_no_nodes() -> None:
    assert image_entries.merge(RECORD, [], {"b"}) == []
    assert image_entries.merge(RECORD, [], set()) == [BEFORE]


def test_of_states_whose_images_are_merely_named_nothing_is_kept() -> None:
    assert image_entries.of_states(RECORD, {"driver_container"}) == [BEFORE]
    assert (
        image_entries.of_states(RECORD, {"other"})
        == image_entries.of_states(None, {"driver_container"})
        == []
    )


def test_what_is_only_to_be_built_is_no_entry() -> None:
    assert image_entries.merge(None, [row(image="", source="would be built")], {"a"}) == []


def test_the_facts_for_rendering() -> None:
    none = {**BEFORE, "group": "b", "image": "", "problem": "no image fits"}
    assert image_entries.references([BEFORE, none]) == {
        "driver_container": {"a": "registry.example/driver@sha256:1", "b": ""}
    }
    assert image_entries.problems([BEFORE, none], "driver_container") == {"b": "no image fits"}
