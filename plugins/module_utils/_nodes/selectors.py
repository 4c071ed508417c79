# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label sets: which nodes have the hardware."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

LabelSet = Mapping[str, "str | None"]
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")


def matches(labels: Mapping[str, str], any_of: Sequence[LabelSet]) -> bool:
    """Whether any of the label sets holds. A set holds when all its labels do; None as a value:
    present is enough."""
    return any(
        all(
            name in labels and (value is None or labels[name] == value)
            for name, value in wanted.items()
        )
        for wanted in any_of
    )


def label_selector(wanted: LabelSet) -> str:
    """A label set as the API server's labelSelector parameter."""
    return ",".join(
        name if value is None else f"{name}={value}" for name, value in sorted(wanted.items())
    )


def parse_selector(text: str) -> LabelSet:
    """What label_selector has written, as a label set. Raises ValueError for what it never writes."""
    found: dict[str, str | None] = {}
    for part in text.split(","):
        name, equals, value = part.strip().partition("=")
        if not _LABEL.fullmatch(name) or "=" in value:
            raise ValueError(f"{text!r} is no list of labels")
        found[name] = value if equals else None
    return found
