# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an operator has in a cluster: its program, its operands, the drivers' pods, and what of it is
in the way of taking its nodes over. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._cluster.api_client.client import Client
from .._cluster.api_objects.controller_references import controller_of
from .._cluster.api_objects.labels import TAKEN_OVER_LABEL
from .._errors import EnablementError
from .._json import Obj, elements, part
from .gpu_operator import DRIVER, GROUP, KINDS
from .operator_info import custom_resources

# Which operands run on a node, by the operator's labels.
DEPLOY = "nvidia.com/gpu.deploy."
_DRA = (f"{GROUP}/v1alpha1", "GPUCluster")
_OPERATOR = {"app": "gpu-operator"}
_COMPONENT = "app.kubernetes.io/component"
_WORKLOAD = "nvidia.com/gpu.workload.config"
_UPGRADE = "nvidia.com/gpu-driver-upgrade-state"
_AT_REST = ("", "upgrade-done", "upgrade-required")
_PAUSED = "paused-"
_SHOWN = 3


@dataclass(frozen=True)
class OperatorSurvey:
    """resources: the custom resources. deployments: the operator's own. daemonsets: what is made of
    the resources, the drivers' among them. pods: all of the namespace. by_dra: whether devices are
    given out by DRA."""

    namespace: str
    resources: Sequence[Obj]
    deployments: Sequence[Obj]
    daemonsets: Sequence[Obj]
    pods: Sequence[Obj]
    by_dra: bool = False

    @property
    def drivers(self) -> list[Obj]:
        """The DaemonSets of drivers."""
        return [each for each in self.daemonsets if _component(each) == "nvidia-driver"]

    def driver_pods(self) -> dict[str, Obj]:
        """Node -> the pod of its driver, that the operator's DaemonSets own."""
        drivers = {each["metadata"]["uid"] for each in self.drivers}
        return {_node(pod): pod for pod in self.pods if controller_of(pod).get("uid") in drivers}

    def operands(self, node: str) -> list[Obj]:
        """The pods of the operator's other operands on a node."""
        return [pod for pod in self.pods if _node(pod) == node and is_operand(pod, self._others)]

    @property
    def _others(self) -> frozenset[str]:
        drivers = {each["metadata"]["uid"] for each in self.drivers}
        return frozenset(each["metadata"]["uid"] for each in self.daemonsets) - drivers


def survey_operator(client: Client, namespace: str | None) -> OperatorSurvey:
    """Look. namespace: where its operands are; by these where it is not given."""
    resources = custom_resources(client, KINDS)
    kind = client.kind("apps/v1", "DaemonSet")
    owned = [each for each in client.list(kind).items if is_made_of(each, resources)]
    found = namespace or next((each["metadata"]["namespace"] for each in owned), "gpu-operator")
    deployments = [
        each
        for each in client.list(client.kind("apps/v1", "Deployment"), namespace=found).items
        if _OPERATOR.items() <= _template_labels(each).items()
    ]
    pods = client.list(client.kind("v1", "Pod"), namespace=found).items
    by_dra = client.serves(*_DRA) and bool(client.list(client.kind(*_DRA)).items)
    return OperatorSurvey(found, resources, deployments, owned, pods, by_dra)


def is_operators(obj: Mapping[str, Any]) -> bool:
    """Whether an object was made of a custom resource of the operator, with which it would go."""
    return any(owner_group(each) == GROUP for each in elements(obj["metadata"], "ownerReferences"))


def is_made_of(obj: Mapping[str, Any], resources: Sequence[Obj]) -> bool:
    """Whether one of these custom resources is the controller of an object, which anybody may say
    of one that is not there."""
    uid = controller_of(obj).get("uid")
    return any(uid == each["metadata"].get("uid") for each in resources if uid)


def owner_group(owner: Mapping[str, Any]) -> str:
    """The API group of an owner."""
    return str(owner.get("apiVersion", "")).rpartition("/")[0]


