# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What upgrades and remedies are asked alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Optional

from .._nodes.taint_ownership import ControllerTaintRequest
from .._schema.requests import ParameterGroup
from .._states.preparation.recipe_request import InstanceRequest
from .._states.proof_request import ProofRequest
from .device_users import DrainRules


@dataclass(frozen=True)
class EnabledRecipeRequest(InstanceRequest):
    """A recipe that is enabled. options: the secret ones, which no record has; others have to be as
    they are deployed."""

    options: Optional[Mapping[str, Any]] = field(default=None, repr=False)


@dataclass(frozen=True)
class RebootRequest(ParameterGroup):
    """Who reboots nodes: nobody, whoever looks for an annotation (NAME=VALUE), or the caller; how
    long that may take, in seconds."""

    reboot: Literal["none", "annotation", "caller"] = "none"
    reboot_annotation: Optional[str] = None
    reboot_timeout: int = 1800


@dataclass(frozen=True)
class ExchangeProofRequest(ParameterGroup):
    """How states are proven while nodes are on their way; times in seconds. require_ready: whether
    the task fails where a node is not where it should be in the end. report, controller_taints: as of
    ProofRequest."""

    failure_grace: float = 30
    timeout: Optional[float] = None
    require_ready: bool = True
    report: Literal["problems", "all"] = "problems"
    controller_taints: tuple[ControllerTaintRequest, ...] = ()

    def to_walk(self, *, wait: bool) -> ProofRequest:
        """For the walk, which reports what it finds and fails at nothing."""
        return ProofRequest(
            wait=wait,
            failure_grace=self.failure_grace,
            timeout=self.timeout,
            require_ready=False,
            report=self.report,
            record=True,
            controller_taints=self.controller_taints,
        )


@dataclass(frozen=True, kw_only=True)
class ExchangeRequest(ParameterGroup):
    """How a node is led, and proven. stop_timeout: seconds for our own pods to leave, and the
    driver's."""

    drain: Optional[DrainRules] = None
    stop_timeout: int = 300
    rebooting: RebootRequest
    proving: ExchangeProofRequest
