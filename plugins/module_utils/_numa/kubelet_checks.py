# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of what the kubelets run. Pure.

Rules: k8s.io/kubernetes v1.36, pkg/kubelet/cm (cpumanager, memorymanager, topologymanager)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from .kubelet_memory import memory_totals, reserved_hugepages, without_memory
from .kubelet_pools import pool_report
from .numa_cluster import (
    CONFIG_MAPS,
    DECLARATIONS,
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

SINGLE_NUMA_NODE = "single-numa-node"
_STATIC, _MEMORY_STATIC = "static", "Static"
# A change of what is free is noticed late, or looked for too often, outside of this.
_FASTEST_S, _SLOWEST_S = 1.0, 10.0
# Where these differ, pods of one pool are placed by different rules.
_ALIGNMENT = (
    "cpu_manager_policy",
    "cpu_manager_options",
    "memory_manager_policy",
    "topology_manager_policy",
    "topology_manager_scope",
    "topology_manager_options",
    "max_numa_nodes",
)
# Options of the static policy that refuse to start, or contradict, beside another setting.
_CONTRADICTIONS = (
    ("align-by-socket", "topology_manager_policy", SINGLE_NUMA_NODE),
    ("distribute-cpus-across-numa", "topology_manager_policy", SINGLE_NUMA_NODE),
    ("distribute-cpus-across-cores", "cpu_manager_options", "full-pcpus-only"),
)

Settings = Mapping[str, Any]


def _each(
    cluster: NumaCluster, wrong: Callable[[Settings], tuple[str, str] | None]
) -> Iterator[Mismatch]:
    """A mismatch for each kubelet of which wrong() gives (detected, expected)."""
    for node in cluster.nodes.facts:
        found = wrong(cluster.kubelets.running[node]) if node in cluster.kubelets.running else None
        if found:
            yield Mismatch(*found, node=node)


def _is(setting: str, wanted: str) -> Callable[[NumaCluster], Iterator[Mismatch]]:
    def wrong(kubelet: Settings) -> tuple[str, str] | None:
        return None if kubelet[setting] == wanted else (str(kubelet[setting]), wanted)

    return partial(_each, wrong=wrong)


def _silent(cluster: NumaCluster) -> Iterator[Mismatch]:
    for node in cluster.nodes.facts:
        if node in cluster.kubelets.silent:
            yield Mismatch(cluster.kubelets.silent[node], "an answer", node=node)


def _reconcile(kubelet: Settings) -> tuple[str, str] | None:
    period = kubelet["cpu_manager_reconcile_seconds"]
    if _FASTEST_S <= period <= _SLOWEST_S:
        return None
    return f"{period:g} s", f"{_FASTEST_S:g} s to {_SLOWEST_S:g} s"


def _cpus(kubelet: Settings) -> tuple[str, str] | None:
    amounts = (kubelet["kube_reserved"].get("cpu", 0), kubelet["system_reserved"].get("cpu", 0))
    if kubelet["reserved_cpus"] or any(amounts):
        return None
    return "nothing", "reservedSystemCPUs, or cpu in kubeReserved or systemReserved"


def _cpu_options(kubelet: Settings) -> tuple[str, str] | None:
    options = {name for name, value in kubelet["cpu_manager_options"].items() if value == "true"}
    for option, setting, beside in _CONTRADICTIONS:
        others = options if setting == "cpu_manager_options" else {kubelet[setting]}
        if option in options and beside in others:
            return f"{option} beside {beside}", f"one of {option} and {beside}"
    return None


def _topology_options(kubelet: Settings) -> tuple[str, str] | None:
    closest = kubelet["topology_manager_options"].get("prefer-closest-numa-nodes") == "true"
    if closest and kubelet["topology_manager_policy"] == SINGLE_NUMA_NODE:
        return f"prefer-closest-numa-nodes under {SINGLE_NUMA_NODE}", "no such option"
    return None


def _zones_at_most(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        kubelet = cluster.kubelets.running.get(topology.node)
        if kubelet and len(topology.zones) > kubelet["max_numa_nodes"]:
            yield Mismatch(
                str(kubelet["max_numa_nodes"]),
                f"{len(topology.zones)} or more, the NUMA nodes it has",
                node=topology.node,
            )


def _differs(cluster: NumaCluster, *, alignment: bool) -> Iterator[Mismatch]:
    for name, nodes in cluster.nodes.pools.items():
        for entry in pool_report(name, nodes, cluster.kubelets.running, [])["differs"]:
            if (entry["setting"] in _ALIGNMENT) == alignment:
                most, *others = entry["values"]
                for other in others:
                    for node in other["nodes"]:
                        detected = f"{entry['setting']} {_text(other['value'])}"
                        expected = f"{_text(most['value'])}, as most of the pool"
                        yield Mismatch(detected, expected, node=node, pool=name)


def _text(value: Any) -> str:
    return str(value) if value or value == 0 else "nothing"


def _exporter_config(cluster: NumaCluster) -> Iterator[Mismatch]:
    for exporter in cluster.workloads.exporters:
        for node in cluster.nodes.facts:
            kubelet = cluster.kubelets.running.get(node)
            if kubelet and exporter.on(node):
                for setting, published in (
                    ("topology_manager_policy", exporter.config.policy),
                    ("topology_manager_scope", exporter.config.scope),
                ):
                    if published and published != kubelet[setting]:
                        yield Mismatch(
                            f"the ConfigMap of {exporter.status} says {published}",
                            f"{setting} {kubelet[setting]}, as the kubelet runs",
                            node=node,
                        )


def _declared(cluster: NumaCluster) -> Iterator[Mismatch]:
    for name, nodes in cluster.nodes.pools.items():
        report = pool_report(name, nodes, cluster.kubelets.running, cluster.kubelets.declarations)
        for declared in report["declared"]:
            for entry in declared["differs"]:
                for node in entry["nodes"]:
                    yield Mismatch(
                        f"{entry['setting']} {_text(entry['running'])}",
                        f"{_text(entry['declared'])}, as {declared['source']} declares",
                        node=node,
                        pool=name,
                    )


_NEEDS = frozenset({KUBELETS})
_POOL_NEEDS = frozenset({KUBELETS, CONFIG_MAPS})
_CPU, _MEMORY, _TOPOLOGY = "CPU manager", "memory manager", "topology manager"
_RESTART = "correct the kubelet's configuration, remove its state file and restart it"

CHECKS = (
    NumaCheck(
        "kubelet-not-read",
        ERROR,
        CheckText(
            "kubelet",
            "configuration",
            "of a kubelet that does not say what it runs, nothing is known",
            "see why the node or its kubelet does not answer",
        ),
        _silent,
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-cpu-manager-policy",
        ERROR,
        CheckText(
            _CPU,
            "policy",
            "only the static policy gives CPUs of their own to pods",
            f"set cpuManagerPolicy: static; {_RESTART}",
        ),
        _is("cpu_manager_policy", _STATIC),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-cpu-manager-reconcile",
        WARNING,
        CheckText(
            _CPU,
            "reconcile period",
            "what the kubelet corrects seldom is wrong for long, and often costs CPU time",
            "set cpuManagerReconcilePeriod between 1s and 10s",
        ),
        partial(_each, wrong=_reconcile),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-cpu-reservation",
        ERROR,
        CheckText(
            _CPU,
            "reserved CPUs",
            "the static policy does not start without CPUs that are kept for the system",
            "set reservedSystemCPUs, or cpu in kubeReserved or systemReserved",
        ),
        partial(_each, wrong=_cpus),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-cpu-manager-options",
        ERROR,
        CheckText(
            _CPU,
            "policy options",
            "options that contradict keep the kubelet from starting, or pods from being aligned",
            f"leave one of the two out of cpuManagerPolicyOptions; {_RESTART}",
        ),
        partial(_each, wrong=_cpu_options),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-memory-manager-policy",
        ERROR,
        CheckText(
            _MEMORY,
            "policy",
            "only the Static policy keeps a pod's memory beside its CPUs",
            f"set memoryManagerPolicy: Static and reservedMemory; {_RESTART}",
        ),
        _is("memory_manager_policy", _MEMORY_STATIC),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-reserved-memory",
        ERROR,
        CheckText(
            _MEMORY,
            "reserved memory",
            "the Static policy does not start without it",
            "set reservedMemory for the NUMA nodes, in sum what kubeReserved, systemReserved and evictionHard keep",
        ),
        partial(_each, wrong=without_memory),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-reserved-memory-total",
        ERROR,
        CheckText(
            _MEMORY,
            "reserved memory in sum",
            "the Static policy does not start unless reservedMemory is in sum what kubeReserved, systemReserved and "
            "evictionHard keep",
            "correct the amounts of memory in reservedMemory",
        ),
        memory_totals,
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-reserved-memory-hugepages",
        ERROR,
        CheckText(
            _MEMORY,
            "reserved hugepages",
            "nothing keeps hugepages from pods, so that the sum for them has to be 0 for the Static policy to start",
            "take hugepages out of reservedMemory",
        ),
        partial(_each, wrong=reserved_hugepages),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-topology-manager-policy",
        ERROR,
        CheckText(
            _TOPOLOGY,
            "policy",
            "the scheduler looks at zones only on nodes with single-numa-node",
            "set topologyManagerPolicy: single-numa-node and restart the kubelet",
        ),
        _is("topology_manager_policy", SINGLE_NUMA_NODE),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-topology-manager-options",
        WARNING,
        CheckText(
            _TOPOLOGY,
            "policy options",
            "with one NUMA node for each pod there are none to be close to each other",
            "leave prefer-closest-numa-nodes out of topologyManagerPolicyOptions",
        ),
        partial(_each, wrong=_topology_options),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-max-numa-nodes",
        ERROR,
        CheckText(
            _TOPOLOGY,
            "max-allowable-numa-nodes",
            "the kubelet does not start on a machine with more NUMA nodes",
            "set max-allowable-numa-nodes in topologyManagerPolicyOptions",
        ),
        _zones_at_most,
        frozenset({KUBELETS, TOPOLOGIES}),
    ),
    NumaCheck(
        "kubelet-pool-differs",
        ERROR,
        CheckText(
            "kubelet",
            "uniform pool",
            "the scheduler and the exporter's ConfigMap take for granted that a pool aligns its pods by one rule",
            "give the kubelets of the pool one configuration, or divide the pool",
        ),
        partial(_differs, alignment=True),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-pool-reservations-differ",
        INFO,
        CheckText(
            "kubelet",
            "uniform reservations",
            "nodes of a pool that keep different amounts have different room for pods",
            "nothing, where the machines differ; else give the kubelets one configuration",
        ),
        partial(_differs, alignment=False),
        _NEEDS,
    ),
    NumaCheck(
        "kubelet-exporter-config-differs",
        ERROR,
        CheckText(
            "exporter",
            "ConfigMap",
            "the exporter publishes what its ConfigMap says, so the scheduler believes that",
            "run the playbook numa again, which reads the kubelets anew",
        ),
        _exporter_config,
        _POOL_NEEDS,
    ),
    NumaCheck(
        "kubelet-declared-differs",
        WARNING,
        CheckText(
            "kubelet",
            "declared configuration",
            "what an object declares and a kubelet does not run has not reached the node",
            "look at the MachineConfigPool or NodePool, which may be paused or stuck",
        ),
        _declared,
        frozenset({KUBELETS, DECLARATIONS}),
    ),
)
