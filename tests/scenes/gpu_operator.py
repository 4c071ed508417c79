# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What NVIDIA's GPU Operator has in a converged cluster, as far as somebody who takes it over can see:
its custom resources and what is made of them, under the names, labels and owners that it gives
(assets/ and manifests/ of NVIDIA/gpu-operator, v26.7.0). Programs are stand-ins, told by their images."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.cluster import Cluster

Obj = dict[str, Any]

NAMESPACE = "gpu-operator"
DEPLOY = "nvidia.com/gpu.deploy."
DRIVER_TAG = "580.105.08"
# Operand: its DaemonSet, gate label, image, command.
PLUGIN_IMAGE = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
OPERANDS: Mapping[str, tuple[str, str, Sequence[str]]] = {
    "nvidia-container-toolkit-daemonset": (
        "container-toolkit",
        "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0",
        (),
    ),
    "nvidia-device-plugin-daemonset": ("device-plugin", PLUGIN_IMAGE, ()),
    "gpu-feature-discovery": ("gpu-feature-discovery", PLUGIN_IMAGE, ("gpu-feature-discovery",)),
    "nvidia-dcgm-exporter": (
        "dcgm-exporter",
        "nvcr.io/nvidia/k8s/dcgm-exporter:4.6.0-4.8.3-distroless",
        (),
    ),
    "nvidia-operator-validator": (
        "operator-validator",
        "nvcr.io/nvidia/gpu-operator:v26.7.0",
        (),
    ),
}
POLICY: Obj = {
    "operator": {"defaultRuntime": "docker", "runtimeClass": "nvidia"},
    "daemonsets": {
        "priorityClassName": "system-node-critical",
        "updateStrategy": "RollingUpdate",
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    },
    "driver": {"enabled": True, "useNvidiaDriverCRD": True, "version": "1.2.3"},
    "toolkit": {"enabled": True, "repository": "nvcr.io/nvidia/k8s", "image": "container-toolkit",
                "version": "v1.20.0"},
    "devicePlugin": {"enabled": True, "repository": "nvcr.io/nvidia", "image": "k8s-device-plugin",
                     "version": "v0.20.0", "config": {"name": "sharing"}},
    "dcgm": {"enabled": False},
    "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": True, "interval": "15s"}},
    "gfd": {"enabled": True},
    "mig": {"strategy": "single"},
}  # fmt: skip


def driver_spec(selector: Mapping[str, str]) -> Obj:
    """An NVIDIADriver's."""
    return {
        "driverType": "gpu",
        "repository": "nvcr.io/nvidia",
        "image": "driver",
        "version": DRIVER_TAG,
        "kernelModuleType": "open",
        "gdrcopy": {"enabled": True},
        "nodeSelector": dict(selector),
    }


