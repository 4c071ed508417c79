# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the cluster and of its pods, and all checks by id. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from . import exporter_checks, kubelet_checks, scheduler_checks, topology_checks
from .numa_cluster import (
    CONFIG_MAPS,
    ERROR,
    INFO,
    KUBELETS,
    TOPOLOGIES,
    WARNING,
    CheckText,
    Mismatch,
    NumaCheck,
    NumaCluster,
)
from .pods_on_nodes import NumaPod
from .scheduler_checks import DEFAULT_SCHEDULER

_OLDEST = (1, 21)
_SINGLE = "single-numa-node"
_NEEDS = frozenset({CONFIG_MAPS, TOPOLOGIES})
# What the kubelet says of a pod that it does not take (k8s.io/kubernetes, pkg/kubelet/cm).
_REFUSALS = ("TopologyAffinityError", "UnexpectedAdmissionError", "SMTAlignmentError")


def _version(cluster: NumaCluster) -> Iterator[Mismatch]:
    if cluster.version < _OLDEST:
        major, minor = cluster.version
        yield Mismatch(f"{major}.{minor}", "{}.{} or newer".format(*_OLDEST))


def _nodes(cluster: NumaCluster) -> Iterator[Mismatch]:
    if not cluster.nodes.facts:
        yield Mismatch("none", "one or more")


def _unread(cluster: NumaCluster) -> Iterator[Mismatch]:
    for what, why in cluster.reading.unread.items():
        yield Mismatch(why, "an answer", object=what)


def _not_asked(cluster: NumaCluster) -> Iterator[Mismatch]:
    if KUBELETS in cluster.reading.left_out:
        yield Mismatch(cluster.reading.left_out[KUBELETS], "what they run")


def _refused(cluster: NumaCluster) -> Iterator[Mismatch]:
    for pod in cluster.workloads.pods:
        if (
            pod.node in cluster.nodes.facts
            and pod.status.phase == "Failed"
            and pod.status.reason in _REFUSALS
        ):
            yield Mismatch(
                f"{pod.status.reason} ({pod.status.message})"
                if pod.status.message
                else pod.status.reason,
                "taken by the kubelet",
                node=pod.node,
                object=str(pod),
            )


def _unknown_scheduler(cluster: NumaCluster) -> Iterator[Mismatch]:
    known = {
        DEFAULT_SCHEDULER,
        *(profile.name for _scheduler, profile in cluster.workloads.profiles),
    }
    known |= {pod.placement.scheduler for pod in cluster.workloads.pods if pod.placement.is_bound}
    for pod in cluster.workloads.pods:
        # A scheduler that has looked at a pod says so in this condition.
        waits = (
            pod.status.phase == "Pending"
            and not pod.placement.is_bound
            and "PodScheduled" not in pod.status.conditions
        )
        if waits and pod.placement.scheduler not in known:
            yield Mismatch(
                f"names {pod.placement.scheduler}", "a scheduler that is there", object=str(pod)
            )


def _aligned(cluster: NumaCluster) -> Iterator[tuple[NumaPod, frozenset[str]]]:
    """The guaranteed pods that the plugin places or has placed, with the scopes by which it does: that
    of its node, or of all nodes where it has none."""
    named = {profile.name for _s, profile in cluster.workloads.profiles if not profile.is_without}
    scopes = {
        topology.node: topology.scope
        for topology in cluster.looked_at
        if topology.policy == _SINGLE
    }
    for pod in cluster.workloads.pods:
        is_meant = pod.placement.scheduler in named and pod.resources.is_guaranteed
        if is_meant and not pod.status.has_ended:
            of_node = {scopes[pod.node]} if pod.node in scopes else set()
            yield pod, frozenset(of_node if pod.placement.is_bound else scopes.values())


def _sidecars(cluster: NumaCluster) -> Iterator[Mismatch]:
    for pod, scopes in _aligned(cluster):
        if scopes and pod.resources.of_sidecars:
            names = ", ".join(sorted(pod.resources.of_sidecars))
            yield Mismatch(f"{names} of sidecars", "none", node=pod.node, object=str(pod))


