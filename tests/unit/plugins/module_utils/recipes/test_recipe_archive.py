# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives of recipes that anybody may have made."""

from __future__ import annotations

import gzip
import io
import tarfile

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading import (
    recipe_archive,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe_archive import (
    unpack,
)


def packed(*members: tarfile.TarInfo, content: bytes = b"text") -> bytes:
    """An archive; regular files hold the content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for member in members:
            member.size = len(content) if member.isreg() else 0
            archive.addfile(member, io.BytesIO(content) if member.isreg() else None)
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    """One entry."""
    found = tarfile.TarInfo(name)
    found.type, found.linkname = kind, link
    return found


def test_files_of_folders() -> None:
    data = packed(member("site", tarfile.DIRTYPE), member("site/recipe.yml"), member("./a/b"))

    assert unpack(data, "x") == {"site/recipe.yml": b"text", "a/b": b"text"}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (packed(member("../recipe.yml")), "'../recipe.yml' leads out of it"),
        (packed(member("site/../../x")), "leads out of it"),
        (packed(member("/etc/passwd")), "'/etc/passwd' leads out of it"),
        (packed(member("a", tarfile.SYMTYPE, "/etc/passwd")), "'a' is a link or a device"),
        (packed(member("a", tarfile.LNKTYPE, "b")), "'a' is a link or a device"),
        (packed(member("a", tarfile.FIFOTYPE)), "'a' is a link or a device"),
        (b"no archive", "it is no gzipped tar archive"),
        (gzip.compress(b"no tar"), "it is no gzipped tar archive"),
        (packed(member("a"), content=b"x" * 5000)[:-40], "it is no gzipped tar archive"),
    ],
    # The archives themselves hold the time.
    ids=["up", "in-and-up", "root", "symlink", "link", "fifo", "text", "no-tar", "cut"],
)
def test_what_is_refused(data: bytes, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        unpack(data, "oci://registry/recipes:1")
    assert said in str(caught.value)
    assert "oci://registry/recipes:1" in str(caught.value)


def test_limits_are_of_what_it_unpacks_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe_archive, "MOST_BYTES", 100)
    with pytest.raises(InvalidInput, match="more than 2000 files or 100 bytes"):
        unpack(packed(member("a"), member("b"), content=b"x" * 60), "x")
    monkeypatch.setattr(recipe_archive, "MOST_FILES", 1)
    with pytest.raises(InvalidInput, match="more than 1 files"):
        unpack(packed(member("a"), member("b")), "x")
