# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Coverage: of the unit tests by themselves, and of all levels that ran with HE_COVERAGE=1."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.gates.place import Place
from tests.gates.runner import Command

CODE = "plugins/module_utils/"
UNITS, ALL = "units", "all"
DATA = "data"


def measured(
    place: Place, level: str, argv: Sequence[str], *, always: bool = False
) -> tuple[list[str], dict[str, str]]:
    """A call of pytest as it is measured, and the variables for it: all processes that it starts
    write down what they ran, and what they wrote before is gone. As it is without HE_COVERAGE=1."""
    if not (always or os.environ.get("HE_COVERAGE")):
        return list(argv), {}
    folder = _data(place) / level
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return ["coverage", "run", "-m", *argv], {"COVERAGE_FILE": str(folder / DATA)}


def reports(place: Place) -> list[Command]:
    """What the unit tests cover, then what all levels together do that were measured so far."""
    commands = []
    levels = sorted(folder.name for folder in _data(place).iterdir())
    for name, chosen in ((UNITS, [UNITS]), (ALL, levels)):
        _report(place, name).parent.mkdir(parents=True, exist_ok=True)
        # Combined are the files in these folders that are called as this one and have a suffix.
        env = {"COVERAGE_FILE": str(_report(place, name).with_name(DATA))}
        folders = [str(_data(place) / level) for level in chosen]
        commands += [
            Command(["coverage", "combine", "--quiet", "--keep", *folders], env=env),
            Command(["coverage", "json", "--quiet", "-o", str(_report(place, name))], env=env),
        ]
    return [*commands, Command(["python", "-m", "tests.gates.measuring", *levels])]


def unrun(report: Mapping[str, Any]) -> list[str]:
    """The files of module_utils of whose functions not one was run. report: coverage's, as JSON."""
    found = []
    for file, entry in report["files"].items():
        own = [part["summary"] for name, part in entry["functions"].items() if name]
        if CODE in file and own and not any(summary["covered_lines"] for summary in own):
            found.append(file)
    return found


def main(levels: Sequence[str]) -> None:
    """Print both reports in short."""
    place = Place()
    for name, title in ((UNITS, "unit tests"), (ALL, f"measured levels: {', '.join(levels)}")):
        report = json.loads(_report(place, name).read_text(encoding="utf-8"))
        idle = unrun(report)
        total = sum(CODE in file for file in report["files"])
        print(f"{title}: {report['totals']['percent_covered']:.1f} % of the lines of plugins")
        print(f"  {len(idle)} of {total} files of module_utils with no function that ran")
        for file in idle:
            print(f"    {file}")


def _data(place: Place) -> Path:
    """Folders with what each level has written down."""
    return place.build / "coverage" / "levels"


def _report(place: Place, name: str) -> Path:
    return place.build / "coverage" / name / "report.json"


if __name__ == "__main__":
    main(sys.argv[1:])
