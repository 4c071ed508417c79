# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values of a chart can be options of a recipe: texts and numbers that come out in its objects as
they are, wherever they do. Pure, with helm as a function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._charts.subcharts import values_of
from .._json import part

Texts = Mapping[str, str]
# Values over those of the chart -> file -> what it renders to; None where helm refuses them.
Render = Callable[[Mapping[str, Any]], "Texts | None"]

# Marks for numbers, which may have to be a port.
_FIRST_NUMBER = 59100


@dataclass(frozen=True)
class ChartValue:
    """One value of a chart. path: its keys in values.yaml. mark: what is given instead of it, to see
    where it comes out. choices, description: of the chart's schema. prefix: of the option's name."""

    path: tuple[str, ...]
    default: str | int
    mark: str | int
    choices: tuple[str | int, ...] = ()
    description: str = ""
    prefix: str = ""

    @property
    def name(self) -> str:
        """As an option of a recipe is called: devicePlugin.logLevel is device_plugin_log_level."""
        text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", "_".join(self.path)).lower()
        return self.prefix + re.sub(r"[^a-z0-9]+", "_", text).strip("_")

    @property
    def key(self) -> str:
        """As helm calls it."""
        return ".".join(self.path)


def plain_values(
    files: Texts, schema: Mapping[str, Any], render: Render, plain: Texts
) -> tuple[list[ChartValue], Texts]:
    """The values that come out as they are, and what the chart renders to with their marks.

    files: of the chart. schema: that of its values. plain: what it renders to by its own values. A
    value that is also asked about (if, eq), shortened or computed with would give something else, and
    is none.
    """
    candidates = list(_texts_and_numbers(values_of(files), schema))
    together = "\n".join(plain.values())
    candidates = [value for value in candidates if str(value.mark) not in together]
    good = list(_those_that_are_plain(candidates, render, plain))
    marked = render(_given(good)) if good else plain
    if marked is None or _unmarked(marked, good) != plain:
        return [], plain
    seen = "\n".join(marked.values())
    return [value for value in good if str(value.mark) in seen], marked


def _texts_and_numbers(
    values: Mapping[str, Any], schema: Mapping[str, Any], above: tuple[str, ...] = ()
) -> Iterator[ChartValue]:
    """All that are given, with marks of their own. Empty ones are switches, as are booleans."""
    number = 0
    for path, value, known in _leaves(values, schema, above):
        number += 1
        is_number = isinstance(value, int) and not isinstance(value, bool)
        if not is_number and not (isinstance(value, str) and value):
            continue
        mark = _FIRST_NUMBER + number if is_number else f"hevalue{number:03}x"
        described = " ".join(str(known.get("description") or "").split())
        choices = tuple(each for each in known.get("enum") or () if isinstance(each, (str, int)))
        yield ChartValue(path, value, mark, choices, described)


def _leaves(
    values: Mapping[str, Any], schema: Mapping[str, Any], above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Any, Mapping[str, Any]]]:
    for key, value in values.items():
        known = part(part(schema, "properties"), str(key))
        if isinstance(value, Mapping):
            yield from _leaves(value, known, (*above, str(key)))
        elif not isinstance(value, list):
            yield (*above, str(key)), value, known


def _those_that_are_plain(
    values: Sequence[ChartValue], render: Render, plain: Texts
) -> Iterator[ChartValue]:
    """By halves, as most are."""
    if not values:
        return
    texts = render(_given(values))
    if texts is not None and _unmarked(texts, values) == plain:
        yield from values
    elif len(values) > 1:
        half = len(values) // 2
        yield from _those_that_are_plain(values[:half], render, plain)
        yield from _those_that_are_plain(values[half:], render, plain)


def _given(values: Sequence[ChartValue]) -> Mapping[str, Any]:
    """The marks, as values of the chart."""
    found: dict[str, Any] = {}
    for value in values:
        inner = found
        for key in value.path[:-1]:
            inner = inner.setdefault(key, {})
        inner[value.path[-1]] = value.mark
    return found


def _unmarked(texts: Texts, values: Sequence[ChartValue]) -> Texts:
    """What it would be with the values instead of their marks."""
    found = dict(texts)
    for value in values:
        found = {
            file: text.replace(str(value.mark), str(value.default)) for file, text in found.items()
        }
    return found
