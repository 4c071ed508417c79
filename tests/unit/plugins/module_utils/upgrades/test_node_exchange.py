# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One node's way to another driver: what is done in which order, and what others do meanwhile."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.labels import (
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.objects import ObjectKey
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.device_users import (
    DeviceUse,
    DrainRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.driver_pods import (
    DriverPod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.node_exchange import (
    ExchangeEnding,
    ExchangeSettings,
    ExchangeStep,
    NodeExchange,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

NAME = "hardware-enablement.io/toy.upgrade"
USE = DeviceUse(serves=lambda name: name == "acme.io/card", runtime_classes=("acme",))
OLD = DriverPod("driver", ObjectKey("v1", "Pod", "toy", "old"), "uid-old", "configuration")
STANDING: Obj = {"metadata": {"namespace": "toy", "name": "plugin", "labels": {}}}


class Way:
    """A node with a driver to exchange. standing, drivers: what the walk sees on it."""

    def __init__(self, fake: FakeServer) -> None:
        self.cluster = ScriptedCluster(fake)
        self.cluster.put("nodes", {"metadata": {"name": "n1", "annotations": {}}, "spec": {}})
        self.add_driver("old")
        self.cluster.refuse = self._evictions
        self.now = 1000.0
        self.standing: list[Obj] = []
        self.drivers = [OLD]
        self.evicted: list[str] = []
        self.held = False
        self.exchange = NodeExchange(
            fake.client(),
            "n1",
            "v2",
            ExchangeSettings("toy", USE, DrainRules(), free_s=60, stop_s=60),
            lambda: self.standing,
            lambda: self.drivers,
            lambda: "boot-1",
            lambda: None,
            lambda: self.now,
        )

    def _evictions(self, asked: Asked) -> Answer | None:
        if not asked.path.split("?")[0].endswith("/eviction"):
            return None
        if self.held:
            cause = {"reason": "DisruptionBudget", "message": "the budget b needs 1 healthy pods"}
            code, headers, body = refusal(429, "TooManyRequests")
            return code, headers, {**body, "details": {"causes": [cause]}}
        name = asked.path.split("/")[-2]
        self.evicted.append(name)
        self.cluster.remove("pods", name)
        return 201, {}, {"kind": "Status", "status": "Success"}

    def add_driver(self, name: str) -> None:
        """A pod of the recipe's own."""
        metadata = {"name": name, "namespace": "toy", "labels": {RECIPE_LABEL: "toy"}}
        spec = {"nodeName": "n1", "containers": []}
        self.cluster.put("pods", {"metadata": metadata, "spec": spec, "status": {}})

    def add_user(self, name: str = "user", **spec: Any) -> None:
        """A pod that uses a card."""
        owner = {"kind": "ReplicaSet", "name": "r", "controller": True}
        metadata = {"name": name, "namespace": "ns", "ownerReferences": [owner]}
        pod = {"nodeName": "n1", "containers": [], "runtimeClassName": "acme", **spec}
        self.cluster.put("pods", {"metadata": metadata, "spec": pod, "status": {}})

    def go(self, seconds: float = 0.0) -> ExchangeStep:
        """What comes of it, so many seconds later."""
        self.now += seconds
        self.exchange.advance()
        return self.exchange.step

    def until_not(self, step: ExchangeStep) -> None:
        """Look until a watch has told what ends a step."""
        for _look in range(500):
            if self.go() is not step:
                return
            time.sleep(0.01)

    @property
    def node(self) -> Obj:
        return self.cluster.objects["nodes"]["n1"]

    @property
    def noted(self) -> Obj:
        return dict(json.loads(self.node["metadata"]["annotations"].get(NAME, "{}")))


@pytest.fixture
def way(fake: FakeServer) -> Way:
    return Way(fake)


def test_each_step_comes_when_the_one_before_is_over(way: Way) -> None:
    way.add_user()
    way.standing = [STANDING]
    assert way.go() is ExchangeStep.FREE
    assert way.node["spec"]["unschedulable"] is True
    assert way.noted["phase"] == "upgrading"
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]
    assert way.go() is ExchangeStep.STOP
    assert way.cluster.deleted == []
    way.standing = []
    assert way.go() is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old"]
    way.drivers = []
    assert way.go() is ExchangeStep.PROVE
    way.exchange.finish()
    assert way.go(7) is ExchangeStep.ENDED
    assert way.exchange.ending is ExchangeEnding.DONE
    assert "unschedulable" not in way.node["spec"]
    assert way.node["spec"]["taints"] == []
    assert (way.noted["phase"], way.noted["target"]) == ("done", "v2")


def test_a_driver_that_was_restarted_before_is_only_proven(way: Way) -> None:
    way.drivers = []
    assert way.go() is ExchangeStep.PROVE
    assert way.cluster.deleted == []


def test_a_budget_is_asked_again_and_named_and_in_the_end_nothing_has_changed(way: Way) -> None:
    way.add_user()
    way.held = True
    way.go()
    assert way.exchange.reason.startswith("pod ns/user, which runs with runtime class acme")
    assert "the budget b needs 1 healthy pods" in way.exchange.reason
    way.go(11)
    way.go(1)
    # Who looks from elsewhere reads it, too.
    assert "the budget b needs" in way.noted["reason"]
    way.go(60)
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert way.noted == {}
    assert "unschedulable" not in way.node["spec"]
    assert way.cluster.deleted == []


def test_a_budget_that_gives_in_is_enough(way: Way) -> None:
    way.add_user()
    way.held = True
    way.go()
    way.held = False
    way.go(5)
    way.until_not(ExchangeStep.FREE)
    assert way.evicted == ["user"]
    assert way.exchange.step is ExchangeStep.RESTART


def test_who_may_not_be_evicted_ends_it_before_anybody_is(way: Way) -> None:
    way.add_user("a")
    way.add_user("b", volumes=[{"emptyDir": {}}])
    way.go()
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert "drain.delete_emptydir_data" in way.exchange.reason
    assert way.evicted == []
    assert "unschedulable" not in way.node["spec"]


def test_own_pods_that_do_not_leave_end_in_quarantine(way: Way) -> None:
    way.standing = [STANDING]
    way.go()
    way.go(61)
    assert way.exchange.ending is ExchangeEnding.QUARANTINED
    assert way.noted["phase"] == "quarantined"
    assert "pod toy/plugin stands on the driver" in way.noted["reason"]
    values = [taint["value"] for taint in way.node["spec"]["taints"]]
    assert values == ["quarantined"]


def test_a_node_that_is_gone_is_no_failure(way: Way) -> None:
    way.cluster.remove("nodes", "n1")
    assert way.go() is ExchangeStep.ENDED
    assert way.exchange.ending is ExchangeEnding.GONE


def test_an_api_server_that_does_not_answer_is_asked_again(way: Way) -> None:
    silent = way.cluster.refuse
    way.cluster.refuse = lambda _asked: refusal(503, "ServiceUnavailable", "later")
    way.go()
    assert (way.exchange.step, way.exchange.ending) == (ExchangeStep.CORDON, None)
    assert not way.exchange.is_due(way.now)
    way.cluster.refuse = silent
    assert way.go(2) is ExchangeStep.RESTART, way.exchange.reason


def test_a_driver_that_changes_meanwhile_is_begun_again(way: Way) -> None:
    way.go()
    other = DriverPod("driver", ObjectKey("v1", "Pod", "toy", "next"), "uid-next", "image a -> b")
    way.drivers = [other]
    way.add_driver("next")
    assert way.go() is ExchangeStep.RESTART
    assert way.cluster.deleted == ["old", "next"]


def test_a_node_that_nobody_may_cordon_is_left_to_itself(way: Way) -> None:
    way.cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "no, says a webhook") if asked.method == "PATCH" else None
    )
    way.go()
    assert way.exchange.ending is ExchangeEnding.POSTPONED
    assert "no, says a webhook" in way.exchange.reason
    assert way.noted == {}
