# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Two nodes whose pods are placed by NUMA node, as objects: what exporters, the scheduler and kubelets
make of a cluster where all is well. And misconfigurations of it, each one change."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

Obj = dict[str, Any]

NAMESPACE = "numa-resources"
NODES = ("numa-1", "numa-2")
PROFILE = "topo-aware-scheduler"
TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha2/noderesourcetopologies"
ANNOTATION = "sim.hardware-enablement.io/numa"
# A pod for each node, and what exporters publish where it is the only one that counts:
# resource-topology-exporter v0.24.0, pkg/resourcemonitor/resourcemonitor_test.go, and
# scheduler-plugins v0.34.7, pkg/noderesourcetopology/cache/overreserve_test.go.
PODS = {"numa-1": ("default", "test-pod-0"), "numa-2": ("namespace1", "pod1")}
FINGERPRINTS = {"numa-1": "pfp0v001fe53c4dbd2c5f4a0", "numa-2": "pfp0v0019e0420efb37746c6"}
KUBELET: Obj = {
    "cpuManagerPolicy": "static",
    "cpuManagerReconcilePeriod": "5s",
    "reservedSystemCPUs": "0",
    "memoryManagerPolicy": "Static",
    "kubeReserved": {"memory": "512Mi"},
    "systemReserved": {"memory": "412Mi"},
    "evictionHard": {"memory.available": "100Mi"},
    "reservedMemory": [{"numaNode": 0, "limits": {"memory": "1Gi"}}],
    "topologyManagerPolicy": "single-numa-node",
    "topologyManagerScope": "pod",
}
_LABELS = {"app.kubernetes.io/name": "numa"}
_ZONES = ({"cpu": "8", "memory": "32Gi"}, {"cpu": "8", "memory": "32Gi"})


def labels(component: str) -> dict[str, str]:
    """Of the objects of a part, and its pods."""
    return {**_LABELS, "app.kubernetes.io/component": component}


def simulated(**kubelet: Any) -> str:
    """What a simulated node is told of its zones and its kubelet, whose settings may differ from
    KUBELET; None takes one away."""
    settings = {name: value for name, value in {**KUBELET, **kubelet}.items() if value is not None}
    return json.dumps({"zones": _ZONES, "kubelet": settings})


def attributes(node: str, **other: str) -> list[Obj]:
    """Those of a NodeResourceTopology; an empty text takes one away."""
    found = {
        "topologyManagerPolicy": "single-numa-node",
        "topologyManagerScope": "pod",
        "nodeTopologyPodsFingerprint": FINGERPRINTS.get(node, ""),
        "nodeTopologyPodsFingerprintMethod": "with-exclusive-resources",
        **other,
    }
    return [{"name": name, "value": value} for name, value in found.items() if value]


def zone(number: int, *, name: str = "", cpu: tuple[str, str, str] = ("8", "7", "5")) -> Obj:
    """A zone. cpu: capacity, allocatable, available."""
    amounts = {"cpu": cpu, "memory": ("32Gi", "31Gi", "31Gi")}
    return {
        "name": name or f"node-{number}",
        "type": "Node",
        "resources": [
            {"name": each, "capacity": all_, "allocatable": most, "available": free}
            for each, (all_, most, free) in amounts.items()
        ],
    }


def topology(node: str) -> Obj:
    """What an exporter publishes of a node."""
    return {
        "apiVersion": "topology.node.k8s.io/v1alpha2",
        "kind": "NodeResourceTopology",
        "metadata": {"name": node},
        "attributes": attributes(node),
        "zones": [zone(0), zone(1)],
    }


