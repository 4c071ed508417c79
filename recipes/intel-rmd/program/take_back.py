# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Removes the groups of the back end resctrl, whose turn is over: RMD is to find the cache whole.

A container of its own runs it, the only one before RMD that may write to the host, and it sees no
certificates. It ends with one line and exit code 1 where a group stays."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import resctrl
from declared import is_ours


def take_back(root: Path, files: resctrl.Files) -> None:
    """Remove the groups. Raises RefusedWriteError for those that the kernel keeps, when all others
    are gone."""
    # Those of the recipe rdt-classes have such names as well, and go with them: the two recipes
    # refuse each other, so theirs are what is left where that one was disabled before.
    resctrl.remove_all(files, (name for name in resctrl.groups(root) if is_ours(name)))


def main(argv: list[str]) -> int:
    """Remove them, or say why not."""
    arguments = _parser().parse_args(argv)
    root = arguments.resctrl
    try:
        take_back(root, resctrl.Files(root))
    except (resctrl.RefusedWriteError, OSError) as error:
        sys.stdout.write(
            f"RMD is not started on {arguments.node}: {error}; remove it on the node (rmdir, in {root})"
            " or boot the node; this is tried again until it is gone\n"
        )
        return 1
    sys.stdout.write(f"No group of the back end resctrl is left on {arguments.node}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Remove the groups of the back end resctrl.")
    parser.add_argument("--node", default=os.environ.get("NODE_NAME", ""))
    parser.add_argument("--resctrl", type=Path, default=Path("/sys/fs/resctrl"))
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
