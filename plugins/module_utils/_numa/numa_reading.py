# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All that checks of NUMA look at, read of a cluster; reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .._cluster.api_client.api_errors import ApiError, Forbidden, Unauthorized
from .._cluster.api_client.client import Client
from .._cluster.api_objects.controller_references import is_made_by, is_made_for
from .._cluster.api_objects.object_shapes import mismatch_of
from .._json import Obj, elements, parse_json, part
from .._nodes.facts import NodeFacts
from .._nodes.pools import NodePool
from .._nodes.selectors import LabelSet, label_selector, matches
from .._times import seconds
from .kubelet_pools import Declaration
from .kubelet_reading import nodes_by_pool, read_declarations, read_kubelets, read_pools
from .node_topology import API_VERSION, KIND, NodeTopology
from .node_topology import DEFINITION as DEFINITION_NAME
from .numa_cluster import (
    CONFIG_MAPS,
    DECLARATIONS,
    DEFINITION,
    DUMPS,
    KUBELETS,
    LEASES,
    TOPOLOGIES,
    CacheDump,
    KubeletFacts,
    NumaCluster,
    NumaNodes,
    NumaWorkloads,
    ReadingOutcome,
    TopologyFacts,
)
from .numa_workloads import (
    DUMPS_CONTAINER,
    Exporter,
    LeaseFacts,
    Scheduler,
    WorkloadStatus,
    config_maps_of,
    program_of,
    read_exporter_config,
    read_scheduler_config,
    refresh_s,
    template_spec,
)
from .pods_on_nodes import KEPT, NumaPod

T = TypeVar("T")

# cache-dumps prints all dumps again every 10 minutes.
_DUMPS_SINCE_S = 660
_MOST_DUMPS_BYTES = 64 * 2**20
_AT_A_TIME = 8


@dataclass(frozen=True)
class WorkloadScope:
    """Where DaemonSets or Deployments are, and their labels."""

    namespace: str
    labels: Mapping[str, str]


@dataclass(frozen=True)
class NumaScope:
    """What is to be looked at, and where it is. selector: label sets of nodes; pools: as a person
    gives them."""

    selector: Sequence[LabelSet]
    pools: tuple[NodePool, ...]
    exporters: WorkloadScope
    schedulers: WorkloadScope
    reads_kubelets: bool
    at_a_time: int


