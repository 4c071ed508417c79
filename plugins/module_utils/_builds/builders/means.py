# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""With what builders in the cluster work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..._cluster.api_client.client import Client
from ..._registry.policy import RegistryPolicy
from ..prediction import Prediction
from ..settings import BuildSettings


@dataclass(frozen=True)
class Means:
    """With what a builder works. guard is called before writes and while waiting, and keeps the
    run's lock; clock gives seconds since the epoch; policy says how registries are asked;
    predicted_failure tells what would fail."""

    client: Client
    settings: BuildSettings
    guard: Callable[[], None]
    clock: Callable[[], float]
    policy: Callable[[], RegistryPolicy]
    predicted_failure: Prediction
