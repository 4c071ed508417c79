# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of recipes, which take seconds: each is made once by a process of pytest, whoever wants it."""

from __future__ import annotations

import inspect
import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._authoring import check_core
from ansible_collections.hardware.enablement.plugins.module_utils._authoring.rights import (
    rights_core,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    read_api_types,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    Checked,
    check,
)

TYPES = read_api_types()

_SIGNATURE = inspect.signature(check)
_FOUND: dict[str, Checked] = {}


def check_once(*args: Any, **named: Any) -> Checked:
    """As check(), which is asked once for the same arguments."""
    given = _SIGNATURE.bind(*args, **named)
    given.apply_defaults()
    types = given.arguments.pop("types")
    key = json.dumps(given.arguments, sort_keys=True, default=str)  # functions by their name
    if types is not TYPES:
        return check(*args, **named)
    if key not in _FOUND:
        _FOUND[key] = check(*args, **named)
    return _FOUND[key]


def use_once(patch: pytest.MonkeyPatch) -> None:
    """Let the modules that check recipes do so once."""
    patch.setattr(check_core, "check", check_once)
    patch.setattr(rights_core, "check", check_once)
