# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts as every reader of YAML takes them for texts: versions of YAML, and readers, differ in what is a
number, or yes and no. Pure."""

from __future__ import annotations

import re
from typing import Any, Optional

# Numbers, dates and the like begin otherwise, in all versions of YAML; words such as "no" are known to
# the emitter, but "y" and "n", which Go's readers take for yes and no, are not.
_PLAIN = re.compile(r"[A-Za-z/].")


def style_of(text: str) -> Optional[str]:
    """How a text is written: in quotes, or, with None, as PyYAML finds fit."""
    return None if _PLAIN.match(text) else '"'


def represent_text(dumper: Any, text: str) -> Any:
    """A text as a node of PyYAML: a representer, as its dumpers take one."""
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style_of(text))
