# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the classes in this node's resctrl: looks, writes what differs, looks again, and waits.

Nothing is remembered of what was done, so a boot, a deleted group and a changed schemata are one
case. It ends with a sentence where the classes cannot be had, and is started anew."""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

import resctrl
from allocation import DEFAULT, Group, tree_of
from cache_classes import RefusedClassError, read_classes, refuse_shared, wanted_tree
from resctrl import Files, NotMountedError, RefusedWriteError
from write_order import steps


def converge(root: Path, files: Files, classes: Mapping[str, Any]) -> dict[str, Group]:
    """Bring the tree to the classes; the default group and theirs as they are now.

    Raises NotMountedError, RefusedClassError, RefusedWriteError, and OSError and ValueError for
    what is no such tree."""
    meant = read_classes(classes)
    seen = resctrl.read(root)
    wanted = wanted_tree(meant, seen)
    written = list(steps(tree_of(seen), wanted, int(str(seen["min_cbm_bits"]))))
    for write in written:
        write.take(files)
    if written:
        again = tree_of(resctrl.read(root))
        for write in steps(again, wanted, int(str(seen["min_cbm_bits"]))):
            text = f"the kernel has {write.group or 'the default group'} otherwise than it was told"
            raise RefusedWriteError(
                f"{text}: {write.what} {write.text.strip()} is still to be done"
            )
    # Whoever is in a class already keeps it: what others have made says nothing against the writes.
    refuse_shared(meant, wanted, tree_of(seen))
    return wanted


def said(groups: Mapping[str, Group]) -> str:
    """The log's line: which group has which ways and bandwidth of each L3."""
    return "in force: " + ", ".join(
        f"{name or 'everybody else'} {_values(group)}"
        for name, group in sorted(groups.items(), key=lambda item: (item[0] == DEFAULT, item[0]))
    )


def main(argv: list[str]) -> int:
    """Run until told to end, or until the classes cannot be had."""
    arguments = _parser().parse_args(argv)
    # The first process of a container is not ended by a signal that it ignores.
    signal.signal(signal.SIGTERM, _end)
    # It outlives the container, and is the last one's.
    arguments.ready.unlink(missing_ok=True)
    classes = json.loads(arguments.classes.read_text(encoding="utf-8"))
    last = ""
    while True:
        try:
            line = said(converge(arguments.resctrl, Files(arguments.resctrl), classes))
        except (NotMountedError, RefusedClassError, RefusedWriteError) as error:
            return _give_up(str(error))
        except (OSError, ValueError, KeyError) as error:
            return _give_up(f"resctrl cannot be read: {error}")
        if line != last:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()
            arguments.ready.touch()
            last = line
        if arguments.once:
            return 0
        time.sleep(arguments.interval)


def _give_up(why: str) -> int:
    sys.stdout.write(f"{why}\n")
    return 1


def _values(group: Group) -> str:
    limit = next(iter(group.bandwidth.values()), None)
    masks = sorted({f"{mask:x}" for mask in group.masks.values()})
    return f"L3 {'/'.join(masks)}" + (f" MB {limit}" if limit is not None else "")


def _end(_signal: int, _frame: FrameType | None) -> None:
    sys.exit(0)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Keep classes of cache in this node's resctrl.")
    parser.add_argument("--resctrl", type=Path, default=Path("/sys/fs/resctrl"))
    parser.add_argument("--classes", type=Path, default=Path("/program/classes.json"))
    parser.add_argument(
        "--ready", type=Path, default=Path("/run/classes/ready"), help="is there while all is well"
    )
    parser.add_argument("--interval", type=float, default=5.0, help="seconds between two looks")
    parser.add_argument("--once", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
