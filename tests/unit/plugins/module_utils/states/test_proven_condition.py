# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node condition beside the summary label: what it says, when it is written, when it goes."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    SPECIAL_RESOURCE,
    STATE_APPLY,
    STATE_VALIDATE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states import (
    apply,
    special_resource,
    validate,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.proven_condition import (
    ProvenCondition,
    saying,
    status_patch,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]

TYPE = "hardware-enablement.io/toy"
NOW = "2026-11-26T00:00:00Z"
TOLD: Obj = {"options": {"node_condition": True}}


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A node with the hardware, whose driver has no pod yet."""
    cluster = ScriptedCluster(fake, runs.card_node(card="yes"))
    empty: Obj = {"kind": "EventList", "metadata": {}, "items": []}
    cluster.refuse = lambda asked: (
        (200, {}, empty) if asked.method == "GET" and "/events?" in asked.path else None
    )
    return cluster


def condition(cluster: ScriptedCluster) -> Obj:
    """Ours, at the node; empty for none."""
    found = cluster.objects["nodes"]["n1"]["status"]["conditions"]
    return next((each for each in found if each["type"] == TYPE), {})


def prove(fake: FakeServer, **given: object) -> Obj:
    return runs.run(validate.TASK, STATE_VALIDATE, fake, wait=False, require_ready=False, **given)


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("ready", ProvenCondition("True", "Ready")),
        ("device_plugin.degraded", ProvenCondition("False", "DevicePluginDegraded")),
        ("vanished", ProvenCondition("False", "Vanished")),
        (None, None),
    ],
)
def test_it_says_what_the_label_says(label: str | None, wanted: ProvenCondition | None) -> None:
    assert saying(label) == wanted


def test_the_time_of_its_transition_stays_with_its_status() -> None:
    waiting, failed = saying("driver.waiting"), saying("driver.failed")
    first = status_patch(None, waiting, "toy", NOW)
    assert first
    assert first["status"]["conditions"][0]["lastTransitionTime"] == NOW
    second = status_patch(waiting, failed, "toy", NOW)
    assert second
    assert "lastTransitionTime" not in second["status"]["conditions"][0]
    assert status_patch(failed, failed, "toy", NOW) is None


def test_it_is_written_once_and_goes_with_the_option(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    runs.run(apply.TASK, STATE_APPLY, fake, wait=False, **TOLD)
    prove(fake, **TOLD)
    assert (condition(cluster)["status"], condition(cluster)["reason"]) == (
        "False",
        "DriverWaiting",
    )
    assert len(cluster.objects["nodes"]["n1"]["status"]["conditions"]) == 2
    cluster.writes.clear()
    assert not prove(fake, **TOLD)["changed"]
    assert cluster.writes == []
    assert prove(fake, options={})["changed"]
    assert condition(cluster) == {}


def test_it_is_not_written_where_nobody_has_asked_for_it(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    runs.run(apply.TASK, STATE_APPLY, fake, wait=False)
    prove(fake)
    assert condition(cluster) == {}


def test_it_goes_with_the_special_resource(fake: FakeServer, cluster: ScriptedCluster) -> None:
    runs.run(apply.TASK, STATE_APPLY, fake, wait=False, **TOLD)
    prove(fake, **TOLD)
    runs.run(special_resource.TASK, SPECIAL_RESOURCE, fake, state="absent")
    assert condition(cluster) == {}


def test_a_rule_without_the_condition_is_refused_before_anything_is_written(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    with pytest.raises(EnablementError, match="nothing would ever take the taint off") as refused:
        runs.run(apply.TASK, STATE_APPLY, fake, options={"node_readiness_rule": "continuous"})
    assert "set node_condition to true as well" in str(refused.value)
    assert cluster.writes == []
