# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Taints that keep our own pods off a node: which, who takes them off, and so what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .._nodes.taint_ownership import ControllerTaint, owner_of
from .._nodes.taints import Taint, is_tolerated, taints_in
from .._verdicts.reasons import Reason

_OF_PERSONS, _OF_CONTROLLERS = "NotTolerated", "TaintedByController"
TAINT_REASONS = {
    _OF_PERSONS: Reason(
        "a taint keeps the special resource's own pods off the node",
        "take the taint off the node, or let these pods tolerate it: option tolerations",
    ),
    _OF_CONTROLLERS: Reason(
        "a taint keeps the special resource's own pods off the node, and who put it there would put it there again;"
        " the message says who that is",
        "see to what that one waits for, or let these pods tolerate the taint: option tolerations",
    ),
}


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Iterable[Mapping[str, Any]] | None
) -> list[Taint]:
    """The taints of a node that keep pods with these tolerations off it."""
    tolerations = list(tolerations or ())
    return [taint for taint in taints_in(taints) if not is_tolerated(taint, tolerations)]


def why_kept_off(pods: str, taint: Taint, known: Sequence[ControllerTaint]) -> tuple[str, str]:
    """The reason, and in a sentence who decides about the taint. pods: which ones it keeps off."""
    owner = owner_of(taint, known)
    text = f"{pods} does not tolerate the node's taint {taint}"
    return (_OF_CONTROLLERS, f"{text}, of {owner.by}") if owner else (_OF_PERSONS, text)
