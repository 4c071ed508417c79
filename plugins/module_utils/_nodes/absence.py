# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why no node has the hardware: what was looked for, whether NFD runs, what is there instead, what
to do. Pure.

By default NFD names PCI devices <class>_<vendor>, and only those of the classes 03, 0b40 and 12
(https://kubernetes-sigs.github.io/node-feature-discovery/stable/reference/worker-configuration-reference.html).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from .selectors import LabelSet, labels_alone
from .system import FEATURES

MAX_SIMILAR = 3

_DEVICE = re.compile(rf"{re.escape(FEATURES)}(?P<bus>pci|usb)-(?P<fields>[0-9a-f_]+)\.present")
_CLOSE = 0.85
# How much a label differs from those looked for. From _OTHER_VENDOR on it is other hardware.
_OTHER_VALUE, _SAME_VENDOR, _NEARLY, _OTHER_VENDOR = range(4)


@dataclass(frozen=True)
class Evidence:
    """What a cluster without a matching node shows.

    labels: those of each of its nodes. discovery: the DaemonSets ("namespace/name") that look like
    NFD's; None where they were not needed, or may not be read.
    """

    labels: Sequence[Mapping[str, str]]
    discovery: Sequence[str] | None = None

    @property
    def labelled(self) -> int:
        """How many nodes carry labels of NFD."""
        return sum(any(name.startswith(FEATURES) for name in labels) for labels in self.labels)

    @property
    def nfd_present(self) -> bool:
        """Whether NFD has left any trace."""
        return bool(self.labelled or self.discovery)


@dataclass(frozen=True, order=True)
class Similar:
    """A label that is there instead of one that was looked for: how much it differs, and in what."""

    rank: int
    label: str
    nodes: int
    difference: str

    @property
    def may_be_it(self) -> bool:
        """Whether it may well be the same hardware."""
        return self.rank < _OTHER_VENDOR


def explain(any_of: Sequence[LabelSet], evidence: Evidence) -> str:
    """One sentence: no node matches, what was looked for, whether NFD runs, what is there instead;
    what to do."""
    any_of = [labels_alone(labels) for labels in any_of]
    found = similar(any_of, evidence.labels)
    parts = [
        "no node matches the selector",
        f"looked for {' or '.join(_wanted(labels, evidence.labels) for labels in any_of)}",
        _discovery(evidence),
    ]
    if found:
        named = ", ".join(
            f"{entry.label} ({_nodes(entry.nodes)}: {entry.difference})" for entry in found
        )
        parts.append(f"similar labels that are there: {named}")
    return f"{'; '.join(parts)}; {_todo(any_of, evidence, found)}"


def similar(any_of: Sequence[LabelSet], labels: Sequence[Mapping[str, str]]) -> list[Similar]:
    """Labels of nodes that resemble those looked for, the most alike first, three at most."""
    wanted = {name: value for label_set in any_of for name, value in label_set.items()}
    there = Counter((name, value) for node in labels for name, value in node.items())
    found = []
    for (name, value), nodes in there.items():
        difference = _difference(name, value, wanted)
        if difference:
            found.append(Similar(difference[0], f"{name}={value}", nodes, difference[1]))
    return sorted(found)[:MAX_SIMILAR]


def _difference(name: str, value: str, wanted: Mapping[str, str | None]) -> tuple[int, str] | None:
    """Rank and text of what tells a label from those looked for; None where it is one of them, or
    resembles none."""
    if name in wanted:
        expected = wanted[name]
        return None if expected in (None, value) else (_OTHER_VALUE, f"the value is not {expected}")
    device = _DEVICE.fullmatch(name)
    if device:
        return _other_device(device["bus"], device["fields"], wanted)
    close = get_close_matches(name, wanted, n=1, cutoff=_CLOSE)
    return (_NEARLY, f"nearly {close[0]}") if close else None


def _other_device(bus: str, fields: str, wanted: Iterable[str]) -> tuple[int, str] | None:
    """What tells a device from those looked for on its bus; None where it resembles none."""
    ours = [
        found["fields"] for found in map(_DEVICE.fullmatch, wanted) if found and found["bus"] == bus
    ]
    if any(_vendor(each) in fields.split("_") for each in ours):
        return _SAME_VENDOR, "the same vendor, under another class or name"
    if any(_class(each) and _class(each) == _class(fields) for each in ours):
        return _OTHER_VENDOR, "the same class of device, of another vendor"
    return None


def _vendor(fields: str) -> str:
    """Of class_vendor, class_vendor_device and vendor, the vendor."""
    parts = fields.split("_")
    return parts[min(1, len(parts) - 1)]


def _class(fields: str) -> str:
    parts = fields.split("_")
    return parts[0] if len(parts) > 1 else ""


def _wanted(labels: LabelSet, nodes: Sequence[Mapping[str, str]]) -> str:
    """A label set; where it has several labels, with the number of nodes that carry each."""
    texts = []
    for name, value in sorted(labels.items()):
        count = sum(name in node and value in (None, node[name]) for node in nodes)
        text = name if value is None else f"{name}={value}"
        texts.append(f"{text} ({_nodes(count)})" if len(labels) > 1 else text)
    return " with ".join(texts)


def _discovery(evidence: Evidence) -> str:
    total = len(evidence.labels)
    if evidence.labelled:
        return f"Node Feature Discovery has labelled {evidence.labelled} of {_nodes(total)}"
    if not total:
        return "the cluster has no nodes"
    if evidence.discovery:
        return f"Node Feature Discovery ({', '.join(evidence.discovery)}) has labelled none of {_nodes(total)}"
    seen = (
        "no DaemonSet of it is there"
        if evidence.discovery is not None
        else "its DaemonSets may not be read"
    )
    return f"none of {_nodes(total)} has a label of Node Feature Discovery, and {seen}"


def _todo(any_of: Sequence[LabelSet], evidence: Evidence, found: Sequence[Similar]) -> str:
    if not evidence.labels:
        return "add nodes to the cluster"
    if any(len(labels) > 1 and _some_label_matches(labels, evidence.labels) for labels in any_of):
        return "correct the selector (option node_selector), or label the nodes that are meant"
    if any(entry.may_be_it for entry in found):
        return "if this is the hardware, let NFD publish it under the name looked for, or give the nodes that label"
    if evidence.labelled:
        return (
            "if a node has the hardware, see whether nfd-worker runs there and publishes its device class"
            " (sources.pci.deviceClassWhitelist)"
        )
    if evidence.discovery:
        return "look at the pods and logs of nfd-worker and nfd-master"
    return (
        "run the playbook enable with -e hardware_enablement_nfd=true, which deploys it, or give the nodes that have"
        " the hardware one of these labels"
    )


def _some_label_matches(labels: LabelSet, nodes: Sequence[Mapping[str, str]]) -> bool:
    return any(
        name in node and value in (None, node[name])
        for node in nodes
        for name, value in labels.items()
    )


def _nodes(count: int) -> str:
    return f"{count} node{'' if count == 1 else 's'}"
