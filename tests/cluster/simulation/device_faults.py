# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults of devices that last until something is done about them: a reset, another driver, a reboot.

A daemon that starts anew takes what it finds for what was there when the fault began.
"""

from __future__ import annotations

from collections.abc import Sequence

from .model import NORMAL, Behaviour, Node, Pod

REBOOT = "reboot"


class DeviceFaults:
    """Which faults of nodes are over: (node, operand) -> what was there when the fault began, None
    since it is over."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], frozenset[str] | None] = {}

    def observe(self, node: Node, pods: Sequence[Pod]) -> None:
        """Take down what has ended a fault."""
        for operand, fault in node.faults.items():
            key = (node.name, operand)
            now = _menders(fault, node, pods)
            before = self._before.setdefault(key, now) if fault.mended_by else now
            if before is not None and _done(fault, node, pods) - before:
                self._before[key] = None
        for key in [key for key in self._before if key[0] == node.name]:
            if key[1] not in node.faults:
                del self._before[key]

    def behaviour_for(self, node: Node, pod: Pod) -> Behaviour:
        """The pod's behaviour, without the faults that are over."""
        found = node.behaviour_for(pod)
        over = any(
            node.faults[operand] is found and self._before.get((node.name, operand), "") is None
            for operand in node.faults
        )
        return NORMAL if over else found


def _menders(fault: Behaviour, node: Node, pods: Sequence[Pod]) -> frozenset[str]:
    """What is there that may end a fault: uids of pods, or the id of the boot."""
    if fault.mended_by == REBOOT:
        return frozenset((node.boot_id,))
    return frozenset(
        pod.uid for pod in pods if fault.mended_by in (pod.operand.name, pod.operand.role)
    )


def _done(fault: Behaviour, node: Node, pods: Sequence[Pod]) -> frozenset[str]:
    """What of it has done so: a pod that ends has to have succeeded."""
    ended = {
        pod.uid
        for pod in pods
        if pod.restart_policy == "Always" or pod.status.get("phase") == "Succeeded"
    }
    found = _menders(fault, node, pods)
    return found if fault.mended_by == REBOOT else found & ended
