# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One small file of a layer of an image. The entries are read one after the other and passed over, so
that a layer takes no memory."""

from __future__ import annotations

import gzip
import tarfile
import zlib
from typing import BinaryIO

from .._errors import InvalidInput

# Compressed; what tells of an image is in a small layer of its own, at its end.
MOST_OF_LAYER = 64_000_000
_MOST_OF_FILE = 2_000_000
# A layer that unpacks to more is none that is worth to be read.
_MOST_UNPACKED = 2_000_000_000
_BLOCK = tarfile.BLOCKSIZE


def file_in_layer(layer: BinaryIO, path: str, source: str) -> bytes | None:
    """The content of a regular file, None where the layer has none of that path. source is for messages.
    Raises InvalidInput for what is no gzipped layer, and for a file that is too large."""
    try:
        with gzip.GzipFile(fileobj=layer) as plain:
            return _find(plain, path)  # type: ignore[arg-type]
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error) as error:
        raise InvalidInput(
            f"{path} cannot be read from {source}",
            why=f"a layer of it is no gzipped archive ({error})",
        ) from None


def _find(plain: BinaryIO, path: str) -> bytes | None:
    passed = 0
    while any(block := plain.read(_BLOCK)):
        entry = tarfile.TarInfo.frombuf(block, "utf-8", "replace")
        passed += _BLOCK + entry.size
        if entry.size < 0 or passed > _MOST_UNPACKED:
            raise tarfile.ReadError("it is larger than any that is read")
        if entry.isreg() and entry.name.removeprefix("./") == path:
            if entry.size > _MOST_OF_FILE:
                raise tarfile.ReadError(f"{path} is larger than {_MOST_OF_FILE} bytes")
            return plain.read(entry.size)
        plain.seek(entry.size + -entry.size % _BLOCK, 1)
    return None
