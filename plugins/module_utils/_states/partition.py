# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of node_partition: taints on the nodes of a special resource, and PriorityClasses for the
pods there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Optional, Union

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_client.client import Client, connect
from .._cluster.api_client.connection_request import ConnectionRequest
from .._cluster.api_objects.change_report import count_nodes, name_some
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import PART_OF_LABEL, RECIPE_LABEL
from .._cluster.api_objects.objects import key_of
from .._cluster.authorization import access
from .._cluster.executing import execute
from .._cluster.ownership_refusal import OwnershipOptions
from .._cluster.planning import PlanRules, plan
from .._errors import EnablementError, InvalidInput
from .._json import Obj, elements
from .._nodes.taints import (
    NO_EXECUTE,
    Taint,
    conflicts,
    is_of_engine,
    is_tolerated,
    ours_of,
    taints_of,
)
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from .._runs.task import Task
from .on_nodes.holders import LIVING
from .on_nodes.node_taints import find_patches, write_taints
from .preflight import of_changes, of_record, refuse_lacking
from .preparation.discover import list_nodes
from .preparation.prepare import Prepared, prepare
from .preparation.recipe_request import InstanceRequest
from .priority_classes import PriorityClass, class_objects, default_classes, owned_classes
from .record import record_spec, record_store

_PROBE = "hardware-enablement-probe"
_SHOWN = 3
# What is read of each pod of the recipe (a shape, as in _cluster.object_shapes).
_OWN_PODS = {
    "metadata": {"name": str, "namespace": str},
    "spec": {"nodeName": str, "tolerations": [{}]},
}


@dataclass(frozen=True, kw_only=True)
class NodePartitionRequest:
    """taints: on the nodes; None leaves them as the record has them. no_execute: also such as end
    pods. soft: whether there are PriorityClasses; None leaves them as they are."""

    connection: ConnectionRequest
    given: InstanceRequest
    run_id: Optional[str] = None
    state: Literal["present", "absent"] = "present"
    taints: Optional[Sequence[Union[Obj, str]]] = None
    no_execute: bool = False
    soft: Optional[bool] = None
    priority_classes: Optional[tuple[PriorityClass, ...]] = None


def run(request: NodePartitionRequest, context: RunContext) -> Obj:
    """Make taints and classes as they are asked for; absent takes off what is ours."""
    client = connect(request.connection)
    absent = request.state == "absent"
    if absent:
        request = replace(request, taints=[], soft=False)
    # Options matter here as far as they choose nodes, so none has to be given again.
    prepared = prepare(
        request.given.as_recorded(), context, client, complete=False, taints=request.taints
    )
    if prepared.record is None and not absent:
        raise EnablementError(
            f"{prepared.recipe.name} is not enabled, so it has no nodes to partition",
            todo="enable it first",
        )
    _refuse_eviction(prepared.taints, request)
    _refuse_taints_of_engine(prepared)
    with given_back(client, prepared.recipe.name, context):
        return _Partition(client, prepared, request, context).run()


def _refuse_eviction(wanted: Iterable[Taint], request: NodePartitionRequest) -> None:
    evicting = [str(taint) for taint in wanted if taint.effect == NO_EXECUTE]
    if evicting and request.taints is not None and not request.no_execute:
        raise InvalidInput(
            f"{', '.join(evicting)} would end all pods on these nodes that do not tolerate it",
            why="its effect is NoExecute",
            todo="take NoSchedule, or set no_execute where that is meant",
        )


def _refuse_taints_of_engine(prepared: Prepared) -> None:
    own = [taint for taint in prepared.taints if is_of_engine(taint, prepared.recipe.name)]
    if own:
        raise InvalidInput(
            f"{own[0]} is no taint to partition by",
            why="it is taken off each node that is proven",
            todo="take another value",
        )


@dataclass(frozen=True)
class PlannedPartition:
    """What would be written. asked: the record's taints change. now: the taints that nodes carry
    afterwards; untolerated: those that wait. patches: by node."""

    asked: bool
    classes: Sequence[Change]
    now: Sequence[Taint]
    untolerated: Sequence[Taint]
    patches: Mapping[str, Obj]

    @property
    def differs(self) -> bool:
        """Whether anything has to be written."""
        return bool(self.asked or self.classes or self.patches)


