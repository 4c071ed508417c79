# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recipes from elsewhere than a folder."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_store import (
    MAX_BYTES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.recipe_source import (
    open_store,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.text_store import (
    TextStore,
)


def never() -> None:
    """Nobody is to be asked."""
    raise AssertionError


def test_files_of_one_recipe_are_of_that_name() -> None:
    store = TextStore.of("cm://a/site", "site", {"recipe.yml": b"1", "all/x.j2": b"2"})

    assert (store.names(), store.holds("site"), store.holds("all")) == (["site"], True, False)
    assert store.read("site") == {"recipe.yml": "1", "all/x.j2": "2"}


def test_a_folder_of_recipes() -> None:
    files = {"a/recipe.yml": b"1", "b/recipe.yml": b"2", "b/.git/x": b"3", "b/logo.png": b"\xff"}
    store = TextStore.of("oci://r/x", "x", files)

    assert store.names() == ["a", "b"]
    assert store.read("b") == {"recipe.yml": "2"}


def test_numbered_manifests() -> None:
    store = TextStore.of("cm://a/x", "x", {"kmod/0000-driver.yaml": b"kind: A"})

    assert store.holds("kmod")
    assert not store.holds("kmo")


@pytest.mark.parametrize(
    ("content", "said"), [(b"\xff", "is no UTF-8 text"), (b"x" * (MAX_BYTES + 1), "is too large")]
)
def test_what_cannot_be_text(content: bytes, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        TextStore.of("cm://a/b", "b", {"recipe.yml": content})


@pytest.mark.parametrize("place", ["cm://only", "cm://a/b/c", "cm:///b", "cm://A/b", "cm://a/../b"])
def test_what_names_no_configmap(place: str) -> None:
    with pytest.raises(InvalidInput, match="it is written cm://namespace/name"):
        open_store(place, never, never)  # type: ignore[arg-type]
