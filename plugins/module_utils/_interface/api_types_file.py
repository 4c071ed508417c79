# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what the collection ships of the Kubernetes API's types, for recipe_check."""

from __future__ import annotations

import json
from pathlib import Path

from .._recipes.checking.api_types import ApiTypes

PATH = Path(__file__).with_name("api_types.json")


def read_api_types() -> ApiTypes:
    """The types of the Kubernetes version that this collection is tested with."""
    return ApiTypes(json.loads(PATH.read_text(encoding="utf-8")))
