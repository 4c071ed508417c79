# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# ruff: noqa: N818  (an error is named by what is wrong)
"""What can go wrong with a daemon: one sentence, and a kind that tells what to do about it."""

from __future__ import annotations

from .._errors import EnablementError
from .classify import ADVICE


class RmdError(EnablementError):
    """A daemon refused, cannot be reached, or something about a node keeps a workload from it.

    kind: a key of classify.ADVICE, from where todo is taken unless it is given.
    """

    def __init__(
        self, what: str, *, kind: str, where: str = "", why: str = "", todo: str = ""
    ) -> None:
        self.kind = kind
        super().__init__(what, where=where, why=why, todo=todo or ADVICE[kind])


class Unanswered(RmdError):
    """There is no answer. was_sent: whether the daemon may have worked on the request. timed_out:
    whether its time was up."""

    def __init__(
        self,
        what: str,
        *,
        kind: str,
        was_sent: bool,
        timed_out: bool = False,
        where: str = "",
        why: str = "",
        todo: str = "",
    ) -> None:
        self.was_sent = was_sent
        self.timed_out = timed_out
        super().__init__(what, kind=kind, where=where, why=why, todo=todo)
