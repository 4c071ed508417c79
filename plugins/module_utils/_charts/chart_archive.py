# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed charts, which anybody may have made: their files as text, and which version counts. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from .._errors import InvalidInput
from .._recipes.loading.recipe_archive import ArchiveBudget, unpack
from .._recipes.templates.documents import parse_foreign
from .._schema.problems import suggest

CHART_FILE = "Chart.yaml"
DEEPEST = 4
_PACKED = ".tgz"


def chart_files(
    data: bytes, source: str, depth: int = 0, budget: ArchiveBudget | None = None
) -> dict[str, str]:
    """The texts of a packed chart by their path inside it; charts packed inside it are unpacked too,
    within the same budget.

    source is for messages. What is no text is left out. Raises InvalidInput for what is no archive
    of one chart, and where charts are too many or too large together.
    """
    budget = budget or ArchiveBudget.whole()
    if depth > DEEPEST:
        raise _refused(source, f"charts are packed inside of each other more than {DEEPEST} deep")
    files = unpack(data, source, budget)
    folders = {path.partition("/")[0] for path in files}
    if len(folders) != 1 or f"{min(folders)}/{CHART_FILE}" not in files:
        raise _refused(source, f"it is no chart, which is one folder with a {CHART_FILE}")
    inside = {path.partition("/")[2]: content for path, content in files.items()}
    return texts_of(inside, source, depth, budget)


def texts_of(
    files: Mapping[str, bytes], source: str, depth: int = 0, budget: ArchiveBudget | None = None
) -> dict[str, str]:
    """The texts of a folder's files, in which packed charts of folders called charts are folders,
    too."""
    budget = budget or ArchiveBudget.whole()
    found: dict[str, str] = {}
    for path, content in files.items():
        if is_subchart(path):
            inner = chart_files(content, f"{source}, {path}", depth + 1, budget)
            place = path.removesuffix(_PACKED)
            found.update({f"{place}/{each}": text for each, text in inner.items()})
            continue
        try:
            found[path] = content.decode()
        except UnicodeDecodeError:
            continue
    return found


def is_subchart(path: str) -> bool:
    """Whether a file is a chart packed inside another one."""
    return path.endswith(_PACKED) and PurePosixPath(path).parent.name == "charts"


def charts_among(
    files: Mapping[str, bytes], source: str, version: str
) -> tuple[dict[str, bytes], dict[str, dict[str, str]]]:
    """The files that are no packed charts, and name -> files of those charts that are, each in the
    wanted version, else its newest."""
    budget = ArchiveBudget.whole()
    packed = {
        path: chart_files(content, f"{source}, {path}", budget=budget)
        for path, content in files.items()
        if path.endswith(_PACKED) and not is_subchart(path)
    }
    versions: dict[str, dict[str, dict[str, str]]] = {}
    for path, chart in packed.items():
        name, own = _identity(chart, f"{source}, {path}")
        versions.setdefault(name, {})[own] = chart
    chosen = {
        name: found[choose_version(found, version, f"{source}, {name}")]
        for name, found in versions.items()
    }
    return {path: content for path, content in files.items() if path not in packed}, chosen


def choose_version(versions: Iterable[str], wanted: str, where: str) -> str:
    """The wanted version, else the newest that is no pre-release, else the newest. Raises
    InvalidInput where there is no such version."""
    known = sorted(versions, key=_order)
    if wanted:
        if wanted not in known:
            raise InvalidInput(
                f"there is no version {wanted} of the chart{suggest(wanted, known)}", where=where
            )
        return wanted
    return next((each for each in reversed(known) if "-" not in each), known[-1])


def _order(version: str) -> tuple[list[int], bool, str]:
    """Numbers first; a pre-release comes before its release."""
    numbers, dash, rest = version.removeprefix("v").partition("+")[0].partition("-")
    return [int(part) for part in re.findall(r"\d+", numbers)], not dash, rest


def _identity(chart: Mapping[str, str], source: str) -> tuple[str, str]:
    head, _doubled = parse_foreign(chart[CHART_FILE], f"{source}, {CHART_FILE}")
    first = head[0] if len(head) == 1 and isinstance(head[0], dict) else {}
    return str(first.get("name") or ""), str(first.get("version") or "")


def _refused(source: str, why: str) -> InvalidInput:
    return InvalidInput(
        "a chart's archive is refused",
        where=source,
        why=why,
        todo="pack the chart with `helm package`",
    )
