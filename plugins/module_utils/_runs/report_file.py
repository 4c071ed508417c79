# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on the controller, or target, that a person has named for what a run has found."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .._errors import InvalidInput


@contextmanager
def writing(what: str, path: str) -> Iterator[None]:
    """Raises InvalidInput where what is done in it cannot write; what: "The report"."""
    try:
        yield
    except OSError as error:
        raise _unwritable(what, path, error.strerror or str(error)) from None


def write_whole(what: str, path: str, body: bytes, mode: int = 0o666) -> None:
    """Write a file at once: who reads it meanwhile, such as a collector of metrics, sees no half of it.
    mode: who may, as far as the umask lets. Raises InvalidInput."""
    part = Path(f"{path}.part")
    with writing(what, path):
        part.touch(mode=mode)
        part.write_bytes(body)
        part.replace(path)


def refuse_unwritable(what: str, path: str) -> None:
    """Raise InvalidInput where a file could not be written, without writing anything: for who asks before a
    run begins."""
    file = Path(path)
    if file.is_dir():
        why = "it is a folder"
    elif not file.parent.is_dir():
        why = "its folder is not there"
    elif not os.access(file if file.exists() else file.parent, os.W_OK):
        why = "it may not be written to"
    else:
        return
    raise _unwritable(what, path, why)


def _unwritable(what: str, path: str, why: str) -> InvalidInput:
    todo = "name a file in a folder that is there"
    return InvalidInput(f"{what} cannot be written", where=path, why=why, todo=todo)
