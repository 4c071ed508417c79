# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pieces of a recipe that is written for somebody: options, and texts that differ by a condition. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .._json import Obj


def text_option(default: str, about: str) -> Obj:
    """An option with a text."""
    return {"type": "str", "default": default, "description": about}


def required_option(about: str) -> Obj:
    """An option with a text that only its user knows."""
    return {"type": "str", "required": True, "description": about}


def texts_option(default: Sequence[str], about: str) -> Obj:
    """An option with a list of texts."""
    return {"type": "list", "elements": "str", "default": list(default), "description": about}


def chosen(texts: Sequence[tuple[str, str]]) -> str:
    """A template that gives the text of the first condition that holds; texts: condition, text."""
    if not any(text for _condition, text in texts):
        return ""
    parts = [
        f"{{%- {'if' if index == 0 else 'elif'} {condition} -%}}\n{text}\n"
        for index, (condition, text) in enumerate(texts)
    ]
    return "".join(parts) + "{%- endif -%}"
