# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.rmd serve ... | tree FOLDER | pack FILE`; see README.md."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.rmd.command import read_simulation, rmd
from tests.rmd.machine import Machine
from tests.rmd.packing import pack
from tests.rmd.resctrl import Resctrl


def main(arguments: list[str]) -> int:
    """The exit code."""
    if arguments[:1] == ["serve"]:
        return rmd(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m tests.rmd", description=__doc__)
    commands = parser.add_subparsers(required=True, dest="command")
    commands.add_parser(
        "serve", help="run the daemon; takes RMD's own flags and --simulation FILE", add_help=False
    )
    tree = commands.add_parser("tree", help="make a resctrl tree as the kernel would after a boot")
    tree.add_argument("folder", type=Path)
    tree.add_argument("--simulation", type=Path, help="JSON, see Simulation in command.py")
    packer = commands.add_parser("pack", help="write the daemon into one executable file")
    packer.add_argument("file", type=Path)
    given = parser.parse_args(arguments)
    if given.command == "tree":
        Resctrl(Machine(**read_simulation(given.simulation).machine), given.folder).reset()
    else:
        pack(given.file)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
