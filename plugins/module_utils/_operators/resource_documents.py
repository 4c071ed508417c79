# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file with custom resources, as somebody has written or exported it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .._errors import InvalidInput
from .._recipes.templates.documents import parse_foreign


def read_documents(source: str) -> list[Any]:
    """The objects of a YAML file. Raises InvalidInput where it cannot be read."""
    todo = "name a file with the operator's custom resources"
    try:
        text = Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = str(error).splitlines()[0]
        raise InvalidInput(f"{source} cannot be read", why=why, todo=todo) from None
    try:
        found, _doubled = parse_foreign(text, source)
    except InvalidInput as error:
        why = f"{error.what} ({error.where})" + (f": {error.why}" if error.why else "")
        raise InvalidInput(f"{source} cannot be read", why=why, todo=todo) from None
    return [document for document in found if document]
