# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The layer that a compiled folder becomes: as it comes through a log, and as it goes into an
image. Pure."""

from __future__ import annotations

import base64
import binascii
import gzip
import hashlib
import io
import posixpath
import tarfile
import zlib

from .._errors import EnablementError

# By default a kubelet begins a new log at 10 MiB (kubelet configuration, containerLogMaxSize), and
# the one before is not shown. Base64 makes a third more of what is sent, the log's own marks a
# little.
MAX_BYTES = 7 * 1024 * 1024
MAX_LOG_BYTES = 10 * 1024 * 1024
# So that a small archive cannot fill the memory.
MAX_CONTENT_BYTES = 256 * 1024 * 1024
# OCI image specification, layer.md: a file of this name removes one of the layers below.
_WHITEOUT = ".wh."


class IncompleteError(Exception):
    """Not all that was sent has arrived; the text is the reason."""


def received(log: str) -> bytes:
    """What a log holds: a line with size and SHA-256, then lines of base64. Raises IncompleteError."""
    head, _newline, body = log.partition("\n")
    size, _space, rest = head.strip().partition(" ")
    digest = rest.split(" ")[0]
    if not size.isdigit() or len(digest) != 64:
        raise IncompleteError("its log does not begin as it should")
    try:
        content = base64.b64decode("".join(body.split()), validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) != int(size) or hashlib.sha256(content).hexdigest() != digest:
        raise IncompleteError(f"its log holds {len(content)} of {size} bytes, or other ones")
    return content


def make_layer(archive: bytes, into: str) -> bytes:
    """A layer (tar.gz) with what a tar.gz holds, below a folder: always the same for the same
    files.

    Files belong to root, have no times, and are writable by nobody else. Raises EnablementError for
    what does not belong into a layer.
    """
    entries = _entries(_unpacked(archive))
    folder = into.strip("/")
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        # The folders above are the base image's: one of them may be a link there.
        for path, (entry, content) in sorted(entries.items()):
            entry.name = posixpath.join(folder, path) if path != "." else folder
            if entry.name:
                tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def _unpacked(archive: bytes) -> bytes:
    try:
        with gzip.open(io.BytesIO(archive)) as file:
            content = file.read(MAX_CONTENT_BYTES + 1)
    except (OSError, EOFError, zlib.error):
        raise EnablementError(
            "what was compiled cannot be unpacked", why="it is no tar.gz file"
        ) from None
    if len(content) > MAX_CONTENT_BYTES:
        why = f"it has more than {MAX_CONTENT_BYTES // 1024**2} MiB"
        todo = "leave less in build.compile.output"
        raise EnablementError("what was compiled is too much for a layer", why=why, todo=todo)
    return content


def _entries(content: bytes) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    """Path, without a slash at its beginning -> the entry as it goes into the layer, and its
    content."""
    found = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as tar:
            for member in tar:
                path = posixpath.normpath(member.name)
                if path.startswith("/") or any(
                    part == ".." or part.startswith(_WHITEOUT) for part in path.split("/")
                ):
                    raise _refused(member, "a layer holds nothing under such a name")
                found[path] = _entry(tar, member)
    except (tarfile.TarError, KeyError):
        raise EnablementError(
            "what was compiled cannot be unpacked", why="it is no whole tar file"
        ) from None
    if not any(entry.isreg() for entry, _content in found.values()):
        why = "the output folder holds no file"
        raise EnablementError("nothing was compiled", why=why, todo="correct build.compile")
    return found


def _entry(tar: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[tarfile.TarInfo, bytes]:
    entry = tarfile.TarInfo()
    if member.isdir():
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        return entry, b""
    if member.issym():
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, member.linkname, 0o777
        return entry, b""
    file = tar.extractfile(member) if member.isreg() or member.islnk() else None
    if file is None:
        raise _refused(member, "it is neither a file nor a folder nor a link")
    content = file.read()
    entry.mode, entry.size = 0o755 if member.mode & 0o111 else 0o644, len(content)
    return entry, content


def _refused(member: tarfile.TarInfo, why: str) -> EnablementError:
    return EnablementError(
        f"{member.name} does not go into the layer", why=why, todo="correct build.compile.output"
    )
