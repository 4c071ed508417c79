# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chart's archive, which anybody may have made: unpacked in memory, within limits, regular files
of one folder only."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from pathlib import PurePosixPath

from .._errors import InvalidInput

# Helm's own limit for what a release may be is about a megabyte; pictures and licences come on top.
MOST_BYTES = 20_000_000
MOST_FILES = 2_000
DEEPEST = 4


def unpack(data: bytes, source: str, depth: int = 0) -> dict[str, str]:
    """The texts of a packed chart by their path inside it; charts packed inside it are unpacked too.

    source is for messages. What is no text is left out. Raises InvalidInput for what is no archive
    of one chart, and for one that names a path outside of itself, holds links, or is too large.
    """
    if depth > DEEPEST:
        raise _refused(source, f"charts are packed inside of each other more than {DEEPEST} deep")
    found: dict[str, str] = {}
    folders: set[str] = set()
    for name, content in _files(data, source):
        folder, _slash, path = name.partition("/")
        folders.add(folder)
        if path.endswith(".tgz") and PurePosixPath(path).parent.name == "charts":
            inner = unpack(content, f"{source}, {path}", depth + 1)
            place = f"{path.removesuffix('.tgz')}"
            found.update({f"{place}/{each}": text for each, text in inner.items()})
        else:
            text = text_of(content)
            if text is not None:
                found[path] = text
    if len(folders) != 1 or "Chart.yaml" not in found:
        raise _refused(source, "it is no chart: a chart is one folder with a Chart.yaml")
    if len("".join(found.values())) > MOST_BYTES:
        raise _refused(source, f"it holds more than {MOST_BYTES} bytes")
    return found


def text_of(content: bytes) -> str | None:
    """A file as text, None for what is none, such as a picture."""
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def _files(data: bytes, source: str) -> Iterator[tuple[str, bytes]]:
    left, count = MOST_BYTES, 0
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r|gz") as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts
                if member.isdir():
                    continue
                if not member.isreg():
                    raise _refused(source, f"{member.name} is a link or a device")
                if member.name.startswith("/") or ".." in parts or "\\" in member.name:
                    raise _refused(source, f"{member.name} leads out of the chart")
                count, left = count + 1, left - member.size
                if count > MOST_FILES or left < 0:
                    limits = f"{MOST_FILES} files or {MOST_BYTES} bytes"
                    raise _refused(source, f"it holds more than {limits}")
                stream = archive.extractfile(member)
                if stream is not None and len(parts) > 1:
                    yield PurePosixPath(*parts).as_posix(), stream.read()
    except (tarfile.TarError, EOFError, OSError) as error:
        raise _refused(source, f"it is no gzipped tar archive: {error}") from None


def _refused(source: str, why: str) -> InvalidInput:
    return InvalidInput(
        "a chart's archive is refused",
        where=source,
        why=why,
        todo="pack the chart with `helm package`",
    )
