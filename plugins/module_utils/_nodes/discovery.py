# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster has of the hardware: the compact answer of nfd_info."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, fields, replace
from fnmatch import fnmatchcase
from typing import Any

from .._errors import InvalidInput
from .._json import part
from .facts import NodeFacts, quantity
from .grouping import Grouping
from .groups import GroupSystem, NodeGroup
from .pools import NodePool, check_membership, terms_from_list
from .selectors import LabelSet, matches
from .system import FEATURES

_PCI, _PRESENT = f"{FEATURES}pci-", ".present"


@dataclass(frozen=True)
class Discovery:
    """Facts about the matched nodes together. facts holds them one by one, sorted by name; it is no
    part of the answer.

    matched, nodes_total: numbers of nodes, the latter None where it is not known. devices: PCI
    device as NFD names it ("0302_10de": class and vendor) -> {"nodes": how many have it}.
    resources: extended resource -> {"capacity", "allocatable", "nodes"}, summed over the nodes.
    mixed: {"kernel", "os", "arch"} -> whether there are several. transitions: [{"node", "kernel",
    "label"}] for nodes that run another kernel than their label says. nfd: {"present", "source":
    "labels" | "nodeinfo", "newest", "message"}. groups: by kernel alone. node_groups: the finest
    ones that the recipe and the pools ask for, by which everything is rendered; those of expected
    kernels have no nodes yet.
    """

    matched: int
    nodes_total: int | None
    groups: tuple[NodeGroup, ...]
    devices: Mapping[str, Mapping[str, Any]]
    resources: Mapping[str, Mapping[str, float]]
    mixed: Mapping[str, bool]
    transitions: tuple[Mapping[str, str], ...]
    nfd: Mapping[str, Any]
    node_groups: tuple[NodeGroup, ...] = ()
    grouping: Grouping = field(default_factory=Grouping)
    facts: tuple[NodeFacts, ...] = field(default=(), compare=False, repr=False)

    @property
    def group_of(self) -> dict[str, str]:
        """Node name -> id of the finest group that it is in."""
        return {node: group.id for group in self.node_groups for node in group.nodes}

    def coarse(self, per: Sequence[str]) -> tuple[NodeGroup, ...]:
        """The groups by these facets, sorted by id."""
        return self.grouping.coarse(self.node_groups, per)

    def to_dict(self) -> dict[str, Any]:
        """The shape that nfd_info returns, of plain dicts and lists."""
        return {
            "matched": self.matched,
            "nodes_total": self.nodes_total,
            "groups": [_group_to_dict(group) for group in self.groups],
            "devices": {name: dict(device) for name, device in self.devices.items()},
            "resources": {name: dict(numbers) for name, numbers in self.resources.items()},
            "mixed": dict(self.mixed),
            "transitions": [dict(transition) for transition in self.transitions],
            "nfd": dict(self.nfd),
            "node_groups": [_group_to_dict(group) for group in self.node_groups],
            "pools": [pool.to_dict() for pool in self.grouping.pools],
        }

    @classmethod
    def from_dict(cls, given: Mapping[str, Any], grouping: Grouping | None = None) -> Discovery:
        """The other way round, without the facts of single nodes. Raises InvalidInput if it is not
        such a dict.

        grouping: by what the recipe tells nodes apart; the pools' nodes are those of the dict.
        """
        try:
            pools = tuple(
                NodePool(str(pool["name"]), terms_from_list(pool["terms"]))
                for pool in given["pools"]
            )
            node_groups = tuple(_group_from_dict(group) for group in given["node_groups"])
            return cls(
                matched=int(given["matched"]),
                nodes_total=given["nodes_total"],
                groups=tuple(_group_from_dict(group) for group in given["groups"]),
                devices={str(name): dict(device) for name, device in given["devices"].items()},
                resources={
                    str(name): dict(numbers) for name, numbers in given["resources"].items()
                },
                mixed=dict(given["mixed"]),
                transitions=tuple(dict(transition) for transition in given["transitions"]),
                nfd=dict(given["nfd"]),
                node_groups=node_groups,
                grouping=replace(
                    grouping or Grouping(finest=node_groups[0].per if node_groups else ()),
                    pools=pools,
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InvalidInput(
                "this is not what hardware.enablement.nfd_info returns",
                why=f"{type(error).__name__}: {error}",
                todo="hand over the result of nfd_info unchanged",
            ) from error


def discover(
    nodes: Iterable[Mapping[str, Any]],
    any_of: Sequence[LabelSet],
    resources: Sequence[str] = (),
    *,
    nodes_total: int | None = None,
    nfd_present: bool | None = None,
    newest: str | None = None,
    absence: str = "",
    grouping: Grouping | None = None,
) -> Discovery:
    """Discovery of those Node objects that match any of the label sets; an object seen twice counts
    once.

    resources: names of extended resources, which may hold *. nodes_total, nfd_present, newest (time
    of the newest NodeFeature): what the caller knows from elsewhere; without nfd_present the labels
    of the given nodes tell. absence: why no node matches, where the caller has found out. grouping:
    by what nodes are told apart, kernel alone by default. Raises InvalidInput for a node in two
    pools, for a pool without a node, and where what serves a node would change unasked.
    """
    grouping = grouping or Grouping()
    seen = {str(node["metadata"]["name"]): node for node in nodes}
    labelled = any(_has_features(part(node["metadata"], "labels")) for node in seen.values())
    facts = [NodeFacts.from_object(seen[name]) for name in sorted(seen)]
    matched = tuple(node for node in facts if matches(node.labels, any_of, node.taints))
    check_membership(grouping.pools, matched)
    grouping.refuse_unsaid(matched)
    node_groups = grouping.groups(matched)
    return Discovery(
        matched=len(matched),
        nodes_total=nodes_total,
        groups=Grouping().coarse(
            (replace(group, pool="") for group in node_groups if group.nodes), ("kernel",)
        ),
        devices=_devices(matched),
        resources=_resources(matched, resources),
        mixed=_mixed(matched),
        transitions=_transitions(matched),
        nfd=_nfd(
            matched, newest, absence, present=labelled if nfd_present is None else nfd_present
        ),
        node_groups=node_groups,
        grouping=grouping,
        facts=matched,
    )


def _mixed(nodes: Sequence[NodeFacts]) -> dict[str, bool]:
    """In what the nodes differ."""
    facts: Mapping[str, Set[object]] = {
        "kernel": {node.system.kernel for node in nodes},
        "os": {(node.system.os_id, node.system.os_version) for node in nodes},
        "arch": {node.system.arch for node in nodes},
    }
    return {name: len(values) > 1 for name, values in facts.items()}


def _transitions(nodes: Sequence[NodeFacts]) -> tuple[Mapping[str, str], ...]:
    """The nodes that NFD has yet to label again, since they run another kernel."""
    return tuple(
        {"node": node.name, "kernel": node.system.kernel, "label": node.system.kernel_label or ""}
        for node in nodes
        if node.system.in_transition
    )


def _has_features(labels: Mapping[str, str]) -> bool:
    return any(name.startswith(FEATURES) for name in labels)


def _devices(nodes: Sequence[NodeFacts]) -> dict[str, dict[str, Any]]:
    counts = Counter(
        name[len(_PCI) : -len(_PRESENT)]
        for node in nodes
        for name, value in node.labels.items()
        if name.startswith(_PCI) and name.endswith(_PRESENT) and value == "true"
    )
    return {device: {"nodes": counts[device]} for device in sorted(counts)}


def _resources(nodes: Sequence[NodeFacts], patterns: Sequence[str]) -> dict[str, dict[str, float]]:
    known = set().union(*(node.capacity for node in nodes))
    names = {name for name in known if any(fnmatchcase(name, pattern) for pattern in patterns)}
    return {
        name: {
            "capacity": sum(quantity(node.capacity.get(name)) for node in nodes),
            "allocatable": sum(quantity(node.allocatable.get(name)) for node in nodes),
            "nodes": sum(1 for node in nodes if quantity(node.capacity.get(name)) > 0),
        }
        for name in sorted(names)
    }


def _nfd(
    nodes: Sequence[NodeFacts], newest: str | None, absence: str, *, present: bool
) -> dict[str, Any]:
    by_label = [node for node in nodes if node.system.kernel_label]
    if present and nodes and len(by_label) == len(nodes):
        source, message = "labels", ""
    elif present and nodes:
        source = "labels" if by_label else "nodeinfo"
        missing = len(nodes) - len(by_label)
        message = (
            f"{missing} of {len(nodes)} nodes have no kernel label of NFD and are taken by name"
        )
    elif nodes:
        source = "nodeinfo"
        message = "no node carries labels of Node Feature Discovery; kernel and OS are what the kubelets report"
    else:
        source = "nodeinfo"
        message = absence or "no node matches the selector"
    return {"present": present, "source": source, "newest": newest, "message": message}


def _group_to_dict(group: NodeGroup) -> dict[str, Any]:
    return {
        "id": group.id,
        **asdict(group.system),
        "runtime_major": group.system.runtime_major,
        "allocation": group.allocation,
        "pool": group.pool,
        "preinstalled_driver": group.preinstalled,
        "per": list(group.per),
        "nodes": list(group.nodes),
        "coming": list(group.coming),
        "count": len(group.nodes),
        "by_name": {facet: list(names) for facet, names in group.by_name.items()},
        "terms": [dict(term) for term in group.terms],
        "held": [dict(term) for term in group.held],
    }


def _group_from_dict(given: Mapping[str, Any]) -> NodeGroup:
    return NodeGroup(
        id=str(given["id"]),
        per=tuple(str(facet) for facet in given["per"]),
        system=GroupSystem(**{each.name: given[each.name] for each in fields(GroupSystem)}),
        preinstalled=bool(given["preinstalled_driver"]),
        allocation=str(given["allocation"]),
        pool=str(given["pool"]),
        nodes=tuple(str(node) for node in given["nodes"]),
        coming=tuple(str(node) for node in given["coming"]),
        by_name={str(facet): tuple(map(str, names)) for facet, names in given["by_name"].items()},
        terms=tuple(dict(term) for term in given["terms"]),
        held=tuple(dict(term) for term in given["held"]),
    )
