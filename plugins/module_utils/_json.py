# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The type of what is read from JSON and YAML, a part of it, and a hash of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

# An object with keys: of the Kubernetes API, of a module's result.
Obj = dict[str, Any]


def part(obj: Mapping[str, Any], *keys: str) -> Obj:
    """The mapping below these keys, one in the other; {} where one is missing or null."""
    found: Any = obj
    for key in keys:
        found = found.get(key) or {}
    mapping: Obj = found
    return mapping


def content_hash(content: Any) -> str:
    """16 hex digits that change with the content, whatever the order of keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
