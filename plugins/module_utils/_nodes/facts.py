# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of one node, taken from a Node object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

from .._cluster.api_objects.labels import DOMAIN
from .._json import Obj, elements, part
from .._times import seconds
from .distribution import distribution_of
from .groups import make_id
from .system import OS_ID, OS_VERSION, SIGNED_ONLY, coreos_build, label_form, os_of

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
    return 0 if value is None else _number(str(value))


# A fleet has few different amounts, and each of its nodes has many.
@lru_cache(maxsize=4096)
def _number(text: str) -> float:
    found = _QUANTITY.fullmatch(text)
    if not found:
        raise ValueError(f"{text[:_SHOWN]!r} is not a quantity")
    try:
        number = Decimal(found[1]) * _FACTORS.get(found[2] or "", Decimal(1))
    except InvalidOperation:
        raise ValueError(f"{text[:_SHOWN]!r} is not a quantity") from None
    number = max(min(number, _LARGEST), -_LARGEST)
    return int(number) if number == number.to_integral_value() else float(number)


def _names_another(kernel_label: str | None, kernel: str) -> bool:
    return bool(kernel_label) and kernel_label != label_form(kernel)


@dataclass(frozen=True)
class NodeSystem:
    """What software a node runs, by which groups of nodes are made.

    kernel: as the kubelet reports it. kernel_label: what NFD's label says, None without the label;
    it differs from kernel_as_label after a reboot into another kernel, until NFD has labelled the
    node again. signed_only: whether its label says that it takes signed kernel modules only.
    os_build: of RHCOS, "" elsewhere. runtime: name of the container runtime
    ("containerd", "cri-o") and its version; "" where the kubelet has not said. distribution: of
    Kubernetes, "" for none that is known.
    """

    kernel: str
    kernel_label: str | None
    signed_only: bool
    os_id: str
    os_version: str
    os_build: str
    arch: str
    runtime: str
    runtime_version: str
    distribution: str

    @property
    def runtime_major(self) -> str:
        """The first number of the container runtime's version."""
        return self.runtime_version.partition(".")[0]

    @property
    def kernel_as_label(self) -> str:
        """The label value that NFD writes for the kernel that runs."""
        return label_form(self.kernel)

    @property
    def kernel_group(self) -> str:
        """The id of the group of nodes with this kernel."""
        return make_id(self.kernel, self.os_id, self.os_version, self.arch)

    @property
    def in_transition(self) -> bool:
        """Whether NFD's label still names another kernel than the one that runs."""
        return _names_another(self.kernel_label, self.kernel)

    @classmethod
    def from_info(cls, info: Mapping[str, Any], labels: Mapping[str, str]) -> NodeSystem:
        """Of a Node's status.nodeInfo and its labels."""
        return _system(
            str(info.get("kernelVersion", "")),
            labels.get(KERNEL),
            labels.get(OS_ID, ""),
            labels.get(OS_VERSION, ""),
            str(info.get("osImage", "")),
            str(info.get("architecture") or labels.get(ARCH) or ""),
            str(info.get("containerRuntimeVersion", "")),
            distribution_of(str(info.get("kubeletVersion", "")), labels),
            signed_only=labels.get(SIGNED_ONLY) == "true",
        )


# Thousands of nodes run a few systems.
@lru_cache(maxsize=1024)
def _system(
    kernel: str,
    kernel_label: str | None,
    os_label: str,
    version_label: str,
    image: str,
    arch: str,
    container_runtime: str,
    distribution: str,
    *,
    signed_only: bool,
) -> NodeSystem:
    stale = _names_another(kernel_label, kernel)
    os_id, os_version = os_of(
        {OS_ID: os_label, OS_VERSION: version_label}, image, labels_stale=stale
    )
    runtime, _separator, version = container_runtime.partition("://")
    return NodeSystem(
        kernel=kernel,
        kernel_label=kernel_label,
        signed_only=signed_only,
        os_id=os_id,
        os_version=os_version,
        os_build=coreos_build(image),
        arch=arch,
        runtime=runtime,
        runtime_version=version,
        distribution=distribution,
    )


@dataclass(frozen=True)
class NodeReadiness:
    """A node's condition Ready. message: why it is not. since: of its last change, in seconds since
    the epoch."""

    ready: bool
    message: str
    since: float | None

    @property
    def why_not(self) -> str:
        """In a sentence, "" where the node is ready."""
        said = self.message or "its kubelet does not answer"
        return "" if self.ready else f"the node is NotReady: {said}"

    @classmethod
    def from_status(cls, status: Mapping[str, Any]) -> NodeReadiness:
        """Of a Node's status; not ready where the kubelet has not said."""
        conditions: Mapping[str, Obj] = {
            entry.get("type"): entry for entry in elements(status, "conditions")
        }
        found = conditions.get("Ready", {})
        ready = found.get("status") == "True"
        message = "" if ready else str(found.get("message") or found.get("reason") or "")
        return cls(ready, message, seconds(found.get("lastTransitionTime")))


@dataclass(frozen=True)
class NodeFacts:
    """One node. Equal facts mean that nothing changed but the kubelet's heartbeats.

    capacity and allocatable: quantities as the API writes them, see quantity(). created and
    deleted: seconds since the epoch; deleted is None where the Node object is not being deleted.
    conditions: status and reason by type, of those that are ours.
    """

    name: str
    uid: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    system: NodeSystem
    boot_id: str
    readiness: NodeReadiness
    schedulable: bool
    taints: tuple[Mapping[str, str], ...]
    capacity: Mapping[str, str]
    allocatable: Mapping[str, str]
    created: float | None
    deleted: float | None
    conditions: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def from_object(cls, node: Mapping[str, Any]) -> NodeFacts:
        """The facts of a Node object."""
        metadata, spec, status = part(node, "metadata"), part(node, "spec"), part(node, "status")
        info, labels = part(status, "nodeInfo"), part(metadata, "labels")
        return cls(
            name=str(metadata.get("name", "")),
            uid=str(metadata.get("uid", "")),
            labels=labels,
            annotations=part(metadata, "annotations"),
            system=NodeSystem.from_info(info, labels),
            boot_id=str(info.get("bootID", "")),
            readiness=NodeReadiness.from_status(status),
            schedulable=not spec.get("unschedulable", False),
            taints=tuple(elements(spec, "taints")),
            capacity=part(status, "capacity"),
            allocatable=part(status, "allocatable"),
            created=seconds(metadata.get("creationTimestamp")),
            deleted=seconds(metadata.get("deletionTimestamp")),
            conditions=own_conditions(status),
        )


def own_conditions(status: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Status and reason by type, of the conditions in a node's status that are ours."""
    return {
        str(entry["type"]): (str(entry.get("status", "")), str(entry.get("reason", "")))
        for entry in elements(status, "conditions")
        if str(entry.get("type", "")).startswith(f"{DOMAIN}/")
    }
