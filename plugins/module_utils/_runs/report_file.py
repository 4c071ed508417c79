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
        raise InvalidInput(
            f"{what} cannot be written",
            where=path,
            why=error.strerror or str(error),
            todo="name a file in a folder that is there",
        ) from None


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
    raise InvalidInput(
        f"{what} cannot be written",
        where=path,
        why=why,
        todo="name a file in a folder that is there",
    )
