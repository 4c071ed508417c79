# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person asks of remedies, checked before anything is sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Optional

from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._schema.requests import ParameterGroup
from .._states.preparation.prepare import Prepared
from .exchange_request import EnabledRecipeRequest, ExchangeRequest
from .exchange_steps import ExchangeSettings
from .remedies import RemedyRules, possible
from .upgrade_settings import exchange_settings
from .waves import Amount, parse_amount

# It is written to the node, and shown to whoever looks: one short line.
_FAULT = re.compile(r"[^\x00-\x1f\x7f]{1,200}")


@dataclass(frozen=True)
class FaultyNodeRequest:
    """What is reported of a node."""

    node: str
    fault: str


@dataclass(frozen=True)
class RemedyPaceRequest(ParameterGroup):
    """How much is tried. attempts: how many remedies a day, on one node; cooldown: seconds after one
    in which what is reported is about before it."""

    attempts: int = 3
    cooldown: int = 600
    max_unavailable: str = "10%"
    max_failures: str = "10%"


@dataclass(frozen=True, kw_only=True)
class NodeRemedyRequest:
    """release: nodes whose quarantine ends once they are proven."""

    connection: ConnectionRequest
    run_id: Optional[str] = None
    given: EnabledRecipeRequest
    exchange: ExchangeRequest
    faults: tuple[FaultyNodeRequest, ...] = ()
    release: Sequence[str] = ()
    pace: RemedyPaceRequest


@dataclass(frozen=True)
class RemedySettings:
    """exchange: of each node. faults: node -> what was reported of it. released: nodes whose
    quarantine ends once they are proven."""

    exchange: ExchangeSettings
    max_unavailable: Amount
    max_failures: Amount
    faults: Mapping[str, str]
    released: frozenset[str]


def make_remedy_settings(prepared: Prepared, request: NodeRemedyRequest) -> RemedySettings:
    """Raises InvalidInput."""
    pace = request.pace
    parse_amount(pace.max_unavailable, "max_unavailable")
    parse_amount(pace.max_failures, "max_failures")
    faults, released = _faults(request.faults), frozenset(request.release)
    if both := sorted(released & faults.keys()):
        raise InvalidInput(
            f"node {both[0]} is both at fault and released",
            todo="name it in faults or in release",
        )
    exchange = exchange_settings(prepared, request.exchange)
    rules = RemedyRules(
        steps=possible(prepared.recipe.remedies.steps, reboots=exchange.reboot is not None),
        attempts=pace.attempts,
        cooldown_s=float(pace.cooldown),
    )
    return RemedySettings(
        exchange=replace(exchange, remedies=rules),
        max_unavailable=pace.max_unavailable,
        max_failures=pace.max_failures,
        faults=faults,
        released=released,
    )


def _faults(given: Sequence[FaultyNodeRequest]) -> dict[str, str]:
    """Node -> what was reported of it; raises InvalidInput for what no node can show."""
    for each in given:
        if not _FAULT.fullmatch(each.fault):
            raise InvalidInput(
                f"the fault of node {each.node[:80]} cannot be used",
                why="it is no single line of at most 200 characters",
                todo="say in a few words what is wrong, such as the name of an alert",
            )
    return {each.node: each.fault for each in given}
