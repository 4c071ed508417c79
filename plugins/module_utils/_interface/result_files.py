# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that variables name for what a run has found: refused before its first request, since they
are written at its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .._errors import InvalidInput
from .._runs.report_file import refuse_unwritable

_PREFIX = "hardware_enablement_"
_WHAT = {
    "report": "The report",
    "metrics_file": "The metrics",
    "junit_file": "The results for JUnit",
    "fleet_file": "The table of all clusters",
    "status_file": "The status",
    "numa_json": "The findings",
    "numa_junit": "The findings for JUnit",
}


def refuse_result_files(values: Mapping[str, Any]) -> None:
    """Raise InvalidInput where a file cannot be written, or two would be the same one. values: variables by
    full name; those that are empty name nothing."""
    seen: dict[Path, str] = {}
    for variable, what, path in _named(values):
        refuse_unwritable(what, str(path))
        first = seen.setdefault(path.absolute(), variable)
        if first != variable:
            raise InvalidInput(
                "Two files of a run would be the same one",
                where=str(path),
                why=f"{first} and {variable} both write it",
                todo="give one of them another name",
            )


def _named(values: Mapping[str, Any]) -> Iterator[tuple[str, str, Path]]:
    """(what says so, what it is, its path) of each file."""
    for name, what in _WHAT.items():
        variable = f"{_PREFIX}{name}"
        if not values.get(variable):
            continue
        path = Path(str(values[variable])).expanduser()
        yield variable, what, path
        if name == "report":
            yield f"{variable}, for its data,", "The data of the report", path.with_suffix(".json")
