# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which files a folder is a recipe, in whatever format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from .._recipes.templates.overlay import RECIPE_FILE
from .chart_archive import CHART_FILE

NUMBERED = re.compile(r"^[0-9]{4}[-_].*\.yaml$")


def is_recipe(paths: Iterable[str]) -> bool:
    """Whether files with these paths inside a folder are a recipe."""
    known = set(paths)
    return RECIPE_FILE in known or is_foreign(known)


def is_foreign(paths: Iterable[str]) -> bool:
    """Whether files are a chart, or manifests in an order."""
    known = set(paths)
    return CHART_FILE in known or any(map(_is_numbered, map(PurePosixPath, known)))


def _is_numbered(path: PurePosixPath) -> bool:
    return NUMBERED.match(path.name) is not None and len(path.parts) <= 2
