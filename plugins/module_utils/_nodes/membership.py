# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a node that carries our marks stands to the hardware, by its labels alone. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from .selectors import LabelSet, matches


class Standing(Enum):
    """HAS the hardware; VANISHED: no label says so any more; LEFT_OUT: the user has chosen nodes,
    and not this one."""

    HAS = "has"
    VANISHED = "vanished"
    LEFT_OUT = "left out"


def standing(
    labels: Mapping[str, str], any_of: Sequence[LabelSet], chosen: Mapping[str, str]
) -> Standing:
    """any_of: the label sets of the hardware, each with the labels that the user chose nodes by."""
    if matches(labels, any_of):
        return Standing.HAS
    left_out = any(labels.get(name) != value for name, value in chosen.items())
    return Standing.LEFT_OUT if left_out else Standing.VANISHED


def stray_selectors(mark: str, any_of: Sequence[LabelSet], chosen: Mapping[str, str]) -> list[str]:
    """What the API server takes to find nodes with a mark (a label) that match none of the label
    sets; where such a set has several labels of the hardware, also others."""
    hardware = [
        {name: value for name, value in labels.items() if name not in chosen} for labels in any_of
    ]
    lost = [_without(*next(iter(labels.items()))) for labels in hardware if len(labels) == 1]
    vanished = [",".join([mark, *lost])] if all(hardware) else []
    return [
        *vanished,
        *(f"{mark},{_without(name, value)}" for name, value in sorted(chosen.items())),
    ]


def _without(name: str, value: str | None) -> str:
    return f"!{name}" if value is None else f"{name}!={value}"
