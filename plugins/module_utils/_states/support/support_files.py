# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a support bundle: what there is of them, within bounds of size and time, and as an
archive."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from ..._errors import EnablementError

# More of one text is no use to a reader: its end counts, as that of a log.
_LONGEST = 1_000_000


@dataclass
class SupportFiles:
    """Texts by their path. deadline: after that (clock, seconds) nothing is begun. most: how many bytes
    all of them may have. missing: what there is not, and why, in sentences."""

    clock: Callable[[], float]
    deadline: float
    most: int
    texts: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)
    _size: int = 0

    @property
    def is_late(self) -> bool:
        """Whether there is no time left."""
        return self.clock() >= self.deadline

    def add(self, path: str, text: str) -> None:
        """Take a text, if there is any: its end where it is long; nothing where there is no room for it."""
        if not text:
            return
        if len(text) > _LONGEST:
            self.missing.append(f"{path}: its first {len(text) - _LONGEST} characters")
            text = text[-_LONGEST:]
        size = len(text.encode())
        if self._size + size > self.most:
            self.missing.append(f"{path}: {size} bytes more than the bundle may have")
            return
        self._size += size
        self.texts[path] = text

    @contextmanager
    def part_of(self, what: str) -> Iterator[None]:
        """Work on a part: what cannot be found out is missing, and holds up nothing else. Who is in it
        asks is_late."""
        try:
            yield
        except EnablementError as error:
            self.missing.append(f"{what}: {error}")


def pack(texts: Mapping[str, str], first: Sequence[str], folder: str, moment: float) -> bytes:
    """The texts as a compressed archive, in one folder; first: what comes first in it. Only its owner may
    read what is unpacked."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for path in (*first, *(path for path in texts if path not in first)):
            body = texts[path].encode()
            entry = tarfile.TarInfo(f"{folder}/{path}")
            entry.size, entry.mtime, entry.mode = len(body), int(moment), 0o600
            archive.addfile(entry, io.BytesIO(body))
    return packed.getvalue()
