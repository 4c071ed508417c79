# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an upgrade finds before it begins: which nodes run a driver of a version before, who uses
their devices, what may hold them up. Reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from .._cluster.api_errors import Forbidden
from .._cluster.client import Client
from .._cluster.labels import summary_label
from .._cluster.rights import CLUSTER, Right
from .._json import Obj
from .._nodes.taints import EXCHANGE, Taint
from .._nodes.upgrade_marks import DONE, QUARANTINED, UPGRADING, NodeUpgrade, read_upgrade
from .._proofs.snapshot import ClusterSnapshot, node_of
from .._states.desired import Desired
from .device_users import KEPT, DeviceUser, device_users
from .driver_pods import DriverPod, DriverPods
from .pace import Pace
from .upgrade_plan import Budget, PlannedNode, UpgradePlan, held_by, typical
from .upgrade_settings import UpgradeSettings
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
    """One cluster as an upgrade sees it, over the snapshot that the walk keeps true."""

    def __init__(
        self, desired: Desired, settings: UpgradeSettings, snapshot: ClusterSnapshot
    ) -> None:
        self._client: Client = desired.client
        self._recipe = desired.recipe.name
        self._plans = desired.plans
        self._settings = settings
        self.snapshot = snapshot
        self.drivers = DriverPods(
            desired.client, snapshot, desired.plans, desired.prepared.namespace
        )

    def upgrades(self) -> dict[str, NodeUpgrade]:
        """How nodes stand that were, or are, exchanged."""
        found = {
            name: read_upgrade(node.annotations, self._recipe)
            for name, node in self.snapshot.nodes.items()
        }
        return {name: upgrade for name, upgrade in found.items() if upgrade}

    def under_way(self) -> set[str]:
        """The nodes that are on their way, by what they say."""
        return {name for name, each in self.upgrades().items() if each.phase == UPGRADING}

    def ended(self, phase: str) -> set[str]:
        """The nodes whose exchange ended so, for the version that is deployed now."""
        return {
            name
            for name, upgrade in self.upgrades().items()
            if upgrade.phase == phase
            and upgrade.target == self.drivers.target(name)
            and not self.drivers.outdated(name)
        }

    def candidates(self) -> list[str]:
        """The nodes with a driver of a version before, or on their way since an earlier run: these
        first, then one of each zone after the other."""
        under_way = self.under_way()
        only = self._settings.only
        outdated = {
            name: node.labels.get(_ZONE, "")
            for name, node in self.snapshot.nodes.items()
            if name not in under_way
            and (only is None or name in only)
            and (self.drivers.outdated(name) or self.held_up(name))
        }
        return [*sorted(under_way), *spread(outdated)]

    def held_up(self, node: str) -> list[DriverPod]:
        """The drivers' pods that do not come up while others of ours stand on a driver that was
        there before: a driver in use cannot be replaced."""
        failing = [pod for pod in self.drivers.pods(node) if pod.fails]
        return failing if failing and self.standing_pods(node) else []

    def plan(self) -> tuple[UpgradePlan, Pace]:
        """What would be done, and how fast."""
        candidates = self.candidates()
        users = self._users(candidates)
        budgets = self._budgets() if users else []
        rows = [self._planned(name, users.get(name, ()), budgets) for name in candidates]
        before = len(self.ended(DONE)) + len(self.ended(QUARANTINED))
        begun = [row.node for row in rows if not row.obstacle]
        settings = self._settings
        pace = Pace.of(
            settings.waves,
            settings.max_unavailable,
            settings.max_failures,
            settings.soak_s,
            to_exchange=before + len(begun),
            nodes=len(self.snapshot.nodes),
        )
        waves = {name: pace.wave(before + index) for index, name in enumerate(begun)}
        took = [upgrade.took for upgrade in self.upgrades().values() if upgrade.took]
        plan = UpgradePlan(
            recipe=self._recipe,
            nodes=[replace(row, wave=waves.get(row.node, 0)) for row in rows],
            done=len(self.ended(DONE)),
            at_once=pace.at_once,
            per_node_s=typical(took),
        )
        return plan, pace

    def standing_states(self, node: str) -> list[str]:
        """The states of a node's drivers, and all that stand on these, in dependency order."""
        found = set(self.drivers.states(node))
        for plan in self._plans:
            if found.intersection(plan.requires):
                found.add(plan.name)
        return [plan.name for plan in self._plans if plan.name in found]

    def standing_pods(self, node: str) -> list[Obj]:
        """Our own pods on a node that stand on its drivers, and have not ended."""
        drivers = set(self.drivers.states(node))
        pods = [
            pod
            for state in self.standing_states(node)
            if state not in drivers
            for pod in self.snapshot.pods_of(node, state)
            if _is_of_daemonset(pod)
        ]
        pods += [pod for pod in self.snapshot.validators.values() if node_of(pod) == node]
        return [pod for pod in pods if (pod.get("status") or {}).get("phase") not in _ENDED]

    def unavailable(self, without: Iterable[str] = ()) -> set[str]:
        """The nodes that nobody can use whatever we do. Quarantine does not count: it would hold up
        all others."""
        quarantined = {name for name, each in self.upgrades().items() if each.phase == QUARANTINED}
        return {
            name
            for name, node in self.snapshot.nodes.items()
            if not (node.ready and node.schedulable)
        } - quarantined.union(without)

    def _planned(
        self, name: str, users: Sequence[DeviceUser], budgets: Sequence[Budget]
    ) -> PlannedNode:
        node = self.snapshot.nodes[name]
        blocking = next((user for user in users if user.obstacle and not user.leaving), None)
        obstacle = ""
        if not node.ready:
            obstacle = (
                f"the node is NotReady: {node.ready_message or 'its kubelet does not answer'}"
            )
        elif name in self.snapshot.vanished:
            obstacle = "the labels of the hardware are gone from the node"
        elif blocking:
            obstacle = f"pod {blocking}, which {blocking.why}: {blocking.obstacle}"
        return PlannedNode(
            node=name,
            why=self._why(name),
            wave=0,
            users=tuple(str(user) for user in users),
            obstacle=obstacle,
            held_by=held_by(users, budgets),
        )

    def _why(self, node: str) -> str:
        if outdated := self.drivers.outdated(node):
            return outdated[0].why
        return "driver does not start" if self.held_up(node) else "begun by an earlier run"

    def _users(self, nodes: Sequence[str]) -> Mapping[str, list[DeviceUser]]:
        """Who uses the devices of these nodes, in one list."""
        if not nodes:
            return {}
        kind = self._client.kind("v1", "Pod")
        pods = self._client.list(kind, fields="spec.nodeName!=", kept=KEPT).items
        exchange = self._settings.exchange
        taint = Taint(summary_label(self._recipe), EXCHANGE, "NoSchedule")
        found: dict[str, list[DeviceUser]] = {name: [] for name in nodes}
        for user in device_users(pods, exchange.use, self._recipe, exchange.rules, taint):
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


def _is_of_daemonset(pod: Obj) -> bool:
    owners = pod["metadata"].get("ownerReferences") or ()
    return any(owner.get("kind") == "DaemonSet" for owner in owners)
