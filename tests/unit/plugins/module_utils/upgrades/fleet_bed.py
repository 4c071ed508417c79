# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes whose drivers are to be exchanged, as the walk sees them, before an API server of the tests' own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    RECIPE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Remedies,
    State,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._runs.guard import Guard
from ansible_collections.hardware.enablement.plugins.module_utils._states.desired import Desired
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.device_users import (
    DeviceUse,
    DrainRules,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_choice import (
    ExchangeChoice,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.exchange_steps import (
    ExchangeSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.faulty_nodes import (
    FaultyNodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.fleet_exchange import (
    FleetExchange,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.maintenance_window import (
    MaintenanceWindow,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.outdated_drivers import (
    OutdatedDrivers,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.remedy_settings import (
    RemedySettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_settings import (
    UpgradeSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._upgrades.upgrade_survey import (
    UpgradeSurvey,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

UPGRADE = f"hardware-enablement.io/{world.RECIPE}.upgrade"
USE = DeviceUse(serves=lambda name: name == "acme.io/card", runtime_classes=("acme",))
EXCHANGE = ExchangeSettings(
    world.RECIPE, frozenset({"toy"}), USE, DrainRules(), free_s=60, stop_s=60
)
ALL_AT_ONCE = UpgradeSettings(EXCHANGE, ("100%",), "100%", "100%", 0.0)
REMEDY = RemedySettings(EXCHANGE, "100%", "100%", {}, frozenset())
_REVISION = "controller-revision-hash"


class Fleet:
    """Nodes n1, n2, ... with a driver of version v1, of which v2 is deployed, and a plugin that stands on it.

    said: what nodes say of an exchange of before, by name. looked: how often the lock was looked at.
    """

    def __init__(
        self, fake: FakeServer, count: int = 3, said: Mapping[str, Obj] | None = None
    ) -> None:
        marks = {name: {UPGRADE: json.dumps(each)} for name, each in (said or {}).items()}
        names = [f"n{number + 1}" for number in range(count)]
        nodes = [world.node_object(name, annotations=marks.get(name)) for name in names]
        self.cluster = ScriptedCluster(fake, *({**node, "spec": {}} for node in nodes))
        self.client = fake.client()
        self.now = world.NOW
        self.looked = 0
        self.snapshot = ClusterSnapshot()
        for state, strategy in (("driver", "OnDelete"), ("plugin", "RollingUpdate")):
            self.snapshot.put_workload(world.daemonset(state, strategy=strategy))
        for number, version in enumerate(("v1", "v2")):
            self.add_revision(version, number)
        for name in names:
            self.run_driver(name, "v1")
        plans = [world.plan("driver"), world.plan("plugin", ("driver",))]
        self.walker = Walker(
            plans, WalkSettings(world.RECIPE, world.NAMESPACE), self.snapshot, world.NOW
        )
        remedies = Remedies(steps=("restart",), states=())
        self.desired: Any = SimpleNamespace(
            client=self.client,
            plans=plans,
            recipe=SimpleNamespace(
                name=world.RECIPE,
                remedies=remedies,
                states={
                    "driver": State("driver", "state_driver"),
                    "plugin": State("plugin", "state_device_plugin"),
                },
            ),
            prepared=SimpleNamespace(namespace=world.NAMESPACE, by_nodes=False, serves=USE.serves),
            discovery=SimpleNamespace(grouping=Grouping()),
        )
        self.see()

    def upgrade(
        self,
        settings: UpgradeSettings = ALL_AT_ONCE,
        window: MaintenanceWindow | None = None,
        context: RunContext | None = None,
        **changed: Any,
    ) -> FleetExchange:
        """One that brings all drivers to the version that is deployed."""
        made = replace(settings, **changed)
        return self._exchange(
            made.exchange, lambda survey: OutdatedDrivers(survey, made), window, context
        )

    def mend(self, settings: RemedySettings = REMEDY, **changed: Any) -> FleetExchange:
        """One that tries remedies."""
        made = replace(settings, **changed)
        return self._exchange(
            made.exchange, lambda survey: FaultyNodes(survey, made, lambda: self.now), None, None
        )

    def _exchange(
        self,
        settings: ExchangeSettings,
        choose: Callable[[UpgradeSurvey], ExchangeChoice],
        window: MaintenanceWindow | None,
        context: RunContext | None,
    ) -> FleetExchange:
        guard: Any = SimpleNamespace(before_write=self._look_at_lock)
        context = replace(context or RunContext(), clock=lambda: self.now)
        made = FleetExchange(
            cast(Desired, self.desired), settings, window, choose, cast(Guard, guard), context
        )
        made.announce(self.walker)
        return made

    def _look_at_lock(self) -> None:
        self.looked += 1

    def survey(self, settings: ExchangeSettings = EXCHANGE) -> UpgradeSurvey:
        """What is seen now."""
        return UpgradeSurvey(cast(Desired, self.desired), settings, self.snapshot)

    def put_pool(self, name: str, nodes: Sequence[str], **said: Any) -> None:
        """A MachineConfigPool with these nodes. said: paused, or updating."""
        for node in nodes:
            metadata = self.cluster.objects["nodes"][node]["metadata"]
            metadata["annotations"]["machineconfiguration.openshift.io/desiredConfig"] = (
                f"rendered-{name}-{'0a' * 16}"
            )
        updating = {"type": "Updating", "status": str(bool(said.get("updating")))}
        self.cluster.put(
            "machineconfigpools",
            {
                "metadata": {"name": name},
                "spec": {"paused": bool(said.get("paused"))},
                "status": {"conditions": [updating], "machineCount": 5, "updatedMachineCount": 2},
            },
        )
        self.see()

    def see(self) -> None:
        """What the watch tells of the nodes, which are all of one group."""
        for name, node in self.cluster.objects["nodes"].items():
            self.snapshot.nodes[name] = NodeFacts.from_object(node)
            self.snapshot.groups[name] = world.GROUP

    def go(self, exchange: FleetExchange, seconds: float = 0.0) -> list[str]:
        """So many seconds later: one look, and what follows. Returns the nodes that are cordoned then."""
        self.now += seconds
        exchange.act(self.walker)
        self.see()
        return self.cordoned()

    def cordoned(self) -> list[str]:
        """The nodes of which pods are kept off."""
        nodes = self.cluster.objects["nodes"]
        return sorted(name for name in nodes if nodes[name]["spec"].get("unschedulable"))

    def add_revision(self, version: str, number: int) -> None:
        """A version that the driver's DaemonSet has, or had."""
        container = {"name": "c", "image": f"example.com/driver:{version}"}
        metadata = {
            "name": f"driver-{version}",
            "namespace": world.NAMESPACE,
            "labels": {_REVISION: version},
            "ownerReferences": [{"uid": "uid-driver", "controller": True}],
        }
        data = {"spec": {"template": {"spec": {"containers": [container]}}}}
        self.cluster.put(
            "controllerrevisions", {"metadata": metadata, "data": data, "revision": number}
        )

    def run_driver(self, node: str, version: str) -> None:
        """The driver's pod of a node, instead of the one before."""
        for pod in list(self.snapshot.pods_of(node, "driver")):
            self.snapshot.put_pod(pod, deleted=True)
            self.cluster.objects["pods"].pop(pod["metadata"]["name"], None)
        pod = world.pod("driver", node)
        pod["metadata"]["name"] = f"driver-{node}-{version}"
        pod["metadata"]["uid"] = f"uid-driver-{node}-{version}"
        pod["metadata"]["labels"][_REVISION] = version
        self.cluster.put("pods", pod)
        self.snapshot.put_pod(pod)

    def run_user(self, node: str, **spec: Any) -> Obj:
        """A pod of somebody else that uses a device of a node."""
        owner = {"kind": "ReplicaSet", "name": "r", "controller": True}
        metadata = {"name": f"user-{node}", "namespace": "ns", "ownerReferences": [owner]}
        pod = {"nodeName": node, "containers": [], "runtimeClassName": "acme", **spec}
        made: Obj = {"metadata": metadata, "spec": pod, "status": {}}
        self.cluster.put("pods", made)
        return made

    def run_own(self, node: str, state: str = "plugin", owner: str = "DaemonSet") -> Obj:
        """A pod of ours on a node."""
        pod = world.pod(state, node)
        pod["metadata"]["ownerReferences"] = [
            {"kind": owner, "uid": f"uid-{state}", "controller": True}
        ]
        assert pod["metadata"]["labels"][RECIPE_LABEL] == world.RECIPE
        self.snapshot.put_pod(pod)
        return pod

    def prove(self, node: str, phase: Phase = Phase.READY, *, final: bool = True) -> None:
        """What the walk finds of all states of a node."""
        for state in ("driver", "plugin"):
            self.walker.results[node, state] = Result(state, phase, message="broken", final=final)

    def exchange_driver(self, exchange: FleetExchange, node: str) -> None:
        """Let a node that is under way come as far as its proofs: the old driver has been removed."""
        self.run_driver(node, "v2")
        self.go(exchange)

    def noted(self, node: str) -> Obj:
        """What a node says of its exchange."""
        annotations = self.cluster.objects["nodes"][node]["metadata"]["annotations"]
        return dict(json.loads(annotations.get(UPGRADE) or "{}"))