def _overhead(cluster: NumaCluster) -> Iterator[Mismatch]:
    for pod, scopes in _aligned(cluster):
        if "pod" in scopes and any(pod.resources.overhead.values()):
            names = ", ".join(sorted(pod.resources.overhead))
            yield Mismatch(f"an overhead of {names}", "none", node=pod.node, object=str(pod))


def _parts_of_cpus(cluster: NumaCluster) -> Iterator[Mismatch]:
    for pod, scopes in _aligned(cluster):
        if scopes and pod.resources.parts_of_cpus:
            amounts = ", ".join(f"{amount:g}" for amount in pod.resources.parts_of_cpus)
            yield Mismatch(
                f"containers with {amounts} CPUs", "whole ones", node=pod.node, object=str(pod)
            )


_CHECKS = (
    NumaCheck(
        "cluster-version",
        ERROR,
        CheckText(
            "cluster",
            "version",
            "older kubelets do not tell exporters what they have given to whom",
            "upgrade the cluster",
        ),
        _version,
    ),
    NumaCheck(
        "cluster-nodes",
        ERROR,
        CheckText(
            "cluster",
            "nodes",
            "where no node is looked at, nothing is checked",
            "correct selector or pools",
        ),
        _nodes,
    ),
    NumaCheck(
        "cluster-not-read",
        WARNING,
        CheckText(
            "cluster",
            "rights",
            "checks that need what could not be read did not run",
            "give the user of this run the rights of docs/admin/numa-validate.md",
        ),
        _unread,
    ),
    NumaCheck(
        "kubelets-not-asked",
        INFO,
        CheckText(
            "kubelet",
            "configuration",
            "checks of what kubelets run did not run",
            "set kubelets: true, for which the right to get nodes/proxy is needed",
        ),
        _not_asked,
    ),
    *kubelet_checks.CHECKS,
    *topology_checks.CHECKS,
    *exporter_checks.CHECKS,
    *scheduler_checks.CHECKS,
    NumaCheck(
        "pod-refused",
        WARNING,
        CheckText(
            "pod",
            "admission",
            "the scheduler sent a pod to a node whose kubelet could not align it",
            "see that the pod names the scheduler of its profile; then delete the pod",
        ),
        _refused,
    ),
    NumaCheck(
        "pod-unknown-scheduler",
        ERROR,
        CheckText(
            "pod",
            "schedulerName",
            "nobody places a pod that names a scheduler that is not there",
            "correct schedulerName of the pod",
        ),
        _unknown_scheduler,
        frozenset({CONFIG_MAPS}),
        settles=True,
    ),
    NumaCheck(
        "pod-sidecars-not-counted",
        WARNING,
        CheckText(
            "pod",
            "sidecars",
            "a kubelet counts sidecars beside the pod's other containers, the scheduler's plugin does not, so that "
            "it may send the pod where the kubelet refuses it (TopologyAffinityError)",
            "give the work of the sidecar to an ordinary container",
        ),
        _sidecars,
        _NEEDS,
    ),
    NumaCheck(
        "pod-overhead-counted",
        INFO,
        CheckText(
            "pod",
            "overhead",
            "under scope pod the scheduler's plugin wants it of the same NUMA node, a kubelet does not, so that the "
            "pod may wait for room that it does not need",
            "keep room for it, or take a RuntimeClass without overhead",
        ),
        _overhead,
        _NEEDS,
    ),
    NumaCheck(
        "pod-parts-of-cpus",
        INFO,
        CheckText(
            "pod",
            "CPUs",
            "a container that asks for a part of a CPU gets none of its own, while the scheduler's plugin wants all "
            "that is asked for of one NUMA node",
            "ask for whole CPUs in each container that is to be aligned",
        ),
        _parts_of_cpus,
        _NEEDS,
    ),
)
CHECKS = {check.id: check for check in _CHECKS}
