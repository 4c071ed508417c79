# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node objects for groups of nodes that a person describes, as Node Feature Discovery would label
them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..._errors import InvalidInput
from ..._json import Obj
from ..._nodes.facts import ARCH, KERNEL
from ..._nodes.selectors import LabelSet, labels_alone
from ..._nodes.system import OS_ID, OS_VERSION, label_form


@dataclass(frozen=True)
class SampleGroup:
    """Nodes that are alike. os_id, os_version: of their os-release. architecture: as Kubernetes names
    it. runtime: "containerd://2.1.4", as kubelets tell it. labels: those by which pools or a driver
    that the nodes bring are known."""

    kernel: str
    os_id: str
    os_version: str = ""
    architecture: str = "amd64"
    runtime: str = "containerd://2.1.4"
    labels: Mapping[str, str] = field(default_factory=dict)


def sample_nodes(groups: Sequence[SampleGroup], selector: Sequence[LabelSet]) -> list[Obj]:
    """A node of each group that has the hardware; selector: the label sets that say so. Raises
    InvalidInput where a group's own labels say that it has not."""
    return [_node(f"described-{index}", group, selector) for index, group in enumerate(groups, 1)]


def _node(name: str, group: SampleGroup, selector: Sequence[LabelSet]) -> Obj:
    labels = {
        KERNEL: label_form(group.kernel),
        OS_ID: label_form(group.os_id),
        ARCH: group.architecture,
        **({OS_VERSION: label_form(group.os_version)} if group.os_version else {}),
        **_hardware(group, selector),
        **group.labels,
    }
    return {
        "metadata": {"name": name, "labels": labels},
        "status": {
            "nodeInfo": {
                "kernelVersion": group.kernel,
                "architecture": group.architecture,
                "containerRuntimeVersion": group.runtime,
            }
        },
    }


def _hardware(group: SampleGroup, selector: Sequence[LabelSet]) -> dict[str, str]:
    """The labels of the first set that the group's own do not contradict."""
    for wanted in map(labels_alone, selector):
        if all(
            group.labels.get(name, value) == value or value is None
            for name, value in wanted.items()
        ):
            return {name: "true" if value is None else value for name, value in wanted.items()}
    raise InvalidInput(
        f"The nodes with kernel {group.kernel} do not have the hardware",
        why="their labels contradict the recipe's selector",
        todo="leave the labels of the hardware out of the description: they are filled in",
    )
