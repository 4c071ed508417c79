# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of an archive that anybody may have made: unpacked in memory, within limits, regular
files that stay inside of it only. Pure."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath

from ..._errors import InvalidInput

MOST_BYTES = 20_000_000
MOST_FILES = 2_000


def unpack(data: bytes, source: str) -> dict[str, bytes]:
    """Path -> content of a gzipped tar archive. source is for messages.

    Raises InvalidInput for what is none, for links and devices, for paths that lead out of it, and
    for what unpacks to more than MOST_BYTES or MOST_FILES.
    """
    found: dict[str, bytes] = {}
    left = MOST_BYTES
    try:
        # Not tarfile's own "r|gz": it stumbles over the extra field in the header that helm writes.
        plain = gzip.GzipFile(fileobj=io.BytesIO(data))
        with plain, tarfile.open(fileobj=plain, mode="r|") as archive:
            for path, member in _members(archive, source):
                left -= member.size
                if len(found) >= MOST_FILES or left < 0:
                    limits = f"{MOST_FILES} files or {MOST_BYTES} bytes"
                    raise _refused(source, f"it holds more than {limits}")
                stream = archive.extractfile(member)
                found[path] = stream.read() if stream else b""
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise _refused(source, f"it is no gzipped tar archive ({error})") from None
    return found


def _members(archive: tarfile.TarFile, source: str) -> Iterator[tuple[str, tarfile.TarInfo]]:
    for member in archive:
        if member.isdir():
            continue
        if not member.isreg():
            raise _refused(source, f"{member.name!r} is a link or a device")
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts or "\\" in member.name:
            raise _refused(source, f"{member.name!r} leads out of it")
        yield path.as_posix(), member


def _refused(source: str, why: str) -> InvalidInput:
    return InvalidInput(
        "an archive of recipes is refused",
        where=source,
        why=why,
        todo="push a folder that holds the recipe's folder",
    )
