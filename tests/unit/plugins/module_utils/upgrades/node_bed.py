# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node on its way to another driver, or through a remedy, before an API server of the tests' own."""

from __future__ import annotations

import json
import time
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.device_allocation import (
    AllocationChange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.device_users import (
    DeviceUse,
    DrainRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.driver_pods import (
    DriverPod,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    ExchangeSettings,
    ExchangeStep,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.node_exchange import (
    NodeExchange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedies import (
    Remedy,
    RemedyRules,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Answer,
    Obj,
    ScriptedCluster,
    refusal,
)

NAME = "hardware-enablement.io/toy.upgrade"
ALLOCATION = "hardware-enablement.io/toy.device-allocation"
USE = DeviceUse(serves=lambda name: name == "acme.io/card", runtime_classes=("acme",))
OLD = DriverPod("driver", ObjectKey("v1", "Pod", "toy", "old"), "uid-old", "configuration")
STANDING: Obj = {"metadata": {"namespace": "toy", "name": "plugin", "labels": {}}}


def claimed(asked: Asked, uid: str) -> Answer | None:
    """What a cluster tells of a pod that has claimed a device of gpu.acme.io."""
    path = asked.path.split("?")[0]
    if path == "/apis/resource.k8s.io/v1":
        kind = {"name": "resourceclaims", "kind": "ResourceClaim", "namespaced": True}
        return 200, {}, {"resources": [kind]}
    if not path.endswith("/resourceclaims"):
        return None
    status = {
        "allocation": {"devices": {"results": [{"driver": "gpu.acme.io"}]}},
        "reservedFor": [{"uid": uid}],
    }
    metadata = {"name": "c", "namespace": "ns"}
    return 200, {}, {"metadata": {}, "items": [{"metadata": metadata, "status": status}]}


class Way:
    """A node with a driver to exchange. own, old: what the walk sees on it."""

    name = "n1"

    def __init__(
        self, fake: FakeServer, remedy: Remedy | None = None, rules: RemedyRules | None = None
    ) -> None:
        self.cluster = ScriptedCluster(fake)
        self.cluster.put("nodes", {"metadata": {"name": "n1", "annotations": {}}, "spec": {}})
        self.add_driver("old")
        self.cluster.refuse = self._evictions
        self.now = 1000.0
        self.own: list[Obj] = []
        # Of a node that says itself what is proven: its states. And those that have a label.
        self.states: tuple[str, ...] = ()
        self.labelled: list[str] = []
        self.old = [OLD]
        self.evicted: list[str] = []
        # How often the lock was looked at.
        self.looked = 0
        self.held = False
        self.boot = "boot-1"
        # What serves its devices, and is to; who still does, in words.
        self.allocation: AllocationChange | None = None
        self.driver_stays = False
        self.serves = ""
        self.fake, self.settings = (
            fake,
            ExchangeSettings(
                "toy",
                frozenset({"toy"}),
                USE,
                DrainRules(),
                free_s=60,
                stop_s=60,
                remedies=rules or RemedyRules(),
            ),
        )
        self.exchange = self._make_exchange(remedy)

    def begin(self, remedy: Remedy | None = None) -> NodeExchange:
        """As another run would, after the one before has ended."""
        self.end()
        self.exchange = self._make_exchange(remedy)
        return self.exchange

    def end(self) -> None:
        """The run ends, and with it what it watches."""
        self.exchange.drop()

    def _make_exchange(self, remedy: Remedy | None) -> NodeExchange:
        return NodeExchange(
            self.fake.client(),
            self,
            self.settings,
            remedy,
            self._look_at_lock,
            lambda: self.now,
            str.upper,
        )

    def _look_at_lock(self) -> None:
        self.looked += 1

    def target(self) -> str:
        """Of the only version."""
        return "v2"

    def standing_states(self) -> list[str]:
        """Those whose pods leave."""
        return ["driver"]

    def says(self, way: str) -> bool:
        """Whether its label names this way."""
        labels = self.cluster.objects["nodes"]["n1"]["metadata"].get("labels") or {}
        return labels.get(ALLOCATION) == way

    def allocation_label(self) -> str:
        """The label."""
        return ALLOCATION

    def still_served(self) -> str:
        """Who serves its devices."""
        return self.serves

    def boot_id(self) -> str:
        """Of the boot."""
        return self.boot

    def standing(self) -> list[Obj]:
        """What stands on the driver."""
        return self.own

    def own_states(self) -> tuple[str, ...]:
        """Of a node that says itself what is proven."""
        return self.states

    def published(self) -> list[str]:
        """Those that have a label."""
        return self.labelled

    def outdated(self) -> list[DriverPod]:
        """Whatever driver there is."""
        return self.old

    def drivers(self) -> list[DriverPod]:
        """Whatever driver there is."""
        return self.old

    def validator(self, name: str) -> Obj | None:
        """As the walk sees it, too."""
        return self.cluster.objects["pods"].get(name)

    def remedy_pod(self, step: str) -> Obj:
        """A pod that says where it comes from."""
        metadata = {"namespace": "toy", "generateName": "x-", "labels": {"from": step}}
        spec = {"containers": [{"name": "c"}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}

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
