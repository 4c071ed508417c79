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
from .node_topology import FINGERPRINT, NodeTopology
from .numa_cluster import (
    CONFIG_MAPS,
    DEFINITION,
    ERROR,
    KUBELETS,
    TOPOLOGIES,
    WARNING,
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
    if not cluster.serves_topologies:
        yield Mismatch("not served", "served", object=f"CustomResourceDefinition {NAME}")


def _stored(cluster: NumaCluster) -> Iterator[Mismatch]:
    if cluster.serves_topologies and list(cluster.stored) != [STORED_VERSION]:
        yield Mismatch(
            ", ".join(cluster.stored) or "none",
            STORED_VERSION,
            object=f"CustomResourceDefinition {NAME}",
        )


def _missing(cluster: NumaCluster) -> Iterator[Mismatch]:
    for node in cluster.nodes:
        if node not in cluster.topologies:
            covered = any(exporter.on(node) for exporter in cluster.exporters)
            detected = "none" if covered else "none, and no exporter is on the node"
            yield Mismatch(detected, "an object with the node's name", node=node)


def _stale(cluster: NumaCluster) -> Iterator[Mismatch]:
    for name in sorted(cluster.topologies.keys() - cluster.all_nodes):
        yield Mismatch("no node has its name", "a node", object=f"NodeResourceTopology {name}")


def _without_exporter(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        if cluster.exporters and not any(each.on(topology.node) for each in cluster.exporters):
            yield Mismatch("no exporter is on the node", "one", node=topology.node)


def _policy(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        kubelet = cluster.kubelets.get(topology.node)
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
        allocatable = cluster.nodes[topology.node].allocatable
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
        period = _period_s(cluster, topology)
        if period is None or topology.written is None or topology.created is None:
            continue
        mean = (topology.written - topology.created) / max(topology.generation - 1, 1)
        age = cluster.now - topology.written
        writes_always = topology.generation >= _WRITES and mean <= _MEAN_PERIODS * period
        if writes_always and age > max(_MISSED_PERIODS * period, _SHORTEST_S):
            yield Mismatch(
                f"written {age:.0f} s ago", f"every {period:g} s, as before", node=topology.node
            )


def _period_s(cluster: NumaCluster, topology: NodeTopology) -> float | None:
    return next(
        (exporter.refresh_s for exporter in cluster.exporters if exporter.on(topology.node)), None
    )


def _has_fingerprint(cluster: NumaCluster) -> Iterator[Mismatch]:
    if cluster.schedulers and not cluster.caches:
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
    for scheduler, profile in cluster.profiles:
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
        excludes = _excludes(cluster.exporters, topology.node)
        # An exporter may not have seen yet what has just been bound, nor the scheduler what has
        # just started.
        sets = (here, [pod for pod in here if pod.phase == "Running"])
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
    for pod in cluster.pods:
        if pod.is_bound and not pod.has_ended:
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
        _NRT,
        "API",
        "without the API nobody can say, nor know, what a NUMA node has",
        "run the playbook numa",
        _api,
    ),
    NumaCheck(
        "topology-api-stored-version",
        WARNING,
        _NRT,
        "stored version",
        "v1alpha1 has no attributes: what is stored in it says neither policy nor fingerprint",
        "have all objects written anew, then correct status.storedVersions of the CustomResourceDefinition",
        _stored,
        frozenset({TOPOLOGIES, DEFINITION}),
    ),
    NumaCheck(
        "topology-missing",
        ERROR,
        _NRT,
        "object of the node",
        "a node without an object takes pods without a look at its zones",
        "read the log of the exporter's pod on the node; where it has none, see which nodes the DaemonSet selects",
        _missing,
        _NEEDS,
    ),
    NumaCheck(
        "topology-stale-node",
        WARNING,
        _NRT,
        "node of the object",
        "objects of nodes that left are not removed by themselves, and mislead who reads them",
        "delete the object, or run the playbook numa",
        _stale,
        _NEEDS,
    ),
    NumaCheck(
        "topology-without-exporter",
        ERROR,
        _NRT,
        "exporter of the node",
        "nobody keeps the object up to date, and the scheduler goes on believing it",
        "let an exporter's DaemonSet select the node, or delete the object",
        _without_exporter,
        _NEEDS,
    ),
    NumaCheck(
        "topology-policy-differs",
        ERROR,
        _NRT,
        "policy and scope",
        "the scheduler places pods by what the object says, the kubelet admits them by what it runs",
        "run the playbook numa again, and see that the exporter's pod on the node has been replaced",
        _policy,
        frozenset({TOPOLOGIES, KUBELETS}),
    ),
    NumaCheck(
        "topology-zones",
        ERROR,
        _NRT,
        "zones",
        "the scheduler skips zones of other names or types, so that no pod fits the node",
        "take an exporter that writes such names",
        _zones,
        _NEEDS,
    ),
    NumaCheck(
        "topology-exceeds-node",
        ERROR,
        _NRT,
        "zones in sum",
        "the scheduler would send pods for which the node has no room",
        "restart the exporter's pod on the node; see whether CPUs were reserved after it started",
        _total,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "topology-amounts",
        ERROR,
        _NRT,
        "amounts of a zone",
        "no zone has more free than it may give, nor more to give than it has",
        "restart the exporter's pod on the node, and read its log",
        _amounts,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "topology-not-refreshed",
        WARNING,
        _NRT,
        "age",
        "an object that was written at each period, and no longer is, tells of a past",
        "read the log of the exporter's pod on the node",
        _refreshed,
        _NEEDS,
        settles=True,
    ),
    NumaCheck(
        "fingerprint-missing",
        ERROR,
        "fingerprint",
        "attribute",
        "a scheduler with a cache never believes an object without one again, once it has placed pods there",
        "set a fingerprint method for the exporter (--pods-fingerprint)",
        _has_fingerprint,
        frozenset({TOPOLOGIES, CONFIG_MAPS}),
    ),
    NumaCheck(
        "fingerprint-malformed",
        ERROR,
        "fingerprint",
        "form",
        "the scheduler cannot compare it",
        "take an exporter that fits the scheduler",
        _well_formed,
        _NEEDS,
    ),
    NumaCheck(
        "fingerprint-method-differs",
        ERROR,
        "fingerprint",
        "method",
        "a fingerprint of other pods than the scheduler counts never equals its own",
        "set the scheduler's cache.resyncMethod to Autodetect, or the exporter's --pods-fingerprint-method",
        _method,
        _FINGERPRINT_NEEDS,
    ),
    NumaCheck(
        "fingerprint-differs",
        ERROR,
        "fingerprint",
        "pods of the node",
        "the object tells of other pods than are there, so that the scheduler does not take it up",
        "read the log of the exporter's pod on the node; compare memoryManagerPolicy and podExclude with the pods",
        _fingerprints,
        _FINGERPRINT_NEEDS,
        settles=True,
    ),
)