def pod(namespace: str, name: str, node: str = "", scheduler: str = PROFILE) -> Obj:
    """A pod with two CPUs of its own; without a node, one that waits."""
    amounts = {"cpu": "2", "memory": "1Gi"}
    container = {
        "name": "main",
        "image": "registry.test/main:1",
        "resources": {"limits": amounts, "requests": amounts},
    }
    spec: Obj = {"schedulerName": scheduler, "containers": [container]}
    if node:
        spec |= {"nodeName": node}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def config_map(name: str, text: str) -> Obj:
    """A ConfigMap with a file."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"config.yaml": text},
    }


def exporter_config(**kubelet: str) -> str:
    """What the exporters are told."""
    told = {"topologyManagerPolicy": "single-numa-node", "topologyManagerScope": "pod", **kubelet}
    exclude = {"namespacePattern": "kube-*", "namePattern": "*"}
    return json.dumps({"kubelet": told, "podExclude": [exclude]})


def scheduler_config(
    *, name: str = PROFILE, points: Obj | None = None, elects: bool = True, **cache: str
) -> str:
    """What the scheduler is told."""
    plugin = "NodeResourceTopologyMatch"
    args = {"cacheResyncPeriodSeconds": 5, "cache": {"informerMode": "Shared", **cache}}
    return json.dumps(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {
                "leaderElect": elects,
                "resourceNamespace": NAMESPACE,
                "resourceName": "numa-scheduler",
            },
            "profiles": [
                {
                    "schedulerName": name,
                    "plugins": points or {"multiPoint": {"enabled": [{"name": plugin}]}},
                    "pluginConfig": [{"name": plugin, "args": args}],
                }
            ],
        }
    )


def workload(kind: str, component: str, image: str, **template: Any) -> Obj:
    """A DaemonSet or Deployment of a part, with a ConfigMap of its name."""
    name = f"numa-{component}"
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels(component)},
        "spec": {
            "selector": {"matchLabels": labels(component)},
            "template": {
                "metadata": {"labels": labels(component)},
                "spec": {
                    "containers": [
                        {"name": component, "image": image, "args": ["--sleep-interval=10s"]}
                    ],
                    "volumes": [{"name": "config", "configMap": {"name": name}}],
                    **template,
                },
            },
        },
    }


def exporter() -> Obj:
    """The exporters' DaemonSet."""
    here = {"nodeSelector": {"example.org/numa": "yes"}}
    return workload("DaemonSet", "exporter", "registry.test/exporter:1", **here)


def scheduler(minor: int) -> Obj:
    """The scheduler's Deployment; minor: of the image, as the cluster's."""
    made = workload("Deployment", "scheduler", f"registry.test/kube-scheduler:v1.{minor}.1")
    made["spec"]["replicas"] = 2
    return made


def lease(renewed: str) -> Obj:
    """The scheduler's lease. renewed: when, as a MicroTime; it lasts for an hour."""
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "numa-scheduler", "namespace": NAMESPACE},
        "spec": {
            "holderIdentity": "numa-scheduler-1_uid",
            "renewTime": renewed,
            "leaseDurationSeconds": 3600,
        },
    }


@dataclass(frozen=True)
class Seed:
    """A misconfiguration: what is found, and one change of a cluster where all is well.

    id: of the finding. path: of an object, or of the collection where one is made. body: a merge
    patch; a whole object where it is made; None where it is removed. others: ids that come with it.
    """

    id: str
    path: str
    body: Obj | None
    others: frozenset[str] = field(default_factory=frozenset)

    @property
    def makes(self) -> bool:
        """Whether it makes an object."""
        return bool(self.body) and "kind" in (self.body or {})


def _kubelet(id_: str, *others: str, **settings: Any) -> Seed:
    """A node whose kubelet runs something else. Its pool is not uniform then, with all that tells
    about it."""
    body = {"metadata": {"annotations": {ANNOTATION: simulated(**settings)}}}
    return Seed(id_, f"/api/v1/nodes/{NODES[0]}", body, frozenset(others))


def _topology(id_: str, *others: str, **fields: Any) -> Seed:
    return Seed(id_, f"{TOPOLOGIES}/{NODES[0]}", fields, frozenset(others))


def _config(id_: str, component: str, text: str, *others: str) -> Seed:
    path = f"/api/v1/namespaces/{NAMESPACE}/configmaps/numa-{component}"
    return Seed(id_, path, {"data": {"config.yaml": text}}, frozenset(others))


_POOL, _RESERVES = "kubelet-pool-differs", "kubelet-pool-reservations-differ"
_LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/numa-scheduler"
_FILTER = {"filter": {"enabled": [{"name": "NodeResourceTopologyMatch"}]}}
_NO_SCORE = {
    "multiPoint": {"enabled": [{"name": "NodeResourceTopologyMatch"}]},
    "score": {"disabled": [{"name": "NodeResourceTopologyMatch"}]},
}
_GONE = "fingerprint-differs"