class _Partition:
    """One run of node_partition."""

    def __init__(
        self, client: Client, prepared: Prepared, request: NodePartitionRequest, context: RunContext
    ) -> None:
        self.client = client
        self.prepared = prepared
        self.recipe = prepared.recipe.name
        self.request = request
        self.context = context
        self.guard = Guard(client, self.recipe, context)
        self.nodes = self._find_nodes()

    def run(self) -> Obj:
        """Refuse, plan, write: the record, the classes, the nodes."""
        planned = self._plan()
        if planned.differs and not self.context.check_mode:
            self._refuse_missing_rights(planned)
            self._write(planned)
        result: Obj = {
            "changed": planned.differs,
            "taints": [taint.to_object() for taint in self.prepared.taints],
            "nodes": sorted(planned.patches),
            "untolerated": [str(taint) for taint in planned.untolerated],
            "priority_classes": [
                {"action": change.action, "name": change.key.name} for change in planned.classes
            ],
        }
        self.context.tell_changes(planned.classes)
        lines = self._lines(planned.patches, planned.untolerated)
        shown = self.context.tell("\n".join(lines)) if lines else {}
        if self.context.diff:
            result["diff"] = [*self.context.diff_of(planned.classes), *shown.get("diff", [])]
        return result

    def _plan(self) -> PlannedPartition:
        taints = self.prepared.taints
        self._refuse_conflicts(taints)
        classes = [change for change in self._plan_classes() if change.action != "unchanged"]
        untolerated = self._untolerated(taints)
        now = [taint for taint in taints if taint not in untolerated]
        self._refuse_to_end_own_pods(now)
        record = self.prepared.record
        asked = [taint.to_object() for taint in taints]
        return PlannedPartition(
            record is not None and elements(record["spec"], "taints") != asked,
            classes,
            now,
            untolerated,
            find_patches(self.nodes, self.recipe, now),
        )

    def _write(self, planned: PlannedPartition) -> None:
        if planned.asked:
            self._record()
        execute(self.client, planned.classes, guard=self.guard.before_write)
        write_taints(
            self.client, planned.patches, self.recipe, planned.now, self.guard.before_write
        )

    def _find_nodes(self) -> list[Obj]:
        """The nodes of the recipe; where all is taken off, those that carry something of ours."""
        if self.request.state != "absent":
            return list_nodes(self.client, self.prepared.selector)
        kind = self.client.kind("v1", "Node")
        listed = self.client.list(kind, leanly=True).items
        return [node for node in listed if ours_of(node, self.recipe)]

    def _refuse_conflicts(self, taints: Sequence[Taint]) -> None:
        found = {
            node["metadata"]["name"]: taken
            for node in self.nodes
            if (taken := conflicts(node, self.recipe, taints))
        }
        if found:
            taint = next(iter(found.values()))[0]
            raise EnablementError(
                f"{taint} cannot be put on {name_some(sorted(found), _SHOWN)}",
                why=f"somebody else has put {taint.key} with effect {taint.effect} and another value there",
                todo="take that off first, or ask for the same value",
            )

    def _plan_classes(self) -> list[Change]:
        """What becomes of the PriorityClasses; nothing where they are not spoken of."""
        soft = self.request.soft
        if soft is None:
            return []
        classes = self.request.priority_classes or default_classes(self.recipe)
        wanted = class_objects(classes if soft else [], self.recipe, self.prepared.applyset_id)
        live = owned_classes(self.client, self.prepared.applyset_id)
        offered = OwnershipOptions(names="partitioning_priority_classes")
        rules = PlanRules(owner=self.prepared.applyset_id, recreate=True, offered=offered)
        found = plan(self.client, wanted, rules, live=live)
        going = live.keys() - {key_of(obj) for obj in wanted}
        return [*found, *(Change(key, "delete", live[key], None) for key in sorted(going, key=str))]

    def _untolerated(self, taints: Sequence[Taint]) -> list[Taint]:
        """Taints that would keep our own pods off: the DaemonSets do not have them yet. What all
        nodes carry already stays."""
        carried = [set(taints_of(node)) for node in self.nodes]
        coming = [taint for taint in taints if not all(taint in each for each in carried)]
        if not coming:
            return []
        labels = f"{PART_OF_LABEL}={self.prepared.applyset_id}"
        found = self.client.list(self.client.kind("apps/v1", "DaemonSet"), labels=labels).items
        specs = [daemonset["spec"]["template"]["spec"] for daemonset in found]
        return [
            taint
            for taint in coming
            if not all(is_tolerated(taint, elements(spec, "tolerations")) for spec in specs)
        ]

    def _refuse_missing_rights(self, planned: PlannedPartition) -> None:
        rights = of_record(self.recipe, exists=True)
        rights |= of_changes(self.client.kind, planned.classes)
        if planned.patches:
            rights[access(self.client.kind("v1", "Node"), None, "patch")] = set()
        refuse_lacking(self.client, rights, f"partition the nodes of {self.recipe}")

    def _refuse_to_end_own_pods(self, taints: Sequence[Taint]) -> None:
        """NoExecute counts for pods that run, too: those of OnDelete DaemonSets are of the template
        of their time."""
        ending = [taint for taint in taints if taint.effect == NO_EXECUTE]
        if not ending:
            return
        pods = self._own_pods()
        for taint in ending:
            ended = sorted(
                pod["metadata"]["name"]
                for pod in pods
                if not is_tolerated(taint, elements(pod["spec"], "tolerations"))
            )
            if ended:
                raise EnablementError(
                    f"{taint} would end {len(ended)} pods of {self.recipe} itself",
                    where=name_some(ended, _SHOWN),
                    why="they were made before their DaemonSet tolerated it",
                    todo="delete them one after the other when nobody uses their devices, or take NoSchedule",
                )

    def _own_pods(self) -> list[Obj]:
        """The recipe's pods on the nodes; the label alone is anybody's."""
        names = {node["metadata"]["name"] for node in self.nodes}
        listed = self.client.list(
            self.client.kind("v1", "Pod"),
            labels=f"{RECIPE_LABEL}={self.recipe}",
            fields=LIVING,
            kept=_OWN_PODS,
        ).items
        namespaces = self.prepared.namespaces
        ours = [pod for pod in listed if pod["metadata"]["namespace"] in namespaces]
        return [pod for pod in ours if pod["spec"].get("nodeName") in names]

    def _record(self) -> None:
        self.guard.before_write()
        record_store.ensure_definition(self.client)
        live = record_store.read(self.client, self.recipe)
        if live is None:
            return
        spec = {name: value for name, value in live["spec"].items() if name != "taints"}
        if self.prepared.taints:
            spec["taints"] = [taint.to_object() for taint in self.prepared.taints]
        record_store.write(
            self.client,
            record_spec.with_spec(live, self.recipe, self.prepared.applyset_id, spec),
        )

    def _lines(self, patches: Mapping[str, Obj], untolerated: Sequence[Taint]) -> list[str]:
        taints = ", ".join(map(str, self.prepared.taints)) or "no taints of ours"
        would = "would be " if self.context.check_mode else ""
        lines = []
        if patches:
            lines.append(f"{taints} {would}on {count_nodes(patches)}")
            lines += filter(None, map(self._who_tolerates, self.prepared.taints))
        if untolerated:
            names = ", ".join(map(str, untolerated))
            lines.append(
                f"{names} comes when the DaemonSets of {self.recipe} tolerate it, for which that is enabled again"
            )
        return lines

    def _who_tolerates(self, taint: Taint) -> str:
        """What somebody has to know whose pods are to run there."""
        if taint.key not in self.prepared.recipe.devices.resources:
            return f"pods that are to run there have to tolerate {taint}"
        if self._is_given(taint.key) is False:
            return (
                f"pods that ask for {taint.key} have to tolerate {taint}: this API server does not add it"
                " (admission plugin ExtendedResourceToleration)"
            )
        return ""

    def _is_given(self, resource: str) -> bool | None:
        """Whether the API server lets pods tolerate a taint named like the resource that they ask
        for; None where that is not told. A dry run."""
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": _PROBE, "namespace": self.prepared.namespace},
            "spec": {
                "containers": [
                    {
                        "name": "probe",
                        "image": _PROBE,
                        "resources": {"limits": {resource: "1"}},
                    }
                ]
            },
        }
        try:
            made = self.client.create(pod, dry_run=True)
        except ApiError:
            return None
        return any(entry.get("key") == resource for entry in elements(made["spec"], "tolerations"))


TASK = Task(NodePartitionRequest, run)
