# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a writer of resctrl writes to, with the kernel's rules behind it: for the agent of the recipe
intel-rmd, whose own class does the same to a real mount.

The tree is a folder, read anew before each write, so that a test may change it as well."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.rmd.kernel_rules import KernelError
from tests.rmd.machine import Machine
from tests.rmd.resctrl import ROOT, Resctrl


class KernelFiles:
    """The interface of the program's resctrl.Files. refused: what it raises where the kernel takes
    a write not. watch: called with the tree after each write."""

    def __init__(
        self,
        root: Path,
        machine: Machine,
        refused: type[Exception],
        watch: Callable[[Resctrl], None] = lambda _tree: None,
    ) -> None:
        self.writes: list[str] = []
        self._root = root
        self._machine = machine
        self._refused = refused
        self._watch = watch

    def make(self, group: str) -> None:
        """mkdir."""
        self._do(f"mkdir {group}", lambda tree: tree.make(group))

    def remove(self, group: str) -> None:
        """rmdir."""
        self._do(f"rmdir {group}", lambda tree: tree.remove(group))

    def write(self, group: str, file: str, text: str) -> None:
        """A write to a file of a group; "" is the default group."""
        what = f"{group or ROOT}/{file} {' '.join(text.split())}"
        self._do(what, lambda tree: tree.write(group or ROOT, file, text))

    def _do(self, what: str, change: Callable[[Resctrl], object]) -> None:
        tree = Resctrl(self._machine, self._root)
        try:
            change(tree)
        except KernelError as error:
            raise self._refused(f"the kernel did not take {what}: {error.status}") from error
        self.writes.append(what)
        self._watch(tree)
