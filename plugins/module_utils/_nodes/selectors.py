# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label sets: which nodes have the hardware."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from .._json import elements

LabelSet = Mapping[str, "str | None"]
Taints = Sequence[Mapping[str, str]]
# In a label set it is no label: the node has no taint of a role, which control planes have.
NO_ROLE_TAINT = "!taint/node-role.kubernetes.io"
ROLE = "node-role.kubernetes.io/"
_REPELLING = ("NoSchedule", "NoExecute")
_LABEL = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._/-]*|{re.escape(NO_ROLE_TAINT)}")


def matches(labels: Mapping[str, str], any_of: Sequence[LabelSet], taints: Taints = ()) -> bool:
    """Whether any of the label sets holds. A set holds when all its labels do; None as a value:
    present is enough. taints: the node's, where a set asks for these."""
    return any(
        all(
            not _is_of_role(taints)
            if name == NO_ROLE_TAINT
            else name in labels and value in (None, labels[name])
            for name, value in wanted.items()
        )
        for wanted in any_of
    )


def _is_of_role(taints: Taints) -> bool:
    return any(
        str(taint.get("key")).startswith(ROLE) and taint.get("effect") in _REPELLING
        for taint in taints
    )


def taints_of(node: Mapping[str, Any]) -> Taints:
    """The taints of a Node object."""
    return elements(node, "spec", "taints")


def labels_alone(wanted: LabelSet) -> LabelSet:
    """A label set without what is no label."""
    return {name: value for name, value in wanted.items() if name != NO_ROLE_TAINT}


def label_selector(wanted: LabelSet) -> str:
    """A label set as the API server's labelSelector parameter, which knows labels alone."""
    return selector_text(labels_alone(wanted))


def selector_text(wanted: LabelSet) -> str:
    """A whole label set as text, labels as in a labelSelector parameter."""
    return ",".join(
        name if value is None else f"{name}={value}" for name, value in sorted(wanted.items())
    )


def parse_selector(text: str) -> LabelSet:
    """What selector_text has written, as a label set. Raises ValueError for what it never writes."""
    found: dict[str, str | None] = {}
    for each in text.split(","):
        name, equals, value = each.strip().partition("=")
        if not _LABEL.fullmatch(name) or "=" in value:
            raise ValueError(f"{text!r} is no list of labels")
        found[name] = value if equals else None
    return found
