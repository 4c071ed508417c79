# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person asks of an upgrade, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from .._cluster.api_client.connection_request import ConnectionRequest
from .._errors import InvalidInput
from .._schema.requests import ParameterGroup
from .._states.preparation.prepare import Prepared
from .device_users import DeviceUse, DrainRules
from .exchange_request import (
    EnabledRecipeRequest,
    ExchangeRequest,
    RebootRequest,
)
from .exchange_steps import ExchangeSettings, Reboot
from .maintenance_window import MaintenanceWindow, WindowRequest, parse_window
from .waves import Amount, parse_amount


@dataclass(frozen=True)
class PaceRequest(ParameterGroup):
    """How fast it goes (see pace.py), and when."""

    waves: Sequence[str] = ("1", "10%", "50%", "100%")
    max_unavailable: str = "10%"
    max_failures: str = "5%"
    soak: int = 0
    maintenance_window: Optional[WindowRequest] = None


@dataclass(frozen=True, kw_only=True)
class DriverUpgradeRequest:
    """nodes: those that may be begun, None for all. rollback: whether to go back to the version
    before where too many fail."""

    connection: ConnectionRequest
    run_id: Optional[str] = None
    given: EnabledRecipeRequest
    exchange: ExchangeRequest
    pace: PaceRequest
    nodes: Optional[Sequence[str]] = None
    rollback: bool = False


@dataclass(frozen=True)
class UpgradeSettings:
    """exchange: of each node. waves, max_unavailable, max_failures, soak_s: see pace.py. only: the
    nodes that may be begun, None for all."""

    exchange: ExchangeSettings
    waves: Sequence[Amount]
    max_unavailable: Amount
    max_failures: Amount
    soak_s: float
    window: MaintenanceWindow | None = None
    only: frozenset[str] | None = None


def make_settings(prepared: Prepared, request: DriverUpgradeRequest) -> UpgradeSettings:
    """Raises InvalidInput."""
    pace = request.pace
    parse_amount(pace.max_unavailable, "max_unavailable")
    parse_amount(pace.max_failures, "max_failures")
    for value in pace.waves:
        parse_amount(value, "wave")
    return UpgradeSettings(
        exchange=exchange_settings(prepared, request.exchange),
        waves=pace.waves,
        max_unavailable=pace.max_unavailable,
        max_failures=pace.max_failures,
        soak_s=float(pace.soak),
        window=parse_window(pace.maintenance_window),
        only=frozenset(request.nodes) if request.nodes is not None else None,
    )


def exchange_settings(prepared: Prepared, request: ExchangeRequest) -> ExchangeSettings:
    """How each node is led; raises InvalidInput."""
    rules, access = request.drain or DrainRules(), prepared.device_access
    return ExchangeSettings(
        recipe=prepared.recipe.name,
        namespaces=prepared.namespaces,
        use=DeviceUse(
            prepared.serves, access.runtime_classes, access.host_paths, access.dra_drivers
        ),
        rules=rules,
        free_s=float(rules.timeout or DrainRules().timeout),
        stop_s=float(request.stop_timeout),
        reboot=_reboot(request.rebooting),
    )


def _reboot(request: RebootRequest) -> Reboot | None:
    timeout_s = float(request.reboot_timeout)
    if request.reboot == "none":
        return None
    if request.reboot == "caller":
        return Reboot(None, timeout_s)
    name, equals, value = (request.reboot_annotation or "").partition("=")
    if not (name and equals):
        raise InvalidInput(
            "nobody would be asked to reboot the nodes",
            why="reboot is annotation, and reboot_annotation is not written as NAME=VALUE",
            todo="name the annotation that what reboots nodes in this cluster looks for",
        )
    return Reboot((name, value), timeout_s)
