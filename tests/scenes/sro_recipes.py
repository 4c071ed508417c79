# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes in tests/recipes/sro. Go templates are no YAML, as checks of files called so want it: in
the repository they end with .gotmpl."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCES = Path(__file__).parents[1] / "recipes" / "sro"
SUFFIX = ".gotmpl"


@cache
def _folder() -> TemporaryDirectory[str]:
    """It goes with this process."""
    return TemporaryDirectory(prefix="sro-recipes-")


@cache
def sro_recipes() -> Path:
    """A copy of them with the names that a user's files have."""
    target = Path(_folder().name) / "sro"
    shutil.copytree(SOURCES, target)
    for path in target.rglob(f"*{SUFFIX}"):
        path.rename(path.with_suffix(""))
    return target
