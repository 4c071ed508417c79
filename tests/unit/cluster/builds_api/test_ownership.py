# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

import pytest

from tests.cluster.builds_api.ownership import (
    FieldConflictError,
    applied,
    read,
    updated,
    with_entries,
)

Obj = dict[str, Any]
T1, T2 = "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"


def manifest(**spec: Any) -> Obj:
    return {
        "apiVersion": "build.openshift.io/v1",
        "kind": "BuildConfig",
        "metadata": {"name": "a"},
        "spec": spec,
    }


def apply(
    before: Obj | None, wanted: Obj, manager: str, *, now: str = T1, force: bool = False
) -> Obj:
    return with_entries(*applied(before, wanted, manager, now, force=force))


def owners(obj: Obj) -> dict[str, set[str]]:
    return {entry.manager: {".".join(path) for path in entry.paths} for entry in read(obj)}


def test_the_same_manifest_again_changes_nothing_not_even_a_time() -> None:
    first = apply(None, manifest(a=1, b={"c": [1]}), "x")
    assert owners(first) == {"x": {"spec.a", "spec.b.c"}}
    assert apply(first, manifest(a=1, b={"c": [1]}), "x", now=T2) == first


def test_what_is_no_longer_applied_goes_unless_somebody_else_wants_it() -> None:
    first = apply(None, manifest(a=1, b={"c": 1}, d=1), "x")
    both = apply(first, manifest(d=1), "y")
    assert owners(both)["x"] & owners(both)["y"] == {"spec.d"}
    left = apply(both, manifest(a=1), "x")
    assert left["spec"] == {"a": 1, "d": 1}
    assert owners(left) == {"x": {"spec.a"}, "y": {"spec.d"}}


def test_another_value_for_somebody_elses_field_needs_force() -> None:
    first = apply(None, manifest(a=1), "x")
    with pytest.raises(FieldConflictError) as caught:
        apply(first, manifest(a=2), "y")
    assert caught.value.owners == [("x", ".spec.a")]
    forced = apply(first, manifest(a=2), "y", force=True)
    assert (forced["spec"], owners(forced)) == ({"a": 2}, {"y": {"spec.a"}})
    with pytest.raises(FieldConflictError):
        apply(first, manifest(a={"b": 1}), "y")


def test_an_update_takes_over_what_it_changes_and_nothing_else() -> None:
    first = apply(None, manifest(a=1, b=1, c=1), "x")
    changed = {**first, "spec": {"a": 1, "b": 2, "d": 1}}
    after = with_entries(changed, updated(first, changed, "y", T2))
    assert owners(after) == {"x": {"spec.a"}, "y": {"spec.b", "spec.d"}}
    assert {entry.manager: entry.operation for entry in read(after)} == {
        "x": "Apply",
        "y": "Update",
    }
    assert updated(after, after, "z", T2) == read(after)
