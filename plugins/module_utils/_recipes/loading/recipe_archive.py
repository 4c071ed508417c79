# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of an archive that anybody may have made: unpacked in memory, within limits, regular
files that stay inside of it only. Pure.

The entries are read here, one after the other, and not by tarfile, which reads a header of any size
into memory before anybody is asked, calls itself for each header that precedes another, and keeps
all entries."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from ..._errors import InvalidInput

MOST_BYTES = 20_000_000
MOST_FILES = 2_000
# Of the texts that precede an entry: a path has at most 4096 bytes, and other fields are passed over.
_LONGEST_HEADER = 65_536
_LONGEST_NAME = 255
_BLOCK = tarfile.BLOCKSIZE
_OF_NEXT = frozenset({tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE})
_OF_ALL = frozenset({tarfile.XGLTYPE, tarfile.GNUTYPE_LONGLINK})
_REGULAR = frozenset({tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE})


@dataclass
class ArchiveBudget:
    """What is left of the limits for an archive, with all archives that are inside of it or beside
    it. entries: files, and whatever else has a header."""

    bytes: int
    files: int
    entries: int

    @classmethod
    def whole(cls) -> ArchiveBudget:
        """Nothing is used yet."""
        return cls(MOST_BYTES, MOST_FILES, 2 * MOST_FILES)

    def take(self, size: int, source: str) -> None:
        """A file of so many bytes. Raises InvalidInput where that is too much."""
        self.bytes -= size
        self.files -= 1
        if size < 0 or self.bytes < 0 or self.files < 0:
            raise _refused(source, f"it holds more than {MOST_FILES} files or {MOST_BYTES} bytes")

    def take_entry(self, source: str) -> None:
        """Any entry. Raises InvalidInput where that is too much."""
        self.entries -= 1
        if self.entries < 0:
            raise _refused(source, f"it holds more than {2 * MOST_FILES} entries")


def unpack(data: bytes, source: str, budget: ArchiveBudget | None = None) -> dict[str, bytes]:
    """Path -> content of a gzipped tar archive. source is for messages. budget: what is left for it,
    all by default.

    Raises InvalidInput for what is none, for links and devices, for paths that lead out of it, and
    for what unpacks to more than the budget.
    """
    budget = budget or ArchiveBudget.whole()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as plain:
            found = dict(_files(plain, source, budget))  # type: ignore[arg-type]
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
        raise _refused(source, f"it is no gzipped tar archive ({error})") from None
    for path in found:
        if both := next((each for each in PurePosixPath(path).parents if str(each) in found), None):
            raise _refused(source, f"{str(both)!r} is a file and a folder")
    return found


def _files(plain: BinaryIO, source: str, budget: ArchiveBudget) -> Iterator[tuple[str, bytes]]:
    name, is_empty = "", True
    while any(block := plain.read(_BLOCK)):
        is_empty = False
        budget.take_entry(source)
        entry = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        if entry.type in _OF_NEXT | _OF_ALL or entry.type == tarfile.GNUTYPE_LONGNAME:
            text = _header(plain, entry.size, source)
            if entry.type == tarfile.GNUTYPE_LONGNAME:
                name = text.split(b"\0")[0].decode("utf-8", "strict")
            elif entry.type in _OF_NEXT:
                name = _path_in(text, source) or name
            continue
        entry.name, name = name or entry.name, ""
        if entry.isdir() or (entry.type in _REGULAR and entry.name.endswith("/")):
            continue
        path = _inside(entry, source)
        budget.take(entry.size, source)
        yield path, _content(plain, entry.size)
    if is_empty:
        raise tarfile.ReadError("empty")


def _inside(entry: tarfile.TarInfo, source: str) -> str:
    if entry.type not in _REGULAR:
        raise _refused(source, f"{entry.name!r} is a link or a device")
    path = PurePosixPath(entry.name)
    if path.is_absolute() or ".." in path.parts or "\\" in entry.name:
        raise _refused(source, f"{entry.name!r} leads out of it")
    if not path.name or not entry.name.isprintable() or max(map(len, path.parts)) > _LONGEST_NAME:
        raise _refused(source, f"{entry.name[:_LONGEST_NAME]!r} is no name of a file")
    return path.as_posix()


def _content(plain: BinaryIO, size: int) -> bytes:
    """So many bytes; what fills up the last block is passed over."""
    found = plain.read(size)
    if len(found) < size:
        raise tarfile.ReadError("unexpected end of data")
    plain.read(-size % _BLOCK)
    return found


def _header(plain: BinaryIO, size: int, source: str) -> bytes:
    if not 0 <= size <= _LONGEST_HEADER:
        raise _refused(source, f"a header in it is longer than {_LONGEST_HEADER} bytes")
    return _content(plain, size)


def _path_in(text: bytes, source: str) -> str:
    """The path that a pax header (POSIX.1-2001) gives to the next entry, "" for none. Its records are
    "LENGTH KEY=VALUE" and a line's end."""
    at, path = 0, b""
    while at < len(text):
        digits = text[at : at + 6].partition(b" ")[0]
        length = int(digits)
        key, _equals, value = text[at + len(digits) + 1 : at + length - 1].partition(b"=")
        if length <= len(digits) or key == b"size" or key.startswith(b"GNU.sparse"):
            raise _refused(
                source, "it is for files that are larger, or emptier, than any of a recipe"
            )
        path = value if key == b"path" else path
        at += length
    return path.decode("utf-8", "strict")


def _refused(source: str, why: str) -> InvalidInput:
    return InvalidInput(
        "an archive of recipes is refused",
        where=source,
        why=why,
        todo="push a folder that holds the recipe's folder",
    )
