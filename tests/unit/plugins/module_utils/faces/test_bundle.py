# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe's files from disk, with those of the recipes that it extends."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)


def write(folder: Path, extends: str = "") -> Path:
    """A recipe of which only what it extends counts."""
    folder.mkdir(parents=True)
    text = f"name: {folder.name}\n" + (f"extends: {extends}\n" if extends else "")
    (folder / "recipe.yml").write_text(text)
    (folder / "file").write_text(str(folder.parent.name))
    return folder


def test_one_beside_it_goes_before_that_of_the_collection(tmp_path: Path) -> None:
    own = write(tmp_path / "own" / "site", "middle")
    write(tmp_path / "own" / "middle", "base")
    write(tmp_path / "shipped" / "middle")
    write(tmp_path / "shipped" / "base")

    found = read_bundle(own, tmp_path / "shipped")

    assert {path: text for path, text in found.items() if path.endswith("file")} == {
        "file": "own",
        ".extends/middle/file": "own",
        ".extends/base/file": "shipped",
    }


def test_one_of_the_same_name_changes_that_of_the_collection(tmp_path: Path) -> None:
    own = write(tmp_path / "own" / "gpu", "gpu")
    write(tmp_path / "shipped" / "gpu")

    assert read_bundle(own, tmp_path / "shipped")[".extends/gpu/file"] == "shipped"


@pytest.mark.parametrize(
    ("extends", "said"),
    [
        (
            {"a": "b", "b": "c", "c": "a"},
            (
                "the recipe a cannot be read: they extend each other: a -> b -> c -> a; let one of them"
                " extend none."
            ),
        ),
        ({"a": "b", "b": "b"}, "they extend each other: a -> b -> b"),
        (
            {"a": "b", "b": "c"},
            "there is no recipe c, neither beside it nor in the collection; correct extends in",
        ),
    ],
)
def test_what_cannot_be(tmp_path: Path, extends: dict[str, str], said: str) -> None:
    for name, base in extends.items():
        write(tmp_path / name, base)

    with pytest.raises(InvalidInput) as caught:
        read_bundle(tmp_path / "a", tmp_path)

    assert said in str(caught.value)