class GpuOperator:
    """One installation. pools: NVIDIADriver -> the labels of its nodes."""

    def __init__(
        self, cluster: Cluster, nodes: Sequence[str], pools: Mapping[str, Mapping[str, str]]
    ) -> None:
        self.cluster, self.nodes, self.pools = cluster, nodes, pools

    def install(self) -> None:
        """Everything that Helm and the operator bring."""
        self._apply(
            [
                {
                    "apiVersion": "v1",
                    "kind": "Namespace",
                    "metadata": {"name": NAMESPACE},
                },
                definition("ClusterPolicy", "clusterpolicies", "nvidia.com", "v1"),
                definition("NVIDIADriver", "nvidiadrivers", "nvidia.com", "v1alpha1"),
                self._program(),
            ]
        )
        for plural in ("clusterpolicies", "nvidiadrivers"):
            self.cluster.kubectl(
                "wait", "--for=condition=Established", f"crd/{plural}.nvidia.com", "--timeout=240s"
            )
        self._apply(
            [
                resource("nvidia.com/v1", "ClusterPolicy", "cluster-policy", POLICY),
                *(
                    resource("nvidia.com/v1alpha1", "NVIDIADriver", name, driver_spec(labels))
                    for name, labels in self.pools.items()
                ),
            ]
        )
        self.reconcile()

    def reconcile(self) -> None:
        """One pass of the operator: what is not there is made. Nothing while it does not run."""
        if not self.cluster.api.get(
            f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/gpu-operator"
        )["spec"]["replicas"]:
            return
        policy = self._owner("v1", "clusterpolicies", "cluster-policy")
        made = [
            *(_account(name, policy) for name in ("nvidia-driver", "nvidia-device-plugin")),
            {
                "apiVersion": "node.k8s.io/v1",
                "kind": "RuntimeClass",
                "metadata": {"name": "nvidia", "ownerReferences": [policy]},
                "handler": "nvidia",
            },
            _service("nvidia-dcgm-exporter", policy),
            *(
                _daemonset(name, {f"{DEPLOY}{gate}": "true"}, image, args, policy)
                for name, (gate, image, args) in OPERANDS.items()
            ),
        ]
        for name, labels in self.pools.items():
            owner = self._owner("v1alpha1", "nvidiadrivers", name)
            made.append(_driver(f"nvidia-gpu-driver-ubuntu24.04-{name}", labels, owner))
        self._create(made)
        for node in self.nodes:
            self._label(node)

    def _label(self, node: str) -> None:
        labels = self.cluster.api.get(f"/api/v1/nodes/{node}")["metadata"]["labels"]
        gates = ["driver", *(gate for gate, _image, _args in OPERANDS.values())]
        wanted = [f"{DEPLOY}{gate}=true" for gate in gates if f"{DEPLOY}{gate}" not in labels]
        if wanted:
            self.cluster.kubectl("label", "node", node, *wanted)

    def _owner(self, version: str, plural: str, name: str) -> Obj:
        found = self.cluster.api.get(f"/apis/nvidia.com/{version}/{plural}/{name}")
        return {
            "apiVersion": f"nvidia.com/{version}",
            "kind": found["kind"],
            "name": name,
            "uid": found["metadata"]["uid"],
            "controller": True,
            "blockOwnerDeletion": True,
        }

    def _program(self) -> Obj:
        labels = {"app": "gpu-operator", "app.kubernetes.io/component": "gpu-operator"}
        return _workload(
            "Deployment", "gpu-operator", labels, "nvcr.io/nvidia/gpu-operator:v26.7.0"
        )

    def _apply(self, objects: Sequence[Obj]) -> None:
        self.cluster.kubectl("apply", "-f", "-", stdin=_list(objects))

    def _create(self, objects: Sequence[Obj]) -> None:
        for each in objects:
            try:
                self.cluster.kubectl("create", "-f", "-", stdin=json.dumps(each))
            except Exception as error:
                if "AlreadyExists" not in str(error):
                    raise


def _list(objects: Sequence[Obj]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def definition(kind: str, plural: str, group: str, version: str, scope: str = "Cluster") -> Obj:
    """A CRD that takes any fields."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": scope,
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def resource(api_version: str, kind: str, name: str, spec: Obj) -> Obj:
    """A custom resource."""
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def _account(name: str, owner: Obj) -> Obj:
    metadata = {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def _service(name: str, owner: Obj) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]},
        "spec": {"selector": {"app": name}, "ports": [{"name": "metrics", "port": 9400}]},
    }


def _daemonset(
    name: str, selector: Mapping[str, str], image: str, args: Sequence[str], owner: Obj
) -> Obj:
    made = _workload("DaemonSet", name, {"app": name}, image)
    made["metadata"]["ownerReferences"] = [owner]
    pod = made["spec"]["template"]["spec"]
    pod["nodeSelector"] = dict(selector)
    if args:
        pod["containers"][0]["args"] = list(args)
    if "device-plugin" in name:
        path = "/var/lib/kubelet/device-plugins"
        pod["volumes"] = [{"name": "plugins", "hostPath": {"path": path}}]
        pod["containers"][0]["volumeMounts"] = [{"name": "plugins", "mountPath": path}]
    return made


def _driver(name: str, labels: Mapping[str, str], owner: Obj) -> Obj:
    image = f"nvcr.io/nvidia/driver:{DRIVER_TAG}-ubuntu24.04"
    made = _daemonset(name, {f"{DEPLOY}driver": "true", **labels}, image, (), owner)
    made["spec"]["updateStrategy"] = {"type": "OnDelete"}
    made["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/component"] = "nvidia-driver"
    made["spec"]["template"]["spec"]["serviceAccountName"] = "nvidia-driver"
    return made


def _workload(kind: str, name: str, labels: Mapping[str, str], image: str) -> Obj:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": dict(labels)},
        "spec": {
            "selector": {"matchLabels": dict(labels)},
            "template": {
                "metadata": {"labels": dict(labels)},
                "spec": {
                    "terminationGracePeriodSeconds": 1,
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [{"name": "main", "image": image}],
                },
            },
        },
    }


MODULES = definition("Module", "modules", "kmm.sigs.x-k8s.io", "v1beta1", "Namespaced")
DEVICE_CONFIGS = definition("DeviceConfig", "deviceconfigs", "amd.com", "v1alpha1", "Namespaced")
NODE_MODULES = definition(
    "NodeModulesConfig", "nodemodulesconfigs", "kmm.sigs.x-k8s.io", "v1beta1", "Cluster"
)
