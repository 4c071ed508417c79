# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do next, by reason: the last part of every message about a state that is not ready."""

from __future__ import annotations

_ADVICE = {
    "CrashLoopBackOff": "read the pod's log (kubectl logs --previous), mend the cause, run again",
    "CreateContainerConfigError": "look for a missing ConfigMap or Secret in the pod's events",
    "DevicesBusy": "wait for a device to become free, or free one, then run again",
    "ErrImagePull": "check the image's name, that the node reaches the registry, and image_pull_secrets",
    "ImagePullBackOff": "check the image's name, that the node reaches the registry, and image_pull_secrets",
    "InvalidImageName": "correct the image's name in the options",
    "KernelLabelStale": "wait for NFD's next pass, or look whether nfd-worker runs on the node",
    "LabelsMissing": "look at the pod's log, and whether NFD runs and may publish these labels",
    "LogMismatch": "read the pod's log",
    "LogsUnreadable": "look whether the API server reaches the node's kubelet",
    "MetricsUnreadable": "look whether the exporter listens on that port",
    "NoLongerReady": "look at the pod's log and its readiness probe; deleting the pod starts it anew",
    "NewKernel": "run the playbook again",
    "NoPod": "look at the DaemonSet's events and at the node's labels and taints",
    "NoRoom": "free cpu, memory or pods on the node, or remove the taint that keeps the pod away, then run again",
    "NodeNotReady": "bring the node back, then run again",
    "NotAdvertised": "read the device plugin's log on this node",
    "NotAllocatable": "read the device plugin's log on this node, and look at the devices' health",
    "NotApplied": "run the playbook again without limiting its tags",
    "Timeout": "read the pod's log, or allow more time with timeout",
    "Unschedulable": "free room on the node or remove what keeps the pod away (taint, cordon, quota), then run again",
    "ValidationFailed": "read the validation pod's log",
    "ValidationTimeout": "read the validation pod's log",
    "ValidatorRefused": "look at the namespace's quota and admission rules",
}


def advice(reason: str) -> str:
    """One imperative half sentence for a reason."""
    return _ADVICE.get(reason, "look at the pods and events of this state in the recipe's namespace")
