# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NUMA nodes of a simulated node: which of them pods get, which pods its kubelet refuses, and what an
exporter publishes. Pure but for Assignments, which remembers.

As kubelets do it (pkg/kubelet/cm/topologymanager), resource-topology-exporter v0.24 and NFD's
topology-updater v0.19.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import xxhash

from .model import Obj, Pod
from .zones import Amounts, Numa, parse_amount

API_VERSION, KIND = "topology.node.k8s.io/v1alpha2", "NodeResourceTopology"
PATH = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
REFUSED = "TopologyAffinityError: Resources cannot be allocated with Topology locality"

# What a container, or a pod where the scope is one, got: index of a NUMA node and amounts.
Share = tuple[int, Amounts]


def aligned(pod: Pod, numa: Numa) -> list[Amounts]:
    """What each container of a pod gets for itself: CPUs and memory where the kubelet's managers
    give them away, and devices."""
    guaranteed = pod.status.get("qosClass") == "Guaranteed"
    found: list[Amounts] = []
    for requests in pod.requests:
        own: dict[str, Decimal] = {}
        for name, text in requests.items():
            amount = parse_amount(text)
            if not amount or name not in numa.zones[0]:
                continue
            if name == "cpu":
                pinned = (
                    guaranteed
                    and amount == amount.to_integral_value()
                    and numa.kubelet.get("cpuManagerPolicy") == "static"
                )
            elif name == "memory" or name.startswith("hugepages-"):
                pinned = guaranteed and numa.kubelet.get("memoryManagerPolicy") == "Static"
            else:
                pinned = True
            if pinned:
                own[name] = amount
        found.append(own)
    return found


class Assignments:
    """Which NUMA nodes the pods of one node got; they keep them until they end."""

    def __init__(self) -> None:
        self._shares: dict[str, list[Share]] = {}

    def admit(self, pod: Pod, numa: Numa) -> bool:
        """Give a pod its share; False where the kubelet would refuse it."""
        if pod.uid in self._shares:
            return True
        wanted = [own for own in aligned(pod, numa) if own]
        if numa.scope == "pod":
            wanted = [_sum(wanted)] if wanted else []
        free, shares = self.free(numa), []
        for own in wanted:
            found = _one_zone(own, free)
            if found is None:
                if numa.policy == "single-numa-node":
                    return False
                found = _spread(own, free)
            for index, amounts in found:
                for name, amount in amounts.items():
                    free[index][name] -= amount
            shares += found
        self._shares[pod.uid] = shares
        return True

    def forget_all_but(self, uids: Iterable[str]) -> None:
        """Pods that have ended give back what they had."""
        kept = set(uids)
        self._shares = {uid: shares for uid, shares in self._shares.items() if uid in kept}

    def free(self, numa: Numa) -> list[dict[str, Decimal]]:
        """What each NUMA node has left."""
        left = [dict(zone) for zone in numa.zones]
        for shares in self._shares.values():
            for index, amounts in shares:
                for name, amount in amounts.items():
                    left[index][name] -= amount
        return left

    def holders(self) -> set[str]:
        """Uids of the pods that have something for themselves."""
        return {uid for uid, shares in self._shares.items() if shares}


def _one_zone(own: Amounts, free: Sequence[Amounts]) -> list[Share] | None:
    for index, zone in enumerate(free):
        if all(zone.get(name, 0) >= amount for name, amount in own.items()):
            return [(index, own)]
    return None


def _spread(own: Amounts, free: Sequence[Amounts]) -> list[Share]:
    shares: list[Share] = []
    for name, amount in own.items():
        left = amount
        for index, zone in enumerate(free):
            part = max(min(left, zone.get(name, Decimal(0))), Decimal(0))
            if part:
                shares.append((index, {name: part}))
                left -= part
    return shares


def _sum(wanted: Sequence[Amounts]) -> Amounts:
    total: dict[str, Decimal] = {}
    for own in wanted:
        for name, amount in own.items():
            total[name] = total.get(name, Decimal(0)) + amount
    return total


def fingerprint(pods: Iterable[tuple[str, str]]) -> str:
    """Of a set of pods (namespace, name): github.com/k8stopologyawareschedwg/podfingerprint."""
    hashes = sorted(
        xxhash.xxh64_intdigest(name.encode(), seed=xxhash.xxh64_intdigest(namespace.encode()))
        for namespace, name in pods
    )
    whole = xxhash.xxh64(b"".join(number.to_bytes(8, "little") for number in hashes))
    return f"pfp0v001{whole.hexdigest()}"


@dataclass(frozen=True)
class ExporterSettings:
    """What an exporter was told by its flags and its configuration."""

    policy: str
    scope: str
    method: str = "with-exclusive-resources"
    paused: bool = False
    # Seconds between two looks, 0 for none but where something has changed.
    interval: float = 0.0


def topology(
    node: str,
    uid: str,
    numa: Numa,
    assignments: Assignments,
    pods: Iterable[Pod],
    settings: ExporterSettings,
) -> Obj:
    """The NodeResourceTopology that an exporter writes of a node. uid: the Node's."""
    counted = [pod for pod in pods if settings.method == "all" or pod.uid in assignments.holders()]
    sign = fingerprint((pod.namespace, pod.name) for pod in counted)
    attributes = {
        "topologyManagerPolicy": settings.policy,
        "topologyManagerScope": settings.scope,
    }
    if settings.method:
        attributes["nodeTopologyPodsFingerprint"] = sign
        attributes["nodeTopologyPodsFingerprintMethod"] = settings.method
    free = assignments.free(numa)
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {
            "name": node,
            "annotations": {"k8stopoawareschedwg/rte-update": "periodic"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}],
        },
        "attributes": [{"name": name, "value": value} for name, value in attributes.items()],
        "zones": [
            {
                "name": f"node-{index}",
                "type": "Node",
                "costs": [
                    {"name": f"node-{other}", "value": 10 if other == index else 21}
                    for other in range(len(numa.zones))
                ],
                "resources": [
                    {
                        "name": name,
                        "capacity": _text(amount),
                        "allocatable": _text(amount),
                        "available": _text(free[index][name]),
                    }
                    for name, amount in sorted(zone.items())
                ],
            }
            for index, zone in enumerate(numa.zones)
        ],
    }


def turned(found: Obj) -> Obj:
    """The same in another order. The real exporter walks over a map: it writes something else each
    time it looks, and by that schedulers look again at pods that wait."""
    zones = [{**zone, "resources": zone["resources"][::-1]} for zone in found["zones"]]
    return {**found, "zones": zones}


def _text(amount: Decimal) -> str:
    return str(int(amount))
