# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""TOML as the daemon reads it: names in any case."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any


def read_toml(file: Path) -> dict[str, Any]:
    """The file's tables with all names in lower case; ValueError if it is no TOML. Needs Python
    3.11."""
    if sys.version_info < (3, 11):
        raise RuntimeError("The RMD server reads TOML with Python 3.11 and newer only.")
    import tomllib  # type: ignore[import-not-found,unused-ignore]

    return _lower(tomllib.loads(file.read_text()))


def _lower(table: dict[str, Any]) -> dict[str, Any]:
    return {
        key.lower(): _lower(value) if isinstance(value, dict) else value
        for key, value in table.items()
    }
