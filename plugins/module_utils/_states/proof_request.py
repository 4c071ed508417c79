# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How states are proven, and what is told of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Optional

from .._nodes.taint_ownership import (
    ControllerTaint,
    ControllerTaintRequest,
    parse_controller_taints,
)
from .._schema.requests import ParameterGroup


@dataclass(frozen=True, kw_only=True)
class ProofRequest(ParameterGroup):
    """failure_grace, timeout: seconds. wait: whether to go on until all that can be told is. record:
    whether to write what was found into the record. controller_taints: besides those that are known."""

    wait: bool
    failure_grace: float = 30
    timeout: Optional[float] = None
    on_regress: Literal["keep", "withdraw"] = "keep"
    require_ready: bool = True
    report: Literal["problems", "all"] = "problems"
    show: bool = False
    record: bool = False
    controller_taints: tuple[ControllerTaintRequest, ...] = ()

    def known_taints(self) -> tuple[ControllerTaint, ...]:
        """All that controllers put on nodes and take off. Raises InvalidInput."""
        return parse_controller_taints(self.controller_taints)
