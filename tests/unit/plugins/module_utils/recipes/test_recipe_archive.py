# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Archives of recipes that anybody may have made."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


def header(kind: bytes, size: int, name: str = "x") -> bytes:
    """A header alone, whatever it says."""
    found = tarfile.TarInfo(name)
    found.type, found.size = kind, size
    return found.tobuf(tarfile.GNU_FORMAT)


def repeated(blocks: bytes, count: int, first: bytes = b"") -> bytes:
    """The same again and again, packed without all of it in memory."""
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=1) as stream:
        stream.write(first)
        for _piece in range(count):
            stream.write(blocks)
    return buffer.getvalue()


def pax(**fields: str) -> bytes:
    """A pax header with these fields."""
    text = b""
    for key, value in fields.items():
        rest = f" {key.replace('_', '.')}={value}\n".encode()
        length = len(rest) + 1
        while len(str(length)) + len(rest) != length:
            length += 1
        text += str(length).encode() + rest
    return header(tarfile.XHDTYPE, len(text)) + text + b"\0" * (-len(text) % 512)


@contextmanager
def within(mebibytes: int) -> Iterator[None]:
    """What is done may not take more memory than this."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < mebibytes * 1024**2
    finally:
        tracemalloc.stop()


MIB = b"\0" * 2**20
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "zeros": (lambda: repeated(MIB, 300, header(tarfile.REGTYPE, 300 * 2**20)), "more than 2000"),
    "pax header": (lambda: repeated(MIB, 300, header(tarfile.XHDTYPE, 300 * 2**20)), "a header"),
    "long name": (
        lambda: repeated(b"x" * 2**20, 300, header(tarfile.GNUTYPE_LONGNAME, 300 * 2**20)),
        "a header in it is longer than 65536 bytes",
    ),
    "headers": (lambda: repeated(pax(path="a"), 100_000), "more than 4000 entries"),
    "folders": (lambda: repeated(header(tarfile.DIRTYPE, 0), 100_000), "more than 4000 entries"),
    "sparse": (lambda: gzip.compress(header(tarfile.GNUTYPE_SPARSE, 2**40)), "a link or a device"),
    "pax sparse": (lambda: gzip.compress(pax(GNU_sparse_major="1")), "emptier, than any"),
    "pax size": (lambda: gzip.compress(pax(size="9" * 5000)), "larger, or emptier"),
    "pax length": (
        lambda: gzip.compress(header(tarfile.XHDTYPE, 8) + b"0 path=a" + b"\0" * 504),
        "larger, or emptier",
    ),
    "pax text": (
        lambda: gzip.compress(header(tarfile.XHDTYPE, 8) + b"nothing!" + b"\0" * 504),
        "it is no gzipped tar archive",
    ),
    "negative": (lambda: gzip.compress(header(tarfile.REGTYPE, -5)), "more than 2000 files"),
    "nul": (lambda: gzip.compress(pax(path="a\0b") + header(tarfile.REGTYPE, 0)), "no name of"),
    "escape": (lambda: packed(member("\x1b[2J")), "is no name of a file"),
    "nothing": (lambda: packed(member(".")), "is no name of a file"),
    "both": (lambda: packed(member("a/b"), member("a")), "'a' is a file and a folder"),
    "long": (lambda: packed(member("a" * 300)), "is no name of a file"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_made_to_exhaust_memory_is_refused_before_it_does(name: str) -> None:
    make, said = HOSTILE[name]
    data = make()
    with within(100), pytest.raises(InvalidInput, match=said):
        unpack(data, "x")


def test_a_path_that_a_header_before_tells_counts() -> None:
    long = "folder/" * 30 + "recipe.yml"
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w:gz", format=form) as archive:
            for path in (long, "ü.yml", "plain"):
                entry = member(path)
                entry.size = 4
                archive.addfile(entry, io.BytesIO(b"text"))
        assert unpack(buffer.getvalue(), "x") == dict.fromkeys((long, "ü.yml", "plain"), b"text")
    hidden = gzip.compress(pax(path="../x") + header(tarfile.REGTYPE, 0, "harmless"))
    with pytest.raises(InvalidInput, match="leads out of it"):
        unpack(hidden, "x")


def test_the_largest_archive_takes_less_than_100_mib() -> None:
    data = repeated(b"x" * 2**16, 152, header(tarfile.REGTYPE, 152 * 2**16))
    with within(100):
        assert len(unpack(data, "x")["x"]) == 152 * 2**16


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
