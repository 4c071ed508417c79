# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person asks of remedies, checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._errors import InvalidInput
from .._states.preparation.prepare import Prepared
from .exchange_steps import ExchangeSettings
from .remedies import RemedyRules, possible
from .upgrade_settings import exchange_settings
from .waves import Amount, parse_amount

# It is written to the node, and shown to whoever looks: one short line.
_FAULT = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True)
class RemedySettings:
    """exchange: of each node. faults: node -> what was reported of it. released: nodes whose
    quarantine ends once they are proven."""

    exchange: ExchangeSettings
    max_unavailable: Amount
    max_failures: Amount
    faults: Mapping[str, str]
    released: frozenset[str]


def make_remedy_settings(prepared: Prepared, params: Mapping[str, Any]) -> RemedySettings:
    """Raises InvalidInput."""
    for name in ("max_unavailable", "max_failures"):
        parse_amount(params[name], name)
    faults = {str(each["node"]): str(each["fault"]) for each in params["faults"]}
    for node, fault in faults.items():
        if not _FAULT.fullmatch(fault):
            raise InvalidInput(
                f"the fault of node {node[:80]} cannot be used",
                why="it is no single line of at most 200 characters",
                todo="say in a few words what is wrong, such as the name of an alert",
            )
    released = frozenset(params["release"] or ())
    if both := sorted(released & faults.keys()):
        raise InvalidInput(
            f"node {both[0]} is both at fault and released",
            todo="name it in faults or in release",
        )
    exchange = exchange_settings(prepared, params)
    rules = RemedyRules(
        steps=possible(prepared.recipe.remedies.steps, reboots=exchange.reboot is not None),
        attempts=int(params["attempts"]),
        cooldown_s=float(params["cooldown"]),
    )
    return RemedySettings(
        exchange=replace(exchange, remedies=rules),
        max_unavailable=params["max_unavailable"],
        max_failures=params["max_failures"],
        faults=faults,
        released=released,
    )