KUBELET_SEEDS = (
    _kubelet("kubelet-cpu-manager-policy", _POOL, cpuManagerPolicy="none"),
    _kubelet("kubelet-cpu-manager-reconcile", _RESERVES, cpuManagerReconcilePeriod="1m"),
    _kubelet("kubelet-cpu-reservation", _RESERVES, reservedSystemCPUs=None),
    _kubelet(
        "kubelet-cpu-manager-options",
        _POOL,
        cpuManagerPolicyOptions={"align-by-socket": "true"},
    ),
    _kubelet("kubelet-memory-manager-policy", _POOL, memoryManagerPolicy="None"),
    _kubelet("kubelet-reserved-memory", _RESERVES, reservedMemory=None),
    _kubelet(
        "kubelet-reserved-memory-total",
        _RESERVES,
        reservedMemory=[{"numaNode": 0, "limits": {"memory": "2Gi"}}],
    ),
    _kubelet(
        "kubelet-reserved-memory-hugepages",
        _RESERVES,
        reservedMemory=[{"numaNode": 0, "limits": {"memory": "1Gi", "hugepages-2Mi": "2Mi"}}],
    ),
    _kubelet(
        "kubelet-topology-manager-policy",
        _POOL,
        "topology-policy-differs",
        "kubelet-exporter-config-differs",
        topologyManagerPolicy="restricted",
    ),
    _kubelet(
        "kubelet-topology-manager-options",
        _POOL,
        topologyManagerPolicyOptions={"prefer-closest-numa-nodes": "true"},
    ),
    _kubelet(
        "kubelet-max-numa-nodes",
        _POOL,
        topologyManagerPolicyOptions={"max-allowable-numa-nodes": "1"},
    ),
    _kubelet(_POOL, cpuManagerPolicyOptions={"full-pcpus-only": "true"}),
    _kubelet(_RESERVES, reservedSystemCPUs="0-1"),
    _config(
        "kubelet-exporter-config-differs",
        "exporter",
        exporter_config(topologyManagerScope="container"),
    ),
    _topology(
        "topology-policy-differs",
        attributes=attributes(NODES[0], topologyManagerPolicy="best-effort"),
    ),
)

# Those that can be seen without asking kubelets.
SEEDS = (
    Seed("topology-missing", f"{TOPOLOGIES}/{NODES[0]}", None),
    Seed("topology-stale-node", TOPOLOGIES, {**topology(NODES[0]), "metadata": {"name": "gone"}}),
    _topology("topology-zones", zones=[zone(0), zone(1, name="numa-node-1")]),
    _topology("topology-zones", zones=[]),
    _topology("topology-exceeds-node", zones=[zone(0, cpu=("64", "64", "8")), zone(1)]),
    _topology("topology-amounts", zones=[zone(0, cpu=("8", "7", "8")), zone(1)]),
    _topology(
        "fingerprint-missing",
        attributes=attributes(NODES[0], nodeTopologyPodsFingerprint=""),
    ),
    _topology(
        "fingerprint-malformed",
        attributes=attributes(NODES[0], nodeTopologyPodsFingerprint="pfp0v001?"),
    ),
    _topology(
        "fingerprint-malformed",
        _GONE,
        attributes=attributes(NODES[0], nodeTopologyPodsFingerprintMethod="some"),
    ),
    _topology(
        _GONE,
        attributes=attributes(NODES[0], nodeTopologyPodsFingerprint=FINGERPRINTS[NODES[1]]),
    ),
    Seed(_GONE, "/api/v1/namespaces/default/pods", pod("default", "unseen", NODES[0])),
    _config("fingerprint-method-differs", "scheduler", scheduler_config(resyncMethod="All")),
    _config("exporter-config-unreadable", "exporter", "a: b: c"),
    _config("exporter-config-unreadable", "exporter", "kubelet: none"),
    _config("scheduler-config-unreadable", "scheduler", "kind: KubeletConfiguration"),
    _config("scheduler-config-unreadable", "scheduler", "{"),
    _config("scheduler-plugin", "scheduler", scheduler_config(points=_FILTER)),
    _config("scheduler-plugin", "scheduler", scheduler_config(points=_NO_SCORE)),
    _config("scheduler-plugin-args", "scheduler", scheduler_config(resyncMode="All")),
    _config(
        "scheduler-profile-not-unique", "scheduler", scheduler_config(name="default-scheduler")
    ),
    _config("scheduler-counts-ended-pods", "scheduler", scheduler_config(informerMode="Dedicated")),
    _config("scheduler-profile-unused", "scheduler", scheduler_config(name="other")),
    _config("scheduler-no-election", "scheduler", scheduler_config(elects=False)),
    Seed("scheduler-lease", _LEASE, None),
    Seed("scheduler-lease", _LEASE, {"spec": {"holderIdentity": None}}),
    Seed("scheduler-lease", _LEASE, {"spec": {"leaseDurationSeconds": 1}}),
    Seed(
        "exporter-missing",
        f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/numa-exporter",
        {"metadata": {"labels": {"app.kubernetes.io/component": "other"}}},
    ),
    Seed(
        "scheduler-missing",
        f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/numa-scheduler",
        {"metadata": {"labels": {"app.kubernetes.io/component": "other"}}},
    ),
    Seed(
        "pod-unknown-scheduler",
        "/api/v1/namespaces/default/pods",
        pod("default", "lost", scheduler="nobody"),
    ),
    Seed(
        "pod-refused",
        "/api/v1/namespaces/default/pods",
        pod("default", "refused", NODES[0])
        | {"status": {"phase": "Failed", "reason": "TopologyAffinityError"}},
    ),
)
