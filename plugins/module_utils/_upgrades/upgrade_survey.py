# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is of nodes before their drivers are exchanged: what runs there, who uses the devices,
what may hold it up. Reads only."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from .._cluster.api_client.api_errors import Forbidden
from .._cluster.api_client.client import Client
from .._cluster.api_client.rights import CLUSTER, Right
from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.labels import gate_label
from .._json import Obj, part
from .._nodes.device_allocation import AllocationChange
from .._nodes.taint_ownership import (
    CONTROLLER_TAINTS,
    ControllerTaint,
    NodeTransition,
    transition_of,
)
from .._nodes.upgrade_marks import QUARANTINED, REMEDY, UPGRADING, NodeUpgrade, read_upgrade
from .._proofs.snapshot import ClusterSnapshot, node_of
from .._recipes.render import render_remedy
from .._states.desired import Desired
from .._states.on_nodes.claiming_pods import ClaimingPods
from .._states.on_nodes.machine_config_pools import MachineConfigPools
from .._states.on_nodes.node_devices import still_served
from .device_users import KEPT, DeviceUser, device_users
from .driver_pods import DriverPod, DriverPods
from .exchange_steps import ExchangeSettings
from .upgrade_plan import Budget, PlannedNode, held_by
from .waves import spread

_ZONE = "topology.kubernetes.io/zone"
_ENDED = ("Succeeded", "Failed")

# What is asked before anything is done, and what frees a node.
RIGHTS = (
    Right("policy", ("poddisruptionbudgets",), ("list",), CLUSTER, read_only=("list",)),
    Right("", ("pods",), ("list", "watch"), CLUSTER, read_only=("list",)),
    Right("", ("pods/eviction",), ("create",), CLUSTER),
    Right("", ("nodes",), ("get",), CLUSTER),
)


