# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a proof does not hold: what a reason means, and what a person does about it."""

from __future__ import annotations

from dataclasses import dataclass

WAIT = "wait; this passes by itself, or becomes another reason"


@dataclass(frozen=True)
class Reason:
    """meaning: half a sentence (Markdown). todo: one imperative half sentence, the last part of
    every message."""

    meaning: str
    todo: str

    @property
    def passing(self) -> bool:
        """Whether it is no trouble so far: something is under way."""
        return self.todo == WAIT


UNDER_WAY = Reason("something is under way", WAIT)
# What nobody does who merely looks.
NEEDS_RUN = Reason(
    "what comes next is done by a run alone: it starts validation pods, and sets the labels that pods wait for",
    "run the playbook that enables it, or wait for the run that is under way",
)
