# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.gates ci`, or single steps by name; run by make inside the virtual
environment."""

from __future__ import annotations

import argparse
import datetime
import os
import sys

from tests.gates import runner
from tests.gates.dependencies import Repository
from tests.gates.machine import slots
from tests.gates.place import REPO, Place
from tests.gates.results import Results
from tests.gates.steps import GROUPS, STEPS, in_turn


def main() -> int:
    """Exit code 0 only if every step passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.gates", description=__doc__)
    known = [*GROUPS, *STEPS]
    parser.add_argument("names", nargs="+", choices=known, metavar="NAME", help=", ".join(known))
    whole = "show all output, one step at a time; a single step always does"
    parser.add_argument("-v", "--verbose", action="store_true", help=whole)
    due = "say what would run as things are, and how long it took last; nothing runs"
    parser.add_argument("--due", action="store_true", help=due)
    options = parser.parse_args()
    # Who names a step means it.
    reuses = not set(options.names) & set(STEPS) and not os.environ.get("CI_ALL")
    steps = [step for name in options.names for step in GROUPS.get(name) or [STEPS[name]]]
    verbose = options.verbose or len(steps) == 1
    today = datetime.datetime.now(datetime.timezone.utc).date()

    def reuse(step: runner.Step, part: str) -> bool:
        return reuses and not in_turn(step, part, results.last_ran(step.name, part), today)

    place = Place()
    results = Results(Repository(REPO, place.collections))
    if options.due:
        runner.tell_due(steps, results, reuse)
        return 0
    good = runner.run(
        steps,
        place,
        slots=1 if verbose else slots(),
        verbose=verbose,
        results=results,
        reuse=reuse,
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
