# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS
from tests.cluster.builds_api.objects import Objects, Place, Writer, merge_patch
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.store import Store

Obj = dict[str, Any]
PLACE = Place(BUILD_CONFIGS, "n", "a")
ME, TRY = Writer("me"), Writer("me", dry_run=True)


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(Store(tmp_path / "state.json"))


def config(**spec: Any) -> Obj:
    body = {"source": {"dockerfile": "FROM a"}, "strategy": {"dockerStrategy": {}}, **spec}
    return {
        "apiVersion": "build.openshift.io/v1",
        "kind": "BuildConfig",
        "metadata": {"name": "a"},
        "spec": body,
    }


def test_a_dry_run_answers_and_stores_nothing(objects: Objects) -> None:
    assert objects.create(PLACE, config(), TRY)["spec"]["runPolicy"] == "Serial"
    assert objects.apply(PLACE, config(), TRY, force=False)[1]
    assert objects.store.list(BUILD_CONFIGS) == []
    stored = objects.create(PLACE, config(), ME)
    assert objects.delete(PLACE, {}, dry_run=True) == objects.get(PLACE) == stored
    changed = objects.merge(PLACE, {"spec": {"runPolicy": "Parallel"}}, TRY, lambda merged: merged)
    assert changed["spec"]["runPolicy"] == "Parallel"
    assert objects.get(PLACE) == stored


def test_writing_what_is_there_is_no_write(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _new = objects.apply(PLACE, config(triggers=[]), ME, force=False)
    monkeypatch.setattr("tests.cluster.builds_api.objects.stamp", lambda: "2126-01-01T00:00:00Z")
    assert objects.apply(PLACE, config(triggers=[]), ME, force=False) == (first, False)
    assert (
        objects.merge(PLACE, {"spec": {"runPolicy": "Serial"}}, ME, lambda merged: merged) == first
    )
    assert objects.get(PLACE)["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_an_old_version_and_another_uid_are_refused(objects: Objects) -> None:
    first = objects.create(PLACE, config(), ME)
    objects.merge(PLACE, {"metadata": {"labels": {"a": "b"}}}, ME, lambda merged: merged)
    with pytest.raises(RefusalError, match="has been modified"):
        objects.update(PLACE, first, ME)
    with pytest.raises(RefusalError, match="must be specified"):
        objects.update(PLACE, config(), ME)
    with pytest.raises(RefusalError, match="Precondition failed"):
        objects.delete(PLACE, {"preconditions": {"uid": "other"}}, dry_run=False)
    with pytest.raises(RefusalError, match="already exists"):
        objects.create(PLACE, config(), ME)


def test_finalizers_keep_what_is_deleted(objects: Objects) -> None:
    objects.create(PLACE, config(), ME)
    marked = objects.delete(PLACE, {"propagationPolicy": "Foreground"}, dry_run=False)
    assert marked["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in objects.get(PLACE)["metadata"]
    objects.merge(PLACE, {"metadata": {"finalizers": None}}, ME, lambda merged: merged)
    assert objects.store.list(BUILD_CONFIGS) == []


def test_a_restart_finds_everything_and_goes_on_counting(objects: Objects, tmp_path: Path) -> None:
    stored = objects.create(PLACE, config(), ME)
    again = Store(tmp_path / "state.json")
    assert again.list(BUILD_CONFIGS) == [stored]
    assert again.version == objects.store.version
    with pytest.raises(RefusalError, match="too old resource version"):
        next(again.changes(BUILDS, again.version - 1, 0))


def test_a_merge_patch_removes_by_null() -> None:
    assert merge_patch({"a": {"b": 1, "c": 2}, "d": [1]}, {"a": {"b": None}, "d": [2]}) == {
        "a": {"c": 2},
        "d": [2],
    }
    assert merge_patch({"a": 1}, {"a": {"b": {"c": None}}}) == {"a": {"b": {}}}
