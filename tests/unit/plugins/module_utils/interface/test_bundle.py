# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe's files from disk, with those of the recipes that it extends."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_store import (
    FileStore,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    find_bundle,
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


def test_the_folder_that_is_named_goes_before_the_collections(tmp_path: Path) -> None:
    write(tmp_path / "own" / "gpu")
    write(tmp_path / "shipped" / "gpu")
    write(tmp_path / "shipped" / "nfd")
    folders = [FileStore(tmp_path / "own"), FileStore(tmp_path / "shipped")]

    assert find_bundle("gpu", folders)["file"] == "own"
    assert find_bundle("nfd", folders)["file"] == "shipped"
    with pytest.raises(InvalidInput, match=r"there is no recipe gpus .*gpu, nfd"):
        find_bundle("gpus", folders)
    with pytest.raises(InvalidInput, match="there is no such folder"):
        FileStore(tmp_path / "onw").refuse_missing()


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
            "the recipe a cannot be read: b extends c, and there is no recipe c in",
        ),
    ],
)
def test_what_cannot_be(tmp_path: Path, extends: dict[str, str], said: str) -> None:
    for name, base in extends.items():
        write(tmp_path / name, base)

    with pytest.raises(InvalidInput) as caught:
        read_bundle(tmp_path / "a", tmp_path)

    assert said in str(caught.value)
