# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipes in tests/recipes/sro, and custom resources with theirs in tests/recipes/special-resources,
which lie as in the operator's source. Go templates are no YAML, as checks of files called so want it: in
the repository they end with .gotmpl."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCES = Path(__file__).parents[1] / "recipes"
SUFFIX = ".gotmpl"


@cache
def _folder() -> TemporaryDirectory[str]:
    """It goes with this process."""
    return TemporaryDirectory(prefix="sro-recipes-")


def sro_recipes() -> Path:
    """A copy of the recipes with the names that a user's files have."""
    return _copied("sro")


def special_resources() -> Path:
    """The same of the custom resources and what they name."""
    return _copied("special-resources")


@cache
def _copied(name: str) -> Path:
    target = Path(_folder().name) / name
    shutil.copytree(SOURCES / name, target)
    for path in target.rglob(f"*{SUFFIX}"):
        path.rename(path.with_suffix(""))
    return target
