# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a group of nodes ends up with where nothing new was found: what the record knows stays.
Pure.

known: the group's entry in the record, empty for none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from .._errors import EnablementError
from .failures import BuildFailure, BuildPhase
from .memory import Remembered
from .orders import BuildOrder, Built, Resolution, Source
from .resolve import Search

Known = Mapping[str, Any]


def without(
    resolution: Resolution, problem: str, known: Known, remembered: Remembered | None = None
) -> Resolution:
    """No image was found or built. Nothing is taken away for that: what was found before stays."""
    image, name, inputs = (str(known.get(key, "")) for key in ("image", "name", "inputs"))
    source = Source.KEPT if image else Source.NONE
    remembered = remembered or Remembered()
    return replace(
        resolution,
        image=image,
        name=name,
        source=source,
        inputs=inputs,
        problem=problem,
        remembered=remembered,
    )


def or_before(resolution: Resolution, known: Known) -> Resolution:
    """What was found, else what there was before."""
    return without(resolution, resolution.problem, known) if resolution.problem else resolution


def unasked(group: str, kernel: str, problem: str, known: Known) -> Resolution:
    """A registry could not be asked. That is no news about a build that has failed, either."""
    resolution = without(Resolution(group, kernel), problem, known)
    return replace(resolution, source=Source.KEPT) if known.get("failed") else resolution


def after(search: Search, order: BuildOrder, built: Built, known: Known, now: float) -> Resolution:
    """What a group has after its build. order: its own, whoever's build of it that was. now: seconds
    since the epoch."""
    resolution = Resolution(search.wanted.group, search.wanted.kernel)
    failure = built.failure
    if failure is None:
        try:
            found = search.built(order)
        except EnablementError as error:
            return without(
                resolution, f"{order.target} is built, but cannot be looked up: {error}", known
            )
        if not found.problem:
            return found
        failure = BuildFailure(BuildPhase.PUSH, "NotPushed", found.problem)
        tell: Callable[[str], str] = found.problem.__add__
    else:
        search.tried.append(failure.text)
        tell = search.no_image
    remembered = _remembered(order, failure, known, now)
    also = _advice(failure, remembered)
    resolution = replace(resolution, tried=tuple(search.tried))
    return without(resolution, tell(f"; {also}" if also else ""), known, remembered)


def _remembered(order: BuildOrder, failure: BuildFailure, known: Known, now: float) -> Remembered:
    """What is remembered of a failure. One that was foreseen began nothing, so what was remembered of
    the same build stays."""
    before = Remembered.of(known)
    if not failure.foreseen:
        return before.after(order.key, failure, now)
    return before if before.failed == order.key else Remembered()


def _advice(failure: BuildFailure, remembered: Remembered) -> str:
    """What to do, and when it is tried again; half a sentence, or nothing."""
    advice = [failure.advice, "" if failure.foreseen else remembered.advice]
    return (", " if failure.is_held else "; ").join(filter(None, advice))
