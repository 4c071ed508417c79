# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that this tool raises on purpose, and what a program that failed gives to it."""

from __future__ import annotations


class ClusterError(Exception):
    """Something that the person at the keyboard can act on: one sentence with what, where, why and
    what to do."""


def last_words(*outputs: str) -> str:
    """The last lines of the first of a program's outputs that says anything, as one."""
    said = next(filter(None, map(str.strip, outputs)), "")
    return " / ".join(said.splitlines()[-3:])
