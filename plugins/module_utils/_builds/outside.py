# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What became of orders that were handed out: the results of image_build, as a loop registers them.
Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._json import elements, part
from .failures import FAILED, BuildFailure, BuildPhase, failure
from .orders import BuildOrder, Built


def built_elsewhere(
    orders: Sequence[BuildOrder], results: Iterable[Mapping[str, Any]]
) -> list[Built]:
    """The end of each order that a result is about. A result's item is the order; without msg it is
    a success."""
    by_target = {str(part(result, "item").get("target")): result for result in results}
    return [
        Built(
            order, _failure(by_target[order.target]), list(elements(by_target[order.target], "log"))
        )
        for order in orders
        if order.target in by_target
    ]


def _failure(result: Mapping[str, Any]) -> BuildFailure | None:
    """None for a success. Where the module did not run (its host is not reached), nothing began."""
    if result.get("image"):
        return None
    said = " ".join(str(result.get("msg") or "it did not say why").split()).rstrip(".")
    if result.get("unreachable"):
        return failure(BuildPhase.START, "Unreachable", said)
    try:
        phase = BuildPhase(result.get("phase") or BuildPhase.START)
    except ValueError:
        phase = BuildPhase.START
    return BuildFailure(phase, str(result.get("reason") or FAILED), said)
