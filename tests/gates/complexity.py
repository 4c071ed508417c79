# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.gates.complexity plugins`: functions that can be read at walking speed.

Cyclomatic complexity as radon counts it, comprehensions too: a function has 1, and 1 more for each
branch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from radon.complexity import cc_visit

MOST = 12


def too_complex(folder: Path, most: int = MOST) -> Iterator[str]:
    """A line for each function below a folder that has more."""
    for file in sorted(folder.rglob("*.py")):
        for block in cc_visit(file.read_text(encoding="utf-8")):
            if block.letter in ("F", "M") and block.complexity > most:
                name = block.fullname
                yield f"{file}:{block.lineno}: {name} has complexity {block.complexity}, {most} at most"


def main(folders: list[str]) -> int:
    """Exit code 1 where a function is too complex."""
    found = [line for folder in folders for line in too_complex(Path(folder))]
    print("\n".join(found) or f"no function has more than complexity {MOST}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
