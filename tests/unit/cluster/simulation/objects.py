# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods and nodes as the API server gives them, and a pod that is simulated step by step."""

from __future__ import annotations

import json
from typing import Any

from tests.cluster.simulation import operands
from tests.cluster.simulation.decide import Decision, Memory, decide
from tests.cluster.simulation.model import NORMAL, Behaviour, Node, Obj, Pod, node_view
from tests.cluster.simulation.status import Place

TABLE = operands.load()
KERNEL = "5.15.0-1-generic"
DRIVER = f"nvcr.io/nvidia/driver:580.95.05-{KERNEL}-ubuntu22.04"
TOOLKIT = "nvcr.io/nvidia/k8s/container-toolkit:v1.20.0"
PLUGIN = "nvcr.io/nvidia/k8s-device-plugin:v0.20.0"
CUDA = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubuntu22.04"


def pod_object(
    image: str,
    *,
    name: str = "pod",
    command: list[str] | None = None,
    gpus: int = 0,
    restart: str = "Always",
    init: bool = False,
    annotations: dict[str, str] | None = None,
    status: Obj | None = None,
) -> Obj:
    container: Obj = {"name": "main", "image": image, "command": command or []}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    return {
        "metadata": {
            "uid": f"uid-{name}",
            "namespace": "gpu",
            "name": name,
            "resourceVersion": "5",
            "annotations": annotations or {},
        },
        "spec": {
            "nodeName": "gpu-1",
            "restartPolicy": restart,
            "containers": [container],
            "initContainers": [{"name": "wait", "image": "busybox"}] if init else [],
        },
        "status": status or {"phase": "Pending"},
    }


def pod(image: str, **more: Any) -> Pod:
    return operands.pod_view(pod_object(image, **more), TABLE)


def ready_pod(image: str, **more: Any) -> Pod:
    simulated = Simulated(pod(image, **more))
    simulated.until(2)
    assert simulated.pod.ready
    return simulated.pod


def node_object(
    name: str = "gpu-1",
    *,
    boot_id: str = "b1",
    version: int = 1,
    simulation: dict[str, str] | None = None,
) -> Obj:
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "annotations": {
                "kwok.x-k8s.io/node": "fake",
                "sim.hardware-enablement.io/devices": json.dumps({"nvidia.com/gpu": 8}),
                **{
                    f"sim.hardware-enablement.io/{key}": value
                    for key, value in (simulation or {}).items()
                },
            },
        },
        "spec": {"podCIDR": "10.1.0.0/24"},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kernelVersion": KERNEL, "bootID": boot_id},
            "capacity": {"cpu": "8"},
            "allocatable": {"cpu": "8"},
        },
    }


def node(**annotations: str) -> Node:
    return node_view(node_object(simulation=annotations))


class Simulated:
    """A pod with a clock: `until` does all that is due up to a time and keeps the events."""

    def __init__(self, pod: Pod, behaviour: Behaviour = NORMAL, kernel: str = KERNEL) -> None:
        self.pod = pod
        self.behaviour = behaviour
        self.kernel = kernel
        self.missing: list[str] = []
        self.short = ""
        self.memory = Memory()
        self.now = 0.0
        self.events: list[str] = []
        self.writes = 0

    def until(self, time: float) -> Simulated:
        for _round in range(100):
            decision = self._ask()
            if decision.status is not None:
                self.writes += 1
                self.pod.status = {**self.pod.status, **decision.status}
                if decision.event:
                    self.events.append(decision.event.reason)
            elif decision.due is not None and decision.due <= time:
                self.now = decision.due
            else:
                break
        self.now = time
        return self

    def _ask(self) -> Decision:
        place = Place(f"t{self.now:g}", "127.0.0.1", "10.1.0.2")
        return decide(
            self.pod,
            self.behaviour,
            self.missing,
            self.short,
            self.kernel,
            self.memory,
            place,
            self.now,
        )

    @property
    def container(self) -> Obj:
        first: Obj = self.pod.status["containerStatuses"][0]
        return first

    @property
    def waits_for(self) -> str:
        return str(self.container["state"].get("waiting", {}).get("reason", ""))
