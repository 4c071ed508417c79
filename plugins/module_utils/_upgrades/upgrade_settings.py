# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person asks of an upgrade, checked before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput
from .._states.preparation.prepare import Prepared
from .device_users import DeviceUse, DrainRules
from .exchange_steps import ExchangeSettings, Reboot
from .maintenance_window import MaintenanceWindow, parse_window
from .waves import Amount, parse_amount


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


def _reboot(params: Mapping[str, Any]) -> Reboot | None:
    timeout_s = float(params["reboot_timeout"])
    if params["reboot"] == "none":
        return None
    if params["reboot"] == "caller":
        return Reboot(None, timeout_s)
    name, equals, value = str(params["reboot_annotation"] or "").partition("=")
    if not (name and equals):
        raise InvalidInput(
            "nobody would be asked to reboot the nodes",
            why="reboot is annotation, and reboot_annotation is not written as NAME=VALUE",
            todo="name the annotation that what reboots nodes in this cluster looks for",
        )
    return Reboot((name, value), timeout_s)


def exchange_settings(prepared: Prepared, params: Mapping[str, Any]) -> ExchangeSettings:
    """How each node is led; raises InvalidInput."""
    drain = params["drain"] or {}
    access = prepared.device_access
    return ExchangeSettings(
        recipe=prepared.recipe.name,
        use=DeviceUse(
            prepared.serves, access.runtime_classes, access.host_paths, access.dra_drivers
        ),
        rules=DrainRules(
            whole_node=bool(drain.get("whole_node")),
            force=bool(drain.get("force")),
            delete_emptydir_data=bool(drain.get("delete_emptydir_data")),
            daemonsets=drain.get("daemonsets") is not False,
            grace_period=drain.get("grace_period"),
        ),
        free_s=float(drain.get("timeout") or 600),
        stop_s=float(params["stop_timeout"]),
        reboot=_reboot(params),
    )


def make_settings(prepared: Prepared, params: Mapping[str, Any]) -> UpgradeSettings:
    """Raises InvalidInput."""
    for name in ("max_unavailable", "max_failures"):
        parse_amount(params[name], name)
    for value in params["waves"]:
        parse_amount(value, "wave")
    return UpgradeSettings(
        exchange=exchange_settings(prepared, params),
        waves=params["waves"],
        max_unavailable=params["max_unavailable"],
        max_failures=params["max_failures"],
        soak_s=float(params["soak"]),
        window=parse_window(params["maintenance_window"]),
        only=frozenset(params["nodes"]) if params["nodes"] is not None else None,
    )
