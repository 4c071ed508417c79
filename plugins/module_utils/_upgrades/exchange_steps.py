# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an exchange of one node goes through, and how it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from .device_users import DeviceUse, DrainPolicy, DrainRules
from .remedies import RemedyRules


class ExchangeStep(Enum):
    """CORDON: nothing is done yet. FREE: users of the devices leave. STOP: our own pods that stand
    on the driver do. RUN_POD: the pod of a remedy runs. REBOOT: the node boots anew. RESTART: the
    driver's pod goes. SWITCH: the label comes by which the devices are served in another way. PROVE: the
    new one is proven, with all that stands on it. FINISH, FAIL: the
    node is given back, or goes into quarantine. ENDED: it is there."""

    CORDON = "is cordoned"
    FREE = "is freed"
    STOP = "waits for the pods that stand on the driver to leave"
    RUN_POD = "waits for the remedy's pod to end"
    REBOOT = "waits for the node to boot anew"
    RESTART = "waits for the driver's pod to end"
    SWITCH = "waits for the label that says what serves its devices"
    PROVE = "is proven"
    FINISH = "is given back"
    FAIL = "goes into quarantine"
    ENDED = "is done"


class ExchangeEnding(Enum):
    """How an exchange ended. POSTPONED: the node could not be freed and is as it was. GONE: there
    is no such node any more, or a controller takes it away."""

    DONE = "done"
    POSTPONED = "postponed"
    QUARANTINED = "quarantined"
    GONE = "gone"


@dataclass(frozen=True)
class Reboot:
    """How a node boots anew, for drivers that cannot be unloaded. annotation: (name, value) by which
    something in the cluster is asked for it; None where whoever called does it. timeout_s: how long
    that may take."""

    annotation: tuple[str, str] | None
    timeout_s: float


@dataclass(frozen=True)
class ExchangeSettings:
    """recipe, namespaces: its own pods, and where they are. free_s: how long users of the devices are
    waited for; stop_s: how long our own pods are, and the driver's. reboot: how, where nodes are
    rebooted. remedies: what may be tried."""

    recipe: str
    namespaces: frozenset[str]
    use: DeviceUse
    rules: DrainRules
    free_s: float
    stop_s: float
    reboot: Reboot | None = None
    remedies: RemedyRules = field(default_factory=RemedyRules)

    @property
    def drain(self) -> DrainPolicy:
        """Who leaves a node on its way."""
        return DrainPolicy(self.recipe, self.namespaces, self.use, self.rules)