def is_operand(pod: Mapping[str, Any], daemonsets: frozenset[str]) -> bool:
    """Whether a pod is of one of these DaemonSets, or was left by one that is gone."""
    labels = part(pod["metadata"], "labels")
    return controller_of(pod).get("uid") in daemonsets or TAKEN_OVER_LABEL in labels


def deploy_labels(node: Mapping[str, Any]) -> dict[str, str]:
    """The operator's labels for its operands on a node that are on."""
    labels = part(node["metadata"], "labels")
    return {name: "true" for name in labels if name.startswith(DEPLOY) and labels[name] == "true"}


def refuse_obstacles(survey: OperatorSurvey, nodes: Sequence[Obj]) -> None:
    """Raise EnablementError for what would be lost or go wrong, before anything is written.

    nodes: all that are to be taken over.
    """
    _refuse_olm(survey)
    _refuse_other_devices(survey)
    _refuse_busy_nodes(nodes)
    known = {_name(node) for node in nodes}
    strange = sorted(survey.driver_pods().keys() - known)
    if strange:
        raise _cannot(
            f"node {_some(strange)} runs a driver of the operator, and the recipe does not know it",
            "give it the labels of the hardware, or say hardware_labels among the options",
        )


def _refuse_olm(survey: OperatorSurvey) -> None:
    """Who is started again by somebody else cannot be stopped here."""
    for deployment in survey.deployments:
        if controller_of(deployment).get("kind") == "ClusterServiceVersion":
            name = deployment["metadata"]["name"]
            raise _cannot(
                f"Deployment {survey.namespace}/{name} is OLM's, which would start it again",
                "delete the operator's Subscription and ClusterServiceVersion, which leaves its custom"
                " resources and operands, and run again",
            )


def _refuse_other_devices(survey: OperatorSurvey) -> None:
    """What the recipe has no counterpart of: devices by DRA, drivers of virtual GPUs."""
    if survey.by_dra:
        raise _cannot("there is a GPUCluster: devices are given out by DRA", "keep the operator")
    other = [
        _name(each)
        for each in survey.resources
        if each["kind"] == DRIVER and part(each, "spec").get("driverType", "gpu") != "gpu"
    ]
    if other:
        raise _cannot(f"{DRIVER} {_some(other)} is of another type than gpu", "keep the operator")


def _refuse_busy_nodes(nodes: Sequence[Obj]) -> None:
    """Nodes that serve virtual machines, or whose driver is just being exchanged."""
    virtual = [_name(node) for node in nodes if _label(node, _WORKLOAD).startswith("vm-")]
    if virtual:
        raise _cannot(
            f"node {_some(virtual)} gives its GPUs to virtual machines ({_WORKLOAD})",
            "leave such nodes out by node_selector, or keep the operator",
        )
    moving = [_name(node) for node in nodes if _is_moving(node)]
    if moving:
        raise _cannot(
            f"the operator is exchanging the driver of node {_some(moving)} ({_UPGRADE})",
            "let it end, or mend what it waits for, and run again",
        )


def _is_moving(node: Mapping[str, Any]) -> bool:
    labels = part(node["metadata"], "labels")
    paused = any(
        name.startswith(DEPLOY) and value.startswith(_PAUSED) for name, value in labels.items()
    )
    return paused or labels.get(_UPGRADE, "") not in _AT_REST


def _cannot(why: str, todo: str) -> EnablementError:
    return EnablementError("The operator's nodes cannot be taken over", why=why, todo=todo)


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(sorted(names)[:_SHOWN])}{more}"


def _node(pod: Mapping[str, Any]) -> str:
    return str(part(pod, "spec").get("nodeName") or "")


def _name(obj: Mapping[str, Any]) -> str:
    return str(obj["metadata"]["name"])


def _label(obj: Mapping[str, Any], name: str) -> str:
    return str(part(obj["metadata"], "labels").get(name, ""))


def _template_labels(workload: Mapping[str, Any]) -> Mapping[str, str]:
    return part(workload, "spec", "template", "metadata", "labels")


def _component(daemonset: Mapping[str, Any]) -> str:
    return _template_labels(daemonset).get(_COMPONENT, "")