class UpgradeSurvey:
    """One cluster as an exchange sees it, over the snapshot that the walk keeps true."""

    def __init__(
        self,
        desired: Desired,
        settings: ExchangeSettings,
        snapshot: ClusterSnapshot,
        controller_taints: Sequence[ControllerTaint] = CONTROLLER_TAINTS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._client: Client = desired.client
        self._desired = desired
        self._plans = desired.plans
        self._settings = settings
        self._controller_taints = controller_taints
        self.recipe = desired.recipe
        self.snapshot = snapshot
        self.drivers = DriverPods(
            desired.client, snapshot, desired.plans, desired.prepared.namespace
        )
        self._pools = MachineConfigPools(desired.client, clock)

    def upgrades(self) -> dict[str, NodeUpgrade]:
        """How nodes stand that were, or are, exchanged."""
        found = {name: self.upgrade_of(name) for name in self.snapshot.nodes}
        return {name: upgrade for name, upgrade in found.items() if upgrade}

    def upgrade_of(self, node: str) -> NodeUpgrade | None:
        """How a node stands."""
        return read_upgrade(self.snapshot.nodes[node].annotations, self.recipe.name)

    def under_way(self, phase: str) -> set[str]:
        """The nodes that are on their way in this phase, by what they say."""
        return {name for name, each in self.upgrades().items() if each.phase == phase}

    def in_zones(self, nodes: Iterable[str]) -> list[str]:
        """The nodes, one of each zone after the other."""
        return spread({name: self.snapshot.nodes[name].labels.get(_ZONE, "") for name in nodes})

    def held_up(self, node: str) -> list[DriverPod]:
        """The drivers' pods that do not come up while others of ours stand on a driver that was
        there before: a driver in use cannot be replaced."""
        failing = [pod for pod in self.drivers.pods(node) if pod.fails]
        return failing if failing and self.standing_pods(node) else []

    def standing_states(self, node: str) -> list[str]:
        """The states of a node's drivers, and all that stand on these, in dependency order."""
        return self._with_dependents(self.drivers.states(node))

    def _with_dependents(self, states: Iterable[str]) -> list[str]:
        """These, and all that stand on them, in dependency order."""
        found = set(states)
        for plan in self._plans:
            if found.intersection(plan.requires):
                found.add(plan.name)
        return [plan.name for plan in self._plans if plan.name in found]

    def allocation_states(self) -> list[str]:
        """The states by which devices are served in one way or another, and all that stand on these, in
        dependency order."""
        states = self.recipe.states
        return self._with_dependents(
            {plan.name for plan in self._plans if "allocation" in states[plan.name].per}
        )

    def allocation_change(self, node: str) -> AllocationChange | None:
        """What serves the node's devices, and what is to; None where these are the same."""
        return self._desired.discovery.grouping.allocation_change(self.snapshot.nodes[node])

    def is_behind(self, node: str) -> bool:
        """Whether a node's driver, or what serves its devices, is another than is deployed."""
        return bool(self.drivers.outdated(node)) or self.allocation_change(node) is not None

    def target(self, node: str) -> str:
        """The version that a node is to have: of its drivers, and what serves its devices."""
        drivers, allocation = self.drivers.target(node), self._desired.discovery.grouping.allocation
        if allocation is None:
            return drivers
        change = self.allocation_change(node)
        labels = self.snapshot.nodes[node].labels
        way = change.wanted if change else labels.get(allocation.label, "")
        return "+".join(filter(None, [drivers, "" if way == allocation.usual else way]))

    def still_served(self, node: str) -> str:
        """What says that somebody serves the node's devices, in words; "" for nothing."""
        serves, drivers = self._desired.prepared.serves, self._settings.use.dra_drivers
        return still_served(self._client, self.snapshot.nodes[node], serves, drivers)

    def standing_pods(self, node: str, states: Iterable[str] | None = None) -> list[Obj]:
        """Our own pods on a node that are of these states, by default of those that stand on its
        drivers, and have not ended."""
        drivers = set(self.drivers.states(node))
        pods = [
            pod
            for state in (self.standing_states(node) if states is None else states)
            if state not in drivers
            for pod in self.snapshot.pods_of(node, state)
            if _is_of_daemonset(pod)
        ]
        pods += [pod for pod in self.snapshot.validators.values() if node_of(pod) == node]
        return [pod for pod in pods if part(pod, "status").get("phase") not in _ENDED]

    def transition_of(self, node: str) -> NodeTransition | None:
        """Whether a controller brings a node up, or takes it away."""
        return transition_of(self.snapshot.nodes[node], self._controller_taints)

    def leaving(self) -> dict[str, str]:
        """The nodes that a controller takes away, and how that is known: nothing is done there."""
        found = {name: self.transition_of(name) for name in self.snapshot.nodes}
        return {name: each.text for name, each in found.items() if each and each.leaves}

    def unavailable(self, without: Iterable[str] = ()) -> set[str]:
        """The nodes that nobody can use whatever we do. Quarantine does not count: it would hold up
        all others."""
        quarantined = {name for name, each in self.upgrades().items() if each.phase == QUARANTINED}
        return {
            name
            for name, node in self.snapshot.nodes.items()
            if not (node.readiness.ready and node.schedulable)
        } - quarantined.union(without)

    def why_held(self, node: str) -> str:
        """Why nothing is begun on a node now, although it could be later; "" where something may be."""
        return self._pools.why_held(self.snapshot.nodes[node].annotations)

    def held(self, nodes: Iterable[str]) -> dict[str, str]:
        """Those of these nodes on which nothing is begun now, and why."""
        found = {name: self.why_held(name) for name in nodes}
        return {name: why for name, why in found.items() if why}

    def rows(self, why: Mapping[str, str], phase: str) -> list[PlannedNode]:
        """What is known of the nodes before they are begun, in the order given; why: of each; phase:
        as they will say it."""
        users = self._users([*why])
        budgets = self._budgets() if users else []
        marks = self.upgrades()
        rows = []
        for name in why:
            obstacle = _of_another(marks.get(name), phase) or self._unusable(name)
            kept = "" if obstacle else _kept_by(users[name])
            # A faulty node is begun nevertheless, so that nobody else gets it.
            keeps, delays = ("", kept) if phase == REMEDY else (kept, "")
            rows.append(
                PlannedNode(
                    node=name,
                    why=why[name],
                    wave=0,
                    users=tuple(str(user) for user in users[name]),
                    obstacle=obstacle or keeps,
                    held_by=self.why_held(name) or delays or held_by(users[name], budgets),
                )
            )
        return rows

    def surveyed(self, node: str, phase: str) -> SurveyedNode:
        """One node, as its exchange sees it. phase: as the node will say it: a remedy leaves what
        serves the devices."""
        failing = frozenset(pod.uid for pod in self.held_up(node))
        change = self.allocation_change(node) if phase == UPGRADING else None
        stays = change is not None and not failing and not self.drivers.outdated(node)
        return SurveyedNode(node, self, self._desired, failing, change, driver_stays=stays)

    def _unusable(self, name: str) -> str:
        """Why a node is of no use whatever its driver, "" where it may be."""
        if transition := self.transition_of(name):
            return f"the node {transition.transition.value}: {transition.text}"
        vanished = name in self.snapshot.vanished
        gone = "the labels of the hardware are gone from the node" if vanished else ""
        return self.snapshot.nodes[name].readiness.why_not or gone

    def _users(self, nodes: Sequence[str]) -> Mapping[str, list[DeviceUser]]:
        """Who uses the devices of these nodes, in one list."""
        if not nodes:
            return {}
        kind = self._client.kind("v1", "Pod")
        pods = self._client.list(kind, fields="spec.nodeName!=", kept=KEPT).items
        claiming = ClaimingPods(self._client, self._settings.use.dra_drivers).among(pods)
        found: dict[str, list[DeviceUser]] = {name: [] for name in nodes}
        for user in device_users(pods, self._settings.drain, claiming):
            if user.node in found:
                found[user.node].append(user)
        return found

    def _budgets(self) -> list[Budget]:
        """None where the user may not read them: then they are met when they refuse."""
        kind = self._client.kind("policy/v1", "PodDisruptionBudget")
        try:
            return [Budget.from_object(each) for each in self._client.list(kind).items]
        except Forbidden:
            return []


@dataclass(frozen=True)
class SurveyedNode:
    """One node on its way, read anew with each step. failing: pods of its driver that do not come
    up. allocation: what comes to serve its devices, None where that stays; driver_stays: whether that is
    all."""

    name: str
    survey: UpgradeSurvey
    desired: Desired
    failing: frozenset[str]
    allocation: AllocationChange | None = None
    driver_stays: bool = False

    def target(self) -> str:
        """The version that it is to have."""
        return self.survey.target(self.name)

    def standing_states(self) -> list[str]:
        """The states whose pods leave, in dependency order."""
        found = set() if self.driver_stays else set(self.survey.standing_states(self.name))
        found |= set(self.survey.allocation_states()) if self.allocation else set()
        return [name for name in self.desired.recipe.states if name in found]

    def says(self, way: str) -> bool:
        """Whether the node's label names this way."""
        label, labels = self.allocation_label(), self.survey.snapshot.nodes[self.name].labels
        return labels.get(label) == way

    def allocation_label(self) -> str:
        """The label that says what serves the node's devices, "" where there is but one way."""
        allocation = self.desired.discovery.grouping.allocation
        return allocation.label if allocation else ""

    def still_served(self) -> str:
        """What says that somebody serves its devices, "" for nothing."""
        return self.survey.still_served(self.name)

    def boot_id(self) -> str:
        """Of its boot."""
        return self.survey.snapshot.nodes[self.name].boot_id

    def standing(self) -> list[Obj]:
        """Our own pods that stand on the drivers."""
        return self.survey.standing_pods(self.name, self.standing_states())

    def own_states(self) -> tuple[str, ...]:
        """The states of its drivers and on these, where the node itself says what is proven."""
        by_nodes = self.desired.prepared.by_nodes
        return tuple(self.standing_states()) if by_nodes else ()

    def published(self) -> list[str]:
        """The states of its drivers and on these of which the node has a label."""
        labels, recipe = self.survey.snapshot.nodes[self.name].labels, self.desired.recipe.name
        return [state for state in self.standing_states() if gate_label(recipe, state) in labels]

    def outdated(self) -> list[DriverPod]:
        """The drivers' pods that make way for others."""
        return [pod for pod in self.drivers() if pod.why or pod.uid in self.failing]

    def drivers(self) -> list[DriverPod]:
        """All pods of its drivers."""
        return self.survey.drivers.pods(self.name)

    def validator(self, name: str) -> Obj | None:
        """The pod of this name that a run has started, None where none is seen."""
        return self.survey.snapshot.validators.get(name)

    def remedy_pod(self, step: str) -> Obj:
        """The pod of a remedy, to be made; raises InvalidInput."""
        finest = self.survey.snapshot.groups[self.name]
        group = next(each for each in self.desired.discovery.node_groups if each.id == finest)
        return render_remedy(self.desired.recipe, step, self.desired.facts, group, self.name)


def _of_another(mark: NodeUpgrade | None, phase: str) -> str:
    """Why a node is left to something else than this phase, "" where it is not."""
    if mark is None or mark.phase == phase:
        return ""
    if mark.is_under_way:
        verb = "remedy" if mark.phase == REMEDY else "upgrade"
        return f"{verb} has begun with it and is not done: run that first"
    if mark.phase == QUARANTINED and mark.fault and phase == UPGRADING:
        return f"it is in quarantine, since {mark.fault} was reported: run remedy first"
    return ""


def _kept_by(users: Sequence[DeviceUser]) -> str:
    """Which pod may not be evicted, and why; "" for none."""
    kept = next((user for user in users if user.obstacle and not user.leaving), None)
    return f"pod {kept}, which {kept.why}: {kept.obstacle}" if kept else ""


def _is_of_daemonset(pod: Obj) -> bool:
    return controller_of(pod).get("kind") == "DaemonSet"
