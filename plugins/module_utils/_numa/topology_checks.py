# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the NodeResourceTopology objects, and of the fingerprints in them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from .._nodes.facts import quantity
from .fingerprints import ALL, EXCLUSIVE, WELL_FORMED, PodExclude, counted, fingerprint
from .node_topology import DEFINITION as NAME
from .node_topology import FINGERPRINT, NodeTopology, TopologyTimes
from .numa_cluster import (
    CONFIG_MAPS,
    DEFINITION,
    ERROR,
    KUBELETS,
    TOPOLOGIES,
    WARNING,
    CheckText,
    Mismatch,
    NumaCheck,
    NumaCluster,
)
from .numa_workloads import Exporter
from .pods_on_nodes import NumaPod

STORED_VERSION = "v1alpha2"
# An exporter that has written this often, in the mean at least every second period, writes also
# where nothing has changed; it is missed after so many periods, and not before a minute.
_WRITES, _MEAN_PERIODS, _MISSED_PERIODS, _SHORTEST_S = 20, 2, 6, 60.0
# scheduler-plugins, CacheResyncMethod -> the exporter's method that fits.
_METHODS = {"All": ALL, "OnlyExclusiveResources": EXCLUSIVE}


def _api(cluster: NumaCluster) -> Iterator[Mismatch]:
    if not cluster.topologies.are_served:
        yield Mismatch("not served", "served", object=f"CustomResourceDefinition {NAME}")


def _stored(cluster: NumaCluster) -> Iterator[Mismatch]:
    if cluster.topologies.are_served and list(cluster.topologies.stored) != [STORED_VERSION]:
        yield Mismatch(
            ", ".join(cluster.topologies.stored) or "none",
            STORED_VERSION,
            object=f"CustomResourceDefinition {NAME}",
        )


def _missing(cluster: NumaCluster) -> Iterator[Mismatch]:
    for node in cluster.nodes.facts:
        if node not in cluster.topologies.by_node:
            covered = any(exporter.on(node) for exporter in cluster.workloads.exporters)
            detected = "none" if covered else "none, and no exporter is on the node"
            yield Mismatch(detected, "an object with the node's name", node=node)


def _stale(cluster: NumaCluster) -> Iterator[Mismatch]:
    for name in sorted(cluster.topologies.by_node.keys() - cluster.nodes.all_names):
        yield Mismatch("no node has its name", "a node", object=f"NodeResourceTopology {name}")


