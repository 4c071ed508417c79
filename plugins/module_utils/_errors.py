# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: N818  (an error is named for what is wrong)
"""What every error of this collection is: one sentence that says what, where, why and what to do."""

from __future__ import annotations

import sys
from typing import Any

_ENDS = " .;:\n"
# A value that somebody gave may be a whole file.
LONGEST_PART = 2000


class EnablementError(Exception):
    """Something that a person has to act on. str() is one sentence.

    what: what failed ("Cannot apply DaemonSet gpu/driver"). where: cluster, node, object or file.
    why: the cause. todo: what to do about it. result may carry parts of a task's result that are
    worth showing although it failed.
    """

    def __init__(self, what: str, *, where: str = "", why: str = "", todo: str = "") -> None:
        self.what, self.where, self.why, self.todo = (
            _part(text) for text in (what, where, why, todo)
        )
        self.result: dict[str, Any] = {}
        super().__init__(str(self))

    def __str__(self) -> str:
        text = self.what
        if self.where:
            text += f" ({self.where})"
        if self.why:
            text += f": {self.why}"
        if self.todo:
            text += f"; {self.todo}"
        return f"{text}."


def _part(text: str) -> str:
    """A part of a sentence: one line, not too long, without the end of one, and without what could
    move a terminal's cursor: some of it comes from clusters."""
    line = "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\ufffd"
        for letter in " ".join(text.splitlines())
    )
    return (line if len(line) <= LONGEST_PART else f"{line[:LONGEST_PART]}…").strip(_ENDS)


class InvalidInput(EnablementError):
    """A recipe, an option or a connection setting is wrong."""


class PackageNotFound(InvalidInput):
    """The Python that runs a task lacks a package: which Python that is, Ansible has chosen. package: as
    pip takes it ("xxhash>=3.0"). otherwise: what could be done instead."""

    def __init__(self, what: str, package: str, *, otherwise: str = "") -> None:
        python = sys.executable or "python3"
        todo = f"install it there ({python} -m pip install '{package}')"
        other = "set ansible_python_interpreter to one that has it"
        super().__init__(
            what,
            why=f"{python} has no package {package.partition('>')[0]}",
            todo=", or ".join(filter(None, [todo, other, otherwise])),
        )