class NumaReader:
    """Reads a cluster as often as it is asked to, its kubelets once."""

    def __init__(self, client: Client, scope: NumaScope, clock: Callable[[], float]) -> None:
        self._client, self._scope, self._clock = client, scope, clock
        self._asked: tuple[Mapping[str, Obj], Mapping[str, str]] | None = None
        self._reading = ReadingOutcome()

    def read(self) -> NumaCluster:
        """The cluster as it is now. Raises ApiError where nodes, pods or workloads cannot be read."""
        self._reading = ReadingOutcome()
        version = self._client.version()
        serves = self._client.serves(API_VERSION, KIND)
        every, pods, daemons, deployments, topologies = self._lists(serves=serves)
        facts = [NodeFacts.from_object(node) for node in every]
        workloads = self._workloads(pods, daemons, deployments)
        nodes, declarations = self._nodes(facts, workloads.exporters)
        running, silent = self._kubelets([*nodes.facts.values()])
        return NumaCluster(
            now=self._clock(),
            version=_version(version),
            nodes=nodes,
            kubelets=KubeletFacts(running, silent, declarations),
            topologies=self._topologies(topologies, are_served=serves),
            workloads=workloads,
            reading=self._reading,
        )

    def _workloads(
        self, pods: Sequence[Obj], daemons: Sequence[Obj], deployments: Sequence[Obj]
    ) -> NumaWorkloads:
        """Pods, and the exporters and schedulers that some of them are of."""
        exporters = [self._exporter(daemon, pods) for daemon in daemons]
        schedulers = [self._scheduler(deployment, pods) for deployment in deployments]
        found = [NumaPod.from_object(pod) for pod in pods]
        return NumaWorkloads(found, exporters, schedulers, self._dumps(schedulers))

    def _nodes(
        self, facts: Sequence[NodeFacts], exporters: Sequence[Exporter]
    ) -> tuple[NumaNodes, Sequence[Declaration]]:
        """The nodes that are looked at in their pools, and what is declared of their kubelets."""
        chosen = _chosen(self._scope, sorted(facts, key=lambda node: node.name), exporters)
        pools, declarations = self._pools(chosen)
        if self._scope.pools:
            chosen = [node for node in chosen if any(pool.has(node.labels) for pool in pools)]
        nodes = NumaNodes(
            facts={node.name: node for node in chosen},
            pools=nodes_by_pool(pools, chosen),
            all_names=frozenset(node.name for node in facts),
        )
        return nodes, declarations

    def _topologies(self, topologies: Iterable[Obj], *, are_served: bool) -> TopologyFacts:
        known = []
        for each in topologies:
            if wrong := mismatch_of(each):
                self._reading.unread[f"NodeResourceTopology {each['metadata']['name']}"] = wrong
            else:
                known.append(NodeTopology.from_object(each))
        by_node = {each.node: each for each in known}
        return TopologyFacts(by_node, are_served, self._stored() if are_served else ())

    def _lists(self, *, serves: bool) -> list[list[Obj]]:
        """Nodes, pods, DaemonSets, Deployments and topologies, side by side."""
        client, scope = self._client, self._scope
        calls = [
            lambda: client.list(client.kind("v1", "Node"), leanly=True),
            lambda: client.list(
                client.kind("v1", "Pod"), fields="status.phase!=Succeeded", kept=KEPT
            ),
            lambda: client.list(
                client.kind("apps/v1", "DaemonSet"),
                namespace=scope.exporters.namespace,
                labels=label_selector(scope.exporters.labels),
            ),
            lambda: client.list(
                client.kind("apps/v1", "Deployment"),
                namespace=scope.schedulers.namespace,
                labels=label_selector(scope.schedulers.labels),
            ),
        ]
        if serves:
            calls.append(lambda: client.list(client.kind(API_VERSION, KIND), each_alone=True))
        found = []
        for answer in client.parallel(calls, workers=_AT_A_TIME):
            if isinstance(answer, ApiError):
                raise answer
            found.append(answer.items)
        if not serves:
            self._reading.left_out[TOPOLOGIES] = "the cluster does not serve them"
            found.append([])
        return found

    def _exporter(self, daemon: Obj, pods: Sequence[Obj]) -> Exporter:
        status = WorkloadStatus.from_object(daemon)
        gates = elements(template_spec(daemon), "readinessGates")
        return Exporter(
            status=status,
            program=program_of(daemon),
            refresh_s=refresh_s(daemon),
            readiness_gates=tuple(gate["conditionType"] for gate in gates),
            config=read_exporter_config(self._texts(daemon)),
            pods=_numa_pods(pod for pod in pods if is_made_by(pod, daemon)),
        )

    def _scheduler(self, deployment: Obj, pods: Sequence[Obj]) -> Scheduler:
        containers = elements(template_spec(deployment), "containers")
        images = {container["name"]: container.get("image", "") for container in containers}
        dumps = images.pop(DUMPS_CONTAINER, None)
        config = read_scheduler_config(self._texts(deployment))
        return Scheduler(
            status=WorkloadStatus.from_object(deployment),
            image=next(iter(images.values()), ""),
            config=config,
            pods=_numa_pods(pod for pod in pods if is_made_for(pod, deployment)),
            lease=self._optional(LEASES, lambda: self._lease(config.lease), None),
            dumps=dumps is not None,
        )

    def _texts(self, workload: Obj) -> list[str]:
        """What is in the ConfigMaps that a workload's pods mount."""
        client, namespace = self._client, workload["metadata"]["namespace"]
        kind = client.kind("v1", "ConfigMap")

        def texts() -> list[str]:
            found = [client.get(kind, name, namespace) for name in config_maps_of(workload)]
            return [text for each in found if each for text in part(each, "data").values()]

        return self._optional(CONFIG_MAPS, texts, [])

    def _lease(self, place: tuple[str, str] | None) -> LeaseFacts | None:
        if place is None:
            return None
        namespace, name = place
        kind = self._client.kind("coordination.k8s.io/v1", "Lease")
        found = self._client.get(kind, name, namespace)
        if found is None:
            return None
        spec = part(found, "spec")
        renewed = seconds(spec.get("renewTime")) or 0.0
        return LeaseFacts(
            spec.get("holderIdentity") or "", renewed + (spec.get("leaseDurationSeconds") or 0)
        )

    def _stored(self) -> Sequence[str]:
        kind = self._client.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        found = self._optional(DEFINITION, lambda: self._client.get(kind, DEFINITION_NAME), None)
        return elements(found or {}, "status", "storedVersions")

    def _pools(
        self, nodes: Sequence[NodeFacts]
    ) -> tuple[tuple[NodePool, ...], Sequence[Declaration]]:
        pools, machine_config_pools = read_pools(self._client, self._scope.pools, nodes)
        return pools, self._optional(
            DECLARATIONS, lambda: read_declarations(self._client, machine_config_pools, nodes), []
        )

    def _kubelets(self, nodes: Sequence[NodeFacts]) -> tuple[Mapping[str, Obj], Mapping[str, str]]:
        if not self._scope.reads_kubelets:
            self._reading.left_out[KUBELETS] = "they were not asked"
            return {}, {}
        if self._asked is None:
            self._asked = self._optional(
                KUBELETS,
                lambda: read_kubelets(self._client, nodes, self._scope.at_a_time),
                None,
            )
        return self._asked or ({}, {})

    def _dumps(self, schedulers: Sequence[Scheduler]) -> dict[str, CacheDump]:
        printing = [scheduler for scheduler in schedulers if scheduler.dumps]
        if schedulers and not printing:
            self._reading.left_out[DUMPS] = "the scheduler does not print it"
        found: dict[str, CacheDump] = {}
        for scheduler in printing:
            for pod in _leaders(scheduler):
                try:
                    log = self._client.whole_log(
                        pod.namespace,
                        pod.name,
                        DUMPS_CONTAINER,
                        _MOST_DUMPS_BYTES,
                        since_s=_DUMPS_SINCE_S,
                    )
                except ApiError as error:
                    self._reading.unread[DUMPS] = str(error)
                else:
                    found |= read_dumps(log.splitlines())
        return found

    def _optional(self, what: str, call: Callable[[], T], otherwise: T) -> T:
        """What a call gives; where it is forbidden, that is noted."""
        try:
            return call()
        except (Forbidden, Unauthorized) as error:
            self._reading.unread[what] = str(error)
            return otherwise


