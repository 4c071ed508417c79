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
from tests.benchmarks.document import document, section, sections_of
from tests.benchmarks.measure import RunError
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
        print(f"load {surroundings.load()}", flush=True)
        sections = sections_of(DOCUMENT.read_text()) if options.only else {}
        day = datetime.date.today().isoformat()
        for name in names:
            began, before = time.monotonic(), surroundings.load()
            print(f"\n==> {name}", flush=True)
            table = CASES[name](effort)
            load = f"{before} before and {surroundings.load()} after"
            sections[table.title] = section(table, day, load)
            print(table.text(), flush=True)
            print(f"({time.monotonic() - began:.0f} s, load {load})", flush=True)
    except (ClusterError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.write:
        DOCUMENT.write_text(document(about, sections))
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
        f"Machine: {surroundings.machine()}.",
        f"Versions: {', '.join(surroundings.versions())}.",
        "The control plane consists of real programs on the same machine; nodes and their pods are simulated.",
        "Load: averages of the last minute, five minutes and a quarter of an hour.",
        "Tables of different days may be of machines half as fast again: compare inside a table, or of one day.",
    ]


if __name__ == "__main__":
    sys.exit(main())
