# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of one node, taken from a Node object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from .._json import Obj, part
from .._times import seconds
from .system import coreos_build, label_form, os_of

KERNEL = "feature.node.kubernetes.io/kernel-version.full"
ARCH = "kubernetes.io/arch"

_QUANTITY = re.compile(
    r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]{1,3})?)(m|u|n|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?", re.ASCII
)
# What is larger counts as this (ParseQuantity in apimachinery's pkg/api/resource/quantity.go).
_LARGEST = Decimal(2**63 - 1)
_SHOWN = 80
_FACTORS = {
    **dict(
        zip(
            "numkMGTPE",
            (Decimal(10) ** power for power in (-9, -6, -3, 3, 6, 9, 12, 15, 18)),
            strict=True,
        )
    ),
    **{
        suffix: Decimal(1024) ** power
        for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)
    },
}


def quantity(value: str | int | float | None) -> float:
    """A Kubernetes quantity ("8", "500m", "2Gi") as a number, an int where it is a whole one; None
    counts as 0.

    Raises ValueError for anything else.
    """
    if value is None:
        return 0
    text = str(value)
    found = _QUANTITY.fullmatch(text)
    if not found:
        raise ValueError(f"{text[:_SHOWN]!r} is not a quantity")
    try:
        number = Decimal(found[1]) * _FACTORS.get(found[2] or "", Decimal(1))
    except InvalidOperation:
        raise ValueError(f"{text[:_SHOWN]!r} is not a quantity") from None
    number = max(min(number, _LARGEST), -_LARGEST)
    return int(number) if number == number.to_integral_value() else float(number)


@dataclass(frozen=True)
class NodeFacts:
    """One node. Equal facts mean that nothing changed but the kubelet's heartbeats.

    kernel: as the kubelet reports it. kernel_label: what NFD's label says, None without the label;
    it differs from kernel_as_label after a reboot into another kernel, until NFD has labelled the
    node again. ready_since and created are seconds since the epoch. ready_message says why a node
    is not ready. capacity and allocatable: quantities as the API writes them, see quantity().
    deleted: since when the Node object is being deleted, None where it is not.
    os_build: of RHCOS, "" elsewhere. runtime: name of the container runtime ("containerd", "cri-o")
    and its version; "" where the kubelet has not said.
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    kernel: str
    kernel_label: str | None
    boot_id: str
    os_id: str
    os_version: str
    arch: str
    ready: bool
    ready_message: str
    ready_since: float | None
    schedulable: bool
    taints: tuple[Mapping[str, str], ...]
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    created: float | None
    os_build: str = ""
    runtime: str = ""
    runtime_version: str = ""
    deleted: float | None = None

    @property
    def runtime_major(self) -> str:
        """The first number of the container runtime's version."""
        return self.runtime_version.partition(".")[0]

    @property
    def kernel_as_label(self) -> str:
        """The label value that NFD writes for the kernel that runs."""
        return label_form(self.kernel)

    @property
    def why_not_ready(self) -> str:
        """In a sentence, "" where the node is ready."""
        said = self.ready_message or "its kubelet does not answer"
        return "" if self.ready else f"the node is NotReady: {said}"

    @property
    def in_transition(self) -> bool:
        """Whether NFD's label still names another kernel than the one that runs."""
        return _names_another(self.kernel_label, self.kernel)

    @classmethod
    def from_object(cls, node: Mapping[str, Any]) -> NodeFacts:
        """The facts of a Node object."""
        metadata, spec, status = part(node, "metadata"), part(node, "spec"), part(node, "status")
        info, labels = part(status, "nodeInfo"), part(metadata, "labels")
        kernel, kernel_label = str(info.get("kernelVersion", "")), labels.get(KERNEL)
        image = str(info.get("osImage", ""))
        stale = _names_another(kernel_label, kernel)
        os_id, os_version = os_of(labels, image, labels_stale=stale)
        runtime, _separator, runtime_version = str(
            info.get("containerRuntimeVersion", "")
        ).partition("://")
        ready = _ready_condition(status)
        is_ready = ready.get("status") == "True"
        return cls(
            name=str(metadata.get("name", "")),
            uid=str(metadata.get("uid", "")),
            labels=labels,
            annotations=part(metadata, "annotations"),
            kernel=kernel,
            kernel_label=kernel_label,
            boot_id=str(info.get("bootID", "")),
            os_id=os_id,
            os_version=os_version,
            arch=str(info.get("architecture") or labels.get(ARCH) or ""),
            ready=is_ready,
            ready_message="" if is_ready else _said_in(ready),
            ready_since=seconds(ready.get("lastTransitionTime")),
            schedulable=not spec.get("unschedulable", False),
            taints=tuple(spec.get("taints") or ()),
            capacity=part(status, "capacity"),
            allocatable=part(status, "allocatable"),
            created=seconds(metadata.get("creationTimestamp")),
            os_build=coreos_build(image),
            runtime=runtime,
            runtime_version=runtime_version,
            deleted=seconds(metadata.get("deletionTimestamp")),
        )


def _names_another(kernel_label: str | None, kernel: str) -> bool:
    return bool(kernel_label) and kernel_label != label_form(kernel)


def _ready_condition(status: Mapping[str, Any]) -> Obj:
    """Of a node's status; empty where the kubelet has not said."""
    conditions: Mapping[str, Obj] = {
        entry.get("type"): entry for entry in status.get("conditions") or []
    }
    return conditions.get("Ready", {})


def _said_in(condition: Obj) -> str:
    return str(condition.get("message") or condition.get("reason") or "")
