# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Templates among the texts of a nested value, such as a proof's settings. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._schema.shapes import is_template
from .templating import Templates


def names_in(templates: Templates, value: Any, path: str) -> frozenset[str]:
    """The variables that texts ask for. path: where the value stands, for messages."""
    return frozenset().union(
        *(templates.names_in_text(text, path) for text in _templates_in(value))
    )


def options_in(templates: Templates, value: Any, path: str) -> frozenset[str] | None:
    """The options that texts ask for; None where only rendering tells."""
    found = [templates.options_in_text(text, path) for text in _templates_in(value)]
    return None if None in found else frozenset().union(*(options for options in found if options))


def rendered(templates: Templates, value: Any, path: str, variables: Mapping[str, Any]) -> Any:
    """The value with all its texts rendered."""
    if isinstance(value, str):
        return templates.render_text(value, path, variables) if is_template(value) else value
    if isinstance(value, Mapping):
        return {
            key: rendered(templates, item, f"{path}.{key}", variables)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [
            rendered(templates, item, f"{path}[{index}]", variables)
            for index, item in enumerate(value)
        ]
    return value


def _templates_in(value: Any) -> Iterator[str]:
    """The texts in a value that are templates."""
    if isinstance(value, str):
        if is_template(value):
            yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _templates_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from _templates_in(item)
