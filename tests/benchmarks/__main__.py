# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.benchmarks`: measure, print, and with --write keep the result as a document."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Sequence

from tests.benchmarks import surroundings
from tests.benchmarks.cases import CASES, FULL, QUICK
from tests.benchmarks.measure import RunError
from tests.benchmarks.tables import Table
from tests.cluster import ClusterError
from tests.integration.plays import REPO

DOCUMENT = REPO / "docs" / "benchmarks.md"


def main() -> int:
    """Exit code 1 if something that was to be measured failed."""
    options = _options()
    effort = QUICK if options.quick else FULL
    names = options.only or list(CASES)
    try:
        about = _about()
        print("\n".join(about), flush=True)
        tables = []
        for name in names:
            began = time.monotonic()
            print(f"\n==> {name}", flush=True)
            tables.append(CASES[name](effort))
            print(tables[-1].text(), flush=True)
            print(f"({time.monotonic() - began:.0f} s, load {surroundings.load()})", flush=True)
    except (ClusterError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.write:
        about = [*about, f"Load average at the end: {surroundings.load()}."]
        DOCUMENT.write_text(_document(about, tables))
        print(f"\nwritten to {DOCUMENT.relative_to(REPO)}")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repeats, no 1000 nodes")
    parser.add_argument(
        "--only",
        action="append",
        choices=list(CASES),
        metavar="NAME",
        help=f"of {', '.join(CASES)}",
    )
    parser.add_argument(
        "--write", action="store_true", help=f"also write {DOCUMENT.relative_to(REPO)}"
    )
    return parser.parse_args()


def _about() -> Sequence[str]:
    return [
        f"Machine: {surroundings.machine()}; load average at the start {surroundings.load()}.",
        f"Versions: {', '.join(surroundings.versions())}.",
        "The control plane consists of real programs on the same machine; nodes and their pods are simulated.",
    ]


def _document(about: Sequence[str], tables: Sequence[Table]) -> str:
    day = datetime.date.today().isoformat()
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Measured on {day} by `make bench` (`python -m tests.benchmarks --write`); do not edit by hand.",
            "",
            *(f"- {line}" for line in about),
            "",
            *(table.markdown() for table in tables),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
