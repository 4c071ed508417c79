# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do next, by reason: the last part of every message about a state that is not ready."""

from __future__ import annotations

_ADVICE = {
    "ApplyRefused": "mend what the API server names, and run again",
    "ConditionNotMet": "look at the object that the message names, and at its events",
    "CrashLoopBackOff": "read the pod's log (kubectl logs --previous), mend the cause, run again",
    "CreateContainerConfigError": "look for a missing ConfigMap or Secret in the pod's events",
    "CreateContainerError": "look at the pod's events (kubectl describe), mend the cause, run again",
    "DevicesBusy": "wait for a device to become free, or free one, then run again",
    "ErrImageNeverPull": "put the image on the node, or let the kubelet pull it",
    "ErrImagePull": "check the image's name, that the node reaches the registry, and image_pull_secrets",
    "FieldDiffers": "look at the object that the message names, and at its events",
    "ImageInspectError": "look at the pod's events (kubectl describe), mend the cause, run again",
    "ImagePullBackOff": "check the image's name, that the node reaches the registry, and image_pull_secrets",
    "InvalidImageName": "correct the image's name in the options",
    "KernelLabelStale": "wait for NFD's next pass, or look whether nfd-worker runs on the node",
    "LabelsMissing": "look at the pod's log, and whether NFD runs and may publish these labels",
    "LogMismatch": "read the pod's log",
    "LogsUnreadable": "look whether the API server reaches the node's kubelet",
    "MetricsUnreadable": "look whether the exporter listens on that port, and whether the API server reaches pods",
    "NewKernel": "run the playbook again",
    "NoImage": "make an image for that kernel available, or one that can be built, and run again",
    "NoLongerReady": "look at the pod's log and its readiness probe; deleting the pod starts it anew",
    "NoPod": "look at the DaemonSet's events and at the node's labels and taints",
    "NoRoom": "free cpu, memory or pods on the node, or remove the taint that keeps the pod away, then run again",
    "NodeNotReady": "bring the node back, then run again",
    "NotAdvertised": "read the device plugin's log on this node",
    "NotAllocatable": "read the device plugin's log on this node, and look at the devices' health",
    "NotApplied": "run the playbook that enables it, without --check and without limiting its tags",
    "NotFound": "make the object that the message names, or run the playbook without limiting its tags",
    "RunContainerError": "look at the pod's events (kubectl describe), mend the cause, run again",
    "SeriesMissing": "look at the exporter's log and at its list of series",
    "SignatureValidationFailed": "use a signed image, or trust its signer in the node's policy",
    "Timeout": "read the pod's log, or allow more time with timeout",
    "Unreadable": "give the run's user the right to read this object",
    "Unschedulable": "free room on the node or remove what keeps the pod away (taint, cordon, quota), then run again",
    "ValidationFailed": "read the validation pod's log",
    "ValidationTimeout": "read the validation pod's log",
    "ValidatorRefused": "look at the namespace's quota and admission rules",
}


# What a look in the middle of things may show: no trouble so far.
_PASSING = frozenset(
    {
        "Applying",
        "ContainerCreating",
        "NotLooked",
        "NotRead",
        "Pending",
        "PodInitializing",
        "Progressing",
        "Queued",
        "Reading",
        "ReadingLogs",
        "ReadingMetrics",
        "Restarted",
        "Running",
        "Sampled",
        "Starting",
        "Terminating",
        "Updating",
    }
)


def passes_by_itself(reason: str) -> bool:
    """Whether a reason says no more than that something is under way."""
    return reason in _PASSING


def advice(reason: str) -> str:
    """One imperative half sentence for a reason."""
    if passes_by_itself(reason):
        return "wait; this passes by itself, or becomes another reason"
    return _ADVICE.get(reason, "look at the pods and events of this state in the recipe's namespace")
