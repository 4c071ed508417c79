# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m docs.pictures` in the root of the repository draws the pictures; --check fails where
one is old."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from docs.pictures import dashboard, gate, node, numa, report, run, states

HERE = Path(__file__).resolve().parent
RECIPES = HERE.parents[1] / "recipes"


def main() -> int:
    """Exit code 1 if --check finds a difference."""
    parser = argparse.ArgumentParser(prog="python -m docs.pictures", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    check = parser.parse_args().check
    drawings = {"gate": gate.draw(), "node": node.draw(), "numa": numa.draw(), "run": run.draw()}
    drawings["dashboard"] = dashboard.draw()
    drawings |= {
        f"states-{path.parent.name}": states.draw(path)
        for path in sorted(RECIPES.glob("*/recipe.yml"))
        if "\nextends:" not in path.read_text(encoding="utf-8")
    }
    files = {f"{name}.svg": drawing for name, drawing in drawings.items()}
    files[report.PAGE.name] = report.draw()
    code, is_new = 0, not report.PICTURE.is_file()
    for name, drawing in files.items():
        file = HERE / name
        is_old = not file.is_file() or file.read_text(encoding="utf-8") != str(drawing)
        if not check:
            file.write_text(str(drawing), encoding="utf-8")
            is_new |= is_old and file == report.PAGE
        elif is_old:
            sys.stderr.write(f"{file.name} is out of date: run python -m docs.pictures\n")
            code = 1
    if is_new and not check:
        report.photograph()
    return code


if __name__ == "__main__":
    sys.exit(main())
