# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which nodes are held before the first look."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.upgrade_marks import (
    UPGRADING,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.fleet_exchange import (
    FleetExchange,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.world import (
    NOW,
    node,
)

NAME = "hardware-enablement.io/toy.upgrade"
BEGUN = '{"phase": "%s", "target": "v2", "since": "2026-01-01T00:00:00Z"}'


@pytest.mark.parametrize(("check_mode", "held"), [(False, {"begun"}), (True, set())])
def test_what_an_earlier_run_has_begun_is_held_from_the_first_look(
    check_mode: bool, held: set[str]
) -> None:
    snapshot = ClusterSnapshot()
    for name, phase in (("begun", UPGRADING), ("ended", "done"), ("other", "")):
        said = {NAME: BEGUN % phase} if phase else {}
        snapshot.nodes[name] = node(name, annotations=said)
    desired: Any = SimpleNamespace(
        client=cast(Client, None),
        plans=[],
        recipe=SimpleNamespace(name="toy"),
        prepared=SimpleNamespace(namespace="toy"),
    )
    choice: Any = SimpleNamespace(reason="Upgrading", phase=UPGRADING)
    exchange = FleetExchange(
        desired,
        cast(Any, None),
        None,
        lambda _survey: choice,
        cast(Guard, SimpleNamespace(before_write=lambda: None)),
        RunContext(check_mode=check_mode),
    )
    walker = Walker([], WalkSettings("toy", "toy"), snapshot, NOW)
    exchange.announce(walker)
    assert walker.held.keys() == held
