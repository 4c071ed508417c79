# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lead nodes from the operator's operands to ours, some at a time, while the walk proves them. Until
it is a node's turn nothing is proven there, so that our pods stay off it and the operator's serve it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass

from .._cluster.api_client.client import Client
from .._cluster.api_objects.labels import TAKEN_OVER_LABEL
from .._json import Obj, part
from .._nodes.facts import NodeFacts
from .._runs.context import RunContext
from .._states.validation.node_marks import NodeMarks
from .._states.validation.phases import Phase
from .._states.validation.walk import Walker
from .._verdicts.verdict import Outcome, Verdict
from .operator_survey import DEPLOY, is_operand

_REASON = "TakingOver"
_AWAITED = Verdict(Outcome.BLOCKED, _REASON, "the operator's operands still serve it")
_LEAVING = Verdict(Outcome.BLOCKED, _REASON, "the operator's operands are leaving")


@dataclass(frozen=True)
class TakeoverScope:
    """namespace: where the operator's pods are. daemonsets: the UIDs of its operands' DaemonSets, but
    for the drivers'. at_a_time: so many nodes."""

    recipe: str
    namespace: str
    daemonsets: frozenset[str]
    nodes: Sequence[str]
    at_a_time: int


class NodeTakeover:
    """One run of it. taken, failed: the nodes that are ours now, proven or not; of the latter why.
    left: those that were not begun."""

    def __init__(
        self,
        client: Client,
        scope: TakeoverScope,
        before_write: Callable[[], None],
        context: RunContext,
    ) -> None:
        self.client = client
        self.scope = scope
        self.before_write = before_write
        self.context = context
        self.leaving: list[str] = []
        self.proving: list[str] = []
        self.taken: list[str] = []
        self.failed: dict[str, str] = {}
        self.left: list[str] = []

    def announce(self, walker: Walker) -> None:
        """Before the first look: nothing is proven on nodes that are still the operator's."""
        self.left = [name for name in self.scope.nodes if name in walker.snapshot.nodes]
        walker.held.update(dict.fromkeys(self.left, _AWAITED))

    def act(self, walker: Walker) -> Set[str]:
        """Begin nodes, let those go on whose operands have left, and judge those that are proven."""
        dirty: set[str] = set()
        for name in [each for each in self.leaving if not self._operands(each)]:
            walker.forget(name)
            self.leaving.remove(name)
            self.proving.append(name)
            dirty.add(name)
        for name in [each for each in self.proving if each not in dirty]:
            self._judge(name, walker)
        while not self.failed and self.left and self._under_way < self.scope.at_a_time:
            name = self.left.pop(0)
            if name not in walker.snapshot.nodes:
                continue
            self.context.progress(f"{name}: the operator's operands make room")
            self._switch_off(walker.snapshot.nodes[name])
            walker.held[name] = _LEAVING
            self.leaving.append(name)
        return dirty & walker.snapshot.nodes.keys()

    def marks_of(self, _node: NodeFacts, before: NodeMarks) -> NodeMarks:
        """A node that is held keeps what it has."""
        return before

    def is_over(self) -> bool | None:
        """Whether no node is on its way, and none follows; then the results say when all is told."""
        if self._under_way or (self.left and not self.failed):
            return False
        return True if self.left else None

    @property
    def _under_way(self) -> int:
        return len(self.leaving) + len(self.proving)

    def _judge(self, name: str, walker: Walker) -> None:
        """Whether a node is proven, or has failed for good."""
        if name not in walker.snapshot.nodes:
            self.proving.remove(name)
            return
        results = [
            walker.results[name, plan.name]
            for plan in walker.plans
            if plan.per_node and (name, plan.name) in walker.results
        ]
        unready = [each for each in results if each.phase is not Phase.READY]
        if results and not unready:
            self.proving.remove(name)
            self.taken.append(name)
        elif unready and all(each.final for each in results):
            self.proving.remove(name)
            self.failed[name] = self.context.masked(f"{unready[0].root}: {unready[0].message}")

    def _operands(self, node: str) -> list[Obj]:
        pods = self.client.list(
            self.client.kind("v1", "Pod"),
            namespace=self.scope.namespace,
            fields=f"spec.nodeName={node}",
        ).items
        return [pod for pod in pods if is_operand(pod, self.scope.daemonsets)]

    def _switch_off(self, node: NodeFacts) -> None:
        """The operator's labels off, and with them the pods of its DaemonSets; what was left by those
        that are gone is deleted."""
        on = {
            name: "false"
            for name, value in node.labels.items()
            if name.startswith(DEPLOY) and value == "true"
        }
        self.before_write()
        if on:
            kind = self.client.kind("v1", "Node")
            self.client.patch(kind, node.name, None, {"metadata": {"labels": on}})
        for pod in self._operands(node.name):
            if TAKEN_OVER_LABEL in part(pod["metadata"], "labels"):
                metadata = pod["metadata"]
                self.client.delete(
                    self.client.kind("v1", "Pod"),
                    metadata["name"],
                    metadata["namespace"],
                    uid=metadata["uid"],
                )