def read_dumps(lines: Iterable[str]) -> dict[str, CacheDump]:
    """Node -> what was printed of it last. Lines that are cut, or no dump, are passed over.

    Form: {"node": NAME, "dump": STATUS}, with podfingerprint's Status (tracing.go) as JSON.
    """
    found: dict[str, CacheDump] = {}
    for line in lines:
        try:
            entry = parse_json(line)
            dump = entry["dump"]
            # The file's name has _ for the dots of the node's.
            found[str(dump.get("nodeName") or entry["node"])] = CacheDump(
                str(dump.get("fingerprintExpected", "")),
                str(dump.get("fingerprintComputed", "")),
                frozenset(_pod(pod) for pod in elements(dump, "pods")),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            continue
    return found


def _pod(pod: Mapping[str, Any]) -> tuple[str, str]:
    """Go writes the fields' names as they are; others write them small."""
    return (
        str(pod.get("Namespace") or pod.get("namespace")),
        str(pod.get("Name") or pod.get("name")),
    )


def _leaders(scheduler: Scheduler) -> list[NumaPod]:
    """The pod that leads; all that run, where none is known to."""
    running = [pod for pod in scheduler.pods if pod.status.phase == "Running"]
    holder = scheduler.lease.holder.partition("_")[0] if scheduler.lease else ""
    return [pod for pod in running if pod.name == holder] or running


def _numa_pods(pods: Iterable[Obj]) -> tuple[NumaPod, ...]:
    return tuple(NumaPod.from_object(pod) for pod in pods)


def _chosen(
    scope: NumaScope, nodes: Sequence[NodeFacts], exporters: Sequence[Exporter]
) -> list[NodeFacts]:
    """The nodes that are looked at: those that are asked for, else those of exporters, else all."""
    if scope.selector:
        return [node for node in nodes if matches(node.labels, scope.selector)]
    covered = {name for exporter in exporters for name in exporter.nodes}
    if scope.pools or not covered:
        return list(nodes)
    return [node for node in nodes if node.name in covered]


def _version(found: Mapping[str, Any]) -> tuple[int, int]:
    """Some clusters write "28+" as minor version."""
    return int(found.get("major") or 0), int(str(found.get("minor") or 0).rstrip("+"))