def _without_exporter(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        if cluster.workloads.exporters and not any(
            each.on(topology.node) for each in cluster.workloads.exporters
        ):
            yield Mismatch("no exporter is on the node", "one", node=topology.node)


def _policy(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        kubelet = cluster.kubelets.running.get(topology.node)
        if kubelet:
            found = f"{topology.policy}, {topology.scope}"
            runs = f"{kubelet['topology_manager_policy']}, {kubelet['topology_manager_scope']}"
            if found != runs:
                yield Mismatch(found, f"{runs}, as the kubelet runs", node=topology.node)


def _zones(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        unread = [zone.name for zone in topology.zones if not zone.is_read]
        if unread or not topology.zones:
            yield Mismatch(
                ", ".join(unread) or "none",
                "zones node-0, node-1, ... of type Node",
                node=topology.node,
            )


def _total(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        allocatable = cluster.nodes.facts[topology.node].allocatable
        for resource in sorted(topology.resource_names):
            # Of memory, kubelet and exporter count differently.
            if resource == "cpu" or "/" in resource:
                found, most = topology.total(resource), quantity(allocatable.get(resource))
                if found > most:
                    yield Mismatch(
                        f"{found:g} {resource}", f"at most {most:g}, the node's", node=topology.node
                    )


def _amounts(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        for zone in topology.zones:
            for name, found in zone.resources.items():
                if not 0 <= found.available <= found.allocatable <= found.capacity:
                    yield Mismatch(
                        f"{zone.name}, {name}: {found.available:g} of {found.allocatable:g} of {found.capacity:g}",
                        "available within allocatable within capacity",
                        node=topology.node,
                    )


def _refreshed(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        times, period = topology.times, _period_s(cluster, topology)
        if period is None or times.written is None or not _was_refreshed(times, period):
            continue
        since = cluster.now - times.written
        if since > max(_MISSED_PERIODS * period, _SHORTEST_S):
            yield Mismatch(
                f"written {since:.0f} s ago", f"every {period:g} s, as before", node=topology.node
            )


def _was_refreshed(times: TopologyTimes, period: float) -> bool:
    """Whether an object was written about at each period so far."""
    mean = times.mean_s
    return mean is not None and times.generation >= _WRITES and mean <= _MEAN_PERIODS * period


def _period_s(cluster: NumaCluster, topology: NodeTopology) -> float | None:
    return next(
        (
            exporter.refresh_s
            for exporter in cluster.workloads.exporters
            if exporter.on(topology.node)
        ),
        None,
    )


def _has_fingerprint(cluster: NumaCluster) -> Iterator[Mismatch]:
    if cluster.workloads.schedulers and not cluster.workloads.caches:
        return
    for topology in cluster.looked_at:
        if not topology.fingerprint:
            yield Mismatch("none", f"the attribute {FINGERPRINT}", node=topology.node)


def _well_formed(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        if topology.fingerprint and not WELL_FORMED.fullmatch(topology.fingerprint):
            yield Mismatch(topology.fingerprint[:40], "pfp0v001 and 16 digits", node=topology.node)
        elif topology.method not in (ALL, EXCLUSIVE):
            yield Mismatch(topology.method[:40], f"{ALL} or {EXCLUSIVE}", node=topology.node)


def _method(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler, profile in cluster.workloads.profiles:
        wanted = _METHODS.get(profile.resync_method)
        for topology in cluster.looked_at if profile.caches and wanted else ():
            if topology.fingerprint and topology.method != wanted:
                yield Mismatch(
                    topology.method,
                    f"{wanted}, as {profile.name} of {scheduler.status} takes it",
                    node=topology.node,
                )


def _fingerprints(cluster: NumaCluster) -> Iterator[Mismatch]:
    pods = _bound(cluster)
    for topology in cluster.looked_at:
        if not WELL_FORMED.fullmatch(topology.fingerprint):
            continue
        here = pods.get(topology.node, [])
        excludes = _excludes(cluster.workloads.exporters, topology.node)
        # An exporter may not have seen yet what has just been bound, nor the scheduler what has
        # just started.
        sets = (here, [pod for pod in here if pod.status.phase == "Running"])
        computed = [
            fingerprint(counted(each, topology.method, topology.resource_names, excludes))
            for each in sets
        ]
        if topology.fingerprint not in computed:
            counts = len(counted(here, topology.method, topology.resource_names, excludes))
            yield Mismatch(
                topology.fingerprint,
                f"{computed[0]} of the {counts} pods that count ({topology.method})",
                node=topology.node,
            )


def _bound(cluster: NumaCluster) -> dict[str, list[NumaPod]]:
    """Node -> its pods that hold something."""
    found: dict[str, list[NumaPod]] = defaultdict(list)
    for pod in cluster.workloads.pods:
        if pod.placement.is_bound and not pod.status.has_ended:
            found[pod.node].append(pod)
    return found


def _excludes(exporters: Sequence[Exporter], node: str) -> tuple[PodExclude, ...]:
    """What the exporter of a node leaves out."""
    return next((each.config.excludes for each in exporters if each.on(node)), ())


_NEEDS = frozenset({TOPOLOGIES})
_FINGERPRINT_NEEDS = frozenset({TOPOLOGIES, CONFIG_MAPS})
_NRT = "NodeResourceTopology"

CHECKS = (
    NumaCheck(
        "topology-api",
        ERROR,
        CheckText(
            _NRT,
            "API",
            "without the API nobody can say, nor know, what a NUMA node has",
            "run the playbook numa",
        ),
        _api,
    ),
    NumaCheck(
        "topology-api-stored-version",
        WARNING,
        CheckText(
            _NRT,
            "stored version",
            "v1alpha1 has no attributes: what is stored in it says neither policy nor fingerprint",
            "have all objects written anew, then correct status.storedVersions of the CustomResourceDefinition",
        ),
        _stored,
        frozenset({TOPOLOGIES, DEFINITION}),
    ),
    NumaCheck(
        "topology-missing",
        ERROR,
        CheckText(
            _NRT,
            "object of the node",
            "a node without an object takes pods without a look at its zones",
            "read the log of the exporter's pod on the node; where it has none, see which nodes the DaemonSet selects",
        ),
        _missing,
        _NEEDS,
    ),
    NumaCheck(
        "topology-stale-node",
        WARNING,
        CheckText(
            _NRT,
            "node of the object",
            "objects of nodes that left are not removed by themselves, and mislead who reads them",
            "delete the object, or run the playbook numa",
        ),
        _stale,
        _NEEDS,
    ),
    NumaCheck(
        "topology-without-exporter",
        ERROR,
        CheckText(
            _NRT,
            "exporter of the node",
            "nobody keeps the object up to date, and the scheduler goes on believing it",
            "let an exporter's DaemonSet select the node, or delete the object",
        ),
        _without_exporter,
        _NEEDS,
    ),
    NumaCheck(
        "topology-policy-differs",
        ERROR,
        CheckText(
            _NRT,
            "policy and scope",
            "the scheduler places pods by what the object says, the kubelet admits them by what it runs",
            "run the playbook numa again, and see that the exporter's pod on the node has been replaced",
        ),
        _policy,
        frozenset({TOPOLOGIES, KUBELETS}),
    ),
    NumaCheck(
        "topology-zones",
        ERROR,
        CheckText(
            _NRT,
            "zones",
            "the scheduler skips zones of other names or types, so that no pod fits the node",
            "take an exporter that writes such names",
        ),
        _zones,
        _NEEDS,
    ),
    NumaCheck(
        "topology-exceeds-node",
        ERROR,
        CheckText(
            _NRT,
            "zones in sum",
            "the scheduler would send pods for which the node has no room",
            "restart the exporter's pod on the node; see whether CPUs were reserved after it started",
        ),
        _total,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "topology-amounts",
        ERROR,
        CheckText(
            _NRT,
            "amounts of a zone",
            "no zone has more free than it may give, nor more to give than it has",
            "restart the exporter's pod on the node, and read its log",
        ),
        _amounts,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "topology-not-refreshed",
        WARNING,
        CheckText(
            _NRT,
            "age",
            "an object that was written at each period, and no longer is, tells of a past",
            "read the log of the exporter's pod on the node",
        ),
        _refreshed,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "fingerprint-missing",
        ERROR,
        CheckText(
            "fingerprint",
            "attribute",
            "a scheduler with a cache never believes an object without one again, once it has placed pods there",
            "set a fingerprint method for the exporter (--pods-fingerprint)",
        ),
        _has_fingerprint,
        frozenset({TOPOLOGIES, CONFIG_MAPS}),
    ),
    NumaCheck(
        "fingerprint-malformed",
        ERROR,
        CheckText(
            "fingerprint",
            "form",
            "the scheduler cannot compare it",
            "take an exporter that fits the scheduler",
        ),
        _well_formed,
        _NEEDS,
    ),
    NumaCheck(
        "fingerprint-method-differs",
        ERROR,
        CheckText(
            "fingerprint",
            "method",
            "a fingerprint of other pods than the scheduler counts never equals its own",
            "set the scheduler's cache.resyncMethod to Autodetect, or the exporter's --pods-fingerprint-method",
        ),
        _method,
        _FINGERPRINT_NEEDS,
    ),
    NumaCheck(
        "fingerprint-differs",
        ERROR,
        CheckText(
            "fingerprint",
            "pods of the node",
            "the object tells of other pods than are there, so that the scheduler does not take it up",
            "read the log of the exporter's pod on the node; compare memoryManagerPolicy and podExclude with the pods",
        ),
        _fingerprints,
        _FINGERPRINT_NEEDS,
        settles=True,
    ),
)
