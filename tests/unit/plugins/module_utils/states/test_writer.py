# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written to nodes, and when."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.labels import proofs_annotation
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.marks import Marks
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.model import ProofRecord
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.writer import Writer
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world


def writer() -> Writer:
    """A writer that sends nothing."""
    plans = [world.plan("driver"), world.plan("monitoring", gated=False, unlocks=False)]
    return Writer(cast(Client, SimpleNamespace()), plans, "demo", lambda: None, dry=True)


def proofs(patch: dict[str, Any]) -> dict[str, Any]:
    """The proofs in a node's patch."""
    return dict(json.loads(patch["metadata"]["annotations"][proofs_annotation("demo")]))


def monitored(moment: str, hash_: str = "h") -> Marks:
    """What a node should carry when its monitoring is proven."""
    return Marks({}, "driver.waiting", {"monitoring": ProofRecord(hash_, world.KERNEL, world.BOOT, moment)})


def test_a_proof_that_waits_for_the_nodes_last_write_tells_when_it_was_found() -> None:
    test = writer()
    before = Marks({}, "driver.waiting")
    for moment in ("early", "late"):
        test.want("n1", before, monitored(moment))
    test.flush(final=lambda _name: False)
    assert test.changed == {}
    test.flush(final=lambda _name: True)
    assert proofs(test.changed["n1"])["monitoring"]["time"] == "early"


def test_a_proof_of_something_else_has_its_own_time() -> None:
    test = writer()
    before = monitored("early", "another hash")
    test.want("n1", before, monitored("late"))
    test.flush(final=lambda _name: True)
    assert proofs(test.changed["n1"])["monitoring"]["time"] == "late"
