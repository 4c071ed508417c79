# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which build of a BuildConfig starts, which are kept, and where a tag leads, as OpenShift has
it."""

from __future__ import annotations

from typing import Any

from tests.cluster.builds_api.builds import build_of, may_start, outdated, starts_by_itself
from tests.cluster.builds_api.image_streams import tagged
from tests.cluster.builds_api.stored import to_served, to_stored

CONFIG = {
    "apiVersion": "build.openshift.stored/v1",
    "metadata": {"name": "driver", "namespace": "n", "uid": "u", "labels": {"a": "b"}},
    "spec": {
        "source": {"dockerfile": "FROM a"},
        "runPolicy": "Serial",
        "failedBuildsHistoryLimit": 1,
    },
    "status": {"lastVersion": 3},
}


def build(number: int, phase: str) -> dict[str, Any]:
    made = build_of(CONFIG, {}, number)
    made["status"]["phase"] = phase
    return made


def test_a_build_is_its_configs_and_has_what_is_built() -> None:
    made = build(4, "New")
    assert made["metadata"]["name"] == "driver-4"
    assert made["metadata"]["labels"]["a"] == "b"
    assert made["metadata"]["labels"]["openshift.io/build-config.name"] == "driver"
    assert [
        (owner["uid"], owner["controller"]) for owner in made["metadata"]["ownerReferences"]
    ] == [("u", True)]
    assert set(made["spec"]) == {"source", "serviceAccount", "triggeredBy"}


def test_only_a_new_configuration_starts_a_build() -> None:
    triggered = {**CONFIG["spec"], "triggers": [{"type": "ConfigChange"}]}  # type: ignore[dict-item]
    new = {**CONFIG, "spec": triggered, "status": {"lastVersion": 0}}
    assert starts_by_itself(new)
    assert not starts_by_itself({**new, "status": {"lastVersion": 1}})
    assert not starts_by_itself({**new, "spec": CONFIG["spec"]})


def test_one_build_at_a_time() -> None:
    first, second = build(1, "Running"), build(2, "New")
    assert not may_start(second, [first, second])
    first["status"]["phase"] = "Failed"
    assert may_start(second, [first, second])


def test_history_limits_count_what_failed_and_what_did_not() -> None:
    builds = [
        build(number, phase)
        for number, phase in enumerate(("Failed", "Complete", "Cancelled", "Failed"), 1)
    ]
    assert [gone["metadata"]["name"] for gone in outdated(CONFIG, builds)] == [
        "driver-1",
        "driver-3",
    ]


def test_the_newest_image_of_a_tag_comes_first_and_the_same_only_once() -> None:
    old, new = f"sha256:{'1' * 64}", f"sha256:{'2' * 64}"
    tags = tagged(tagged([], "1", f"a@{old}", old), "1", f"a@{new}", new)
    assert [item["image"] for item in tags[0]["items"]] == [new, old]
    assert tagged(tags, "1", f"a@{new}", new) is tags


def test_only_the_groups_are_renamed() -> None:
    text = b'{"apiVersion":"build.openshift.io/v1","metadata":{"labels":{"openshift.io/build-config.name":"a"}}}'
    assert to_stored(text) == text.replace(b"build.openshift.io", b"build.openshift.stored")
    assert to_served(to_stored(text)) == text
