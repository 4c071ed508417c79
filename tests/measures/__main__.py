# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.measures [REVISION ...]`: the table of docs/contributing/measures.md, a column for
each revision and one for the working tree."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.measures import measure

REPO = Path(__file__).resolve().parents[2]
_COLLECTIONS = Path(".venv", "collections", "ansible_collections")


def measured(revision: str) -> dict[str, str]:
    """The figures of a revision."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        packed = subprocess.run(
            ["git", "archive", revision], cwd=REPO, capture_output=True, check=True
        )
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
            archive.extractall(root, filter="data")
        place = root / _COLLECTIONS
        (place / "hardware").mkdir(parents=True)
        (place / "hardware" / "enablement").symlink_to(root)
        (place / "kubernetes").symlink_to(REPO / _COLLECTIONS / "kubernetes")
        return measure(root).figures


def main(revisions: list[str]) -> int:
    """Print the table."""
    columns = [*map(measured, revisions), measure(REPO).figures]
    heads = [*revisions, "now"]
    print("| | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for title in dict.fromkeys(title for column in columns for title in column):
        print(f"| {title} | " + " | ".join(column.get(title, "") for column in columns) + " |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
