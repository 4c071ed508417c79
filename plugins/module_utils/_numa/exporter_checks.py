# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the exporters: their DaemonSets and pods. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .numa_cluster import CONFIG_MAPS, ERROR, WARNING, CheckText, Mismatch, NumaCheck, NumaCluster
from .numa_workloads import READINESS_GATES, RTE, WorkloadStatus
from .pods_on_nodes import NumaPod


def _there(cluster: NumaCluster) -> Iterator[Mismatch]:
    if not cluster.workloads.exporters:
        yield Mismatch("none", "a DaemonSet", object="the exporter's namespace")


def _selects(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        if exporter.status.observed >= exporter.status.generation and not exporter.status.wanted:
            yield Mismatch("no node", "one or more", object=str(exporter.status))


def _rolled_out(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        yield from rolled_out(exporter.status)


def rolled_out(status: WorkloadStatus) -> Iterator[Mismatch]:
    """A mismatch where the newest template is not that of all pods."""
    if status.observed < status.generation:
        yield Mismatch(
            f"generation {status.observed} observed", str(status.generation), object=str(status)
        )
    elif status.updated != status.wanted:
        yield Mismatch(f"{status.updated} pods updated", f"{status.wanted}", object=str(status))


def _pods(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        for pod in exporter.pods:
            yield from ready(pod)


def ready(pod: NumaPod) -> Iterator[Mismatch]:
    """A mismatch where a pod does not run, or is not ready."""
    if pod.status.phase != "Running" or not pod.status.is_ready:
        gates = [
            f"{type_} {status}{f' ({reason})' if reason else ''}"
            for type_, (status, reason, _message) in sorted(pod.status.conditions.items())
            if type_ in READINESS_GATES and status != "True"
        ]
        detected = ", ".join(
            [pod.status.phase if pod.status.phase != "Running" else "not ready", *gates]
        )
        yield Mismatch(detected, "Running and ready", node=pod.node, object=str(pod))


def _gates(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        missing = [gate for gate in READINESS_GATES if gate not in exporter.readiness_gates]
        if exporter.program == RTE and missing:
            yield Mismatch(
                f"without {', '.join(missing)}", "readiness gates", object=str(exporter.status)
            )


def _one_each(cluster: NumaCluster) -> Iterator[Mismatch]:
    found: dict[str, list[str]] = defaultdict(list)
    for exporter in cluster.workloads.exporters:
        for node in {
            pod.node for pod in exporter.pods if not pod.status.has_ended
        } & cluster.nodes.facts.keys():
            found[node].append(str(exporter.status))
    for node, names in sorted(found.items()):
        if len(names) > 1:
            yield Mismatch(" and ".join(names), "one exporter", node=node)


def _config(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        if exporter.config.problem:
            yield Mismatch(exporter.config.problem, "YAML", object=str(exporter.status))


_EXPORTER = "exporter"

CHECKS = (
    NumaCheck(
        "exporter-missing",
        ERROR,
        CheckText(
            _EXPORTER,
            "DaemonSet",
            "without exporters nobody says what the NUMA nodes have",
            "run the playbook numa; for exporters of another origin, give namespace and exporter_labels",
        ),
        _there,
    ),
    NumaCheck(
        "exporter-selects-nothing",
        ERROR,
        CheckText(
            _EXPORTER,
            "node selector",
            "a DaemonSet that selects no node is complete with no pod",
            "correct the pool's selector, or the labels of the nodes",
        ),
        _selects,
    ),
    NumaCheck(
        "exporter-rollout",
        ERROR,
        CheckText(
            _EXPORTER,
            "rollout",
            "pods of an older template publish by an older configuration",
            "wait; where it does not end, see why the pods cannot be replaced",
        ),
        _rolled_out,
        settles=True,
    ),
    NumaCheck(
        "exporter-not-ready",
        ERROR,
        CheckText(
            _EXPORTER,
            "pod",
            "an exporter that is not ready has not read the kubelet, or not written the object",
            "read the log of the pod",
        ),
        _pods,
        settles=True,
    ),
    NumaCheck(
        "exporter-readiness-gates",
        WARNING,
        CheckText(
            _EXPORTER,
            "readiness gates",
            "without them a pod is ready before, and although, it writes nothing",
            "give the pods the readiness gates PodresourcesFetched and NodeTopologyUpdated",
        ),
        _gates,
    ),
    NumaCheck(
        "exporter-duplicate",
        ERROR,
        CheckText(
            _EXPORTER,
            "exporters of the node",
            "two exporters write over each other",
            "change a selector so that each node is in one pool",
        ),
        _one_each,
    ),
    NumaCheck(
        "exporter-config-unreadable",
        ERROR,
        CheckText(
            _EXPORTER,
            "ConfigMap",
            "the exporter goes on without policy and excludes, or does not start",
            "run the playbook numa again",
        ),
        _config,
        frozenset({CONFIG_MAPS}),
    ),
)
