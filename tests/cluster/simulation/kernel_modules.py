# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernel modules of nodes: a driver stays loaded when its pod goes while somebody holds it, and
another one cannot be loaded over it, as NVIDIA's own script finds out.

What a node has loaded is told by its pods, so that a daemon that starts anew knows it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from .model import Node, Pod
from .operands import Operands, Stack

DRIVER = "driver"


class KernelModules:
    """What the nodes have loaded: (node, stack) -> the configuration of the driver that loaded it."""

    def __init__(self, operands: Operands) -> None:
        self._operands = operands
        self._loaded: dict[tuple[str, str], str] = {}
        self._boots: dict[str, str] = {}

    def observe(self, node: Node, pods: Sequence[Pod]) -> None:
        """Take down what is loaded now."""
        if self._boots.get(node.name) != node.boot_id:
            self._boots[node.name] = node.boot_id
            for place in [place for place in self._loaded if place[0] == node.name]:
                del self._loaded[place]
        for name in self._operands.stacks:
            drivers = [
                pod
                for pod in pods
                if (pod.operand.stack, pod.operand.role) == (name, DRIVER) and not pod.finished
            ]
            serving = [pod for pod in drivers if pod.serves]
            if serving:
                self._loaded[node.name, name] = serving[0].configuration
            elif not drivers and not any(self._holders(name, pods)):
                # The pod that went has unloaded it.
                self._loaded.pop((node.name, name), None)

    def refusal(self, node: Node, pod: Pod, pods: Sequence[Pod]) -> str:
        """What a driver's container says last, that cannot load its modules; "" where it can."""
        if pod.operand.role != DRIVER or pod.serves:
            return ""
        commands = " ".join(container.command for container in (*pod.inits, *pod.containers))
        for module in node.in_tree:
            if module not in commands:
                return f"ERROR: the kernel module {module} has the devices of this machine"
        loaded = self._loaded.get((node.name, pod.operand.stack), pod.configuration)
        if loaded != pod.configuration and any(self._holders(pod.operand.stack, pods)):
            return "Could not unload NVIDIA driver kernel modules, driver is in use"
        return ""

    def _holders(self, stack: str, pods: Iterable[Pod]) -> Iterable[Pod]:
        known = self._operands.stacks[stack]
        return (pod for pod in pods if runs(pod) and self._holds(pod, known))

    def _holds(self, pod: Pod, stack: Stack) -> bool:
        if pod.operand.stack == stack.name:
            return DRIVER in pod.operand.requires
        patterns = self._operands.resources_of(stack.name)
        return (
            any(pattern.fullmatch(name) for name in pod.extended for pattern in patterns)
            or pod.runtime_class in stack.runtime_classes
            or any(
                fnmatchcase(path, pattern)
                for path in pod.host_paths
                for pattern in stack.device_paths
            )
        )


def runs(pod: Pod) -> bool:
    """Whether some container of a pod runs: what waits in an init container holds nothing."""
    statuses = pod.status.get("containerStatuses") or ()
    return not pod.finished and any("running" in (item.get("state") or {}) for item in statuses)
