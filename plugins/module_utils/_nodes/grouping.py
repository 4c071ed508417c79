# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From nodes to groups: which facts a node has, and which groups there are for the facts that
count."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .device_allocation import AllocationChange, DeviceAllocation
from .expected_kernels import ExpectedKernel, groups_to_come
from .expressions import EVERYWHERE, Expression, Terms, both, of_label_sets, outside
from .facts import ARCH, KERNEL, NodeFacts
from .groups import FACETS, GroupSystem, NodeGroup, Term, make_group_id, make_id, normal
from .pools import NodePool
from .selectors import LabelSet, matches
from .system import FEATURES, OS_ID, OS_VERSION, label_form

EVERY_FACT = normal(FACETS)


@dataclass(frozen=True)
class Grouping:
    """By what nodes are told apart. finest: all facets that anybody asks for; every other group is
    made of these.

    preinstalled: label sets, any of which says that a node brings its driver. published: facet ->
    the node label of ours that tells it. allocation: by which ways devices are served, None where there
    is but one. expected: kernels that nodes will run, for which there are groups before there are
    nodes.
    """

    finest: tuple[str, ...] = normal(("kernel",))
    pools: tuple[NodePool, ...] = ()
    preinstalled: tuple[LabelSet, ...] = ()
    published: Mapping[str, str] = field(default_factory=dict, hash=False)
    allocation: DeviceAllocation | None = field(default=None, hash=False)
    expected: tuple[ExpectedKernel, ...] = ()
    _ids: dict[tuple[Any, ...], str] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def group_of(self, node: NodeFacts, per: Sequence[str] | None = None) -> NodeGroup:
        """The group that a node belongs to, of that node alone and without terms; per: the finest
        by default.

        A node belongs to the group of the kernel that it runs, even while its label still names the
        one before.
        """
        return self._of_alike([node], per)

    def _of_alike(self, nodes: Sequence[NodeFacts], per: Sequence[str] | None = None) -> NodeGroup:
        node = nodes[0]
        system = node.system
        group = NodeGroup(
            id="",
            per=EVERY_FACT,
            system=GroupSystem(
                kernel=system.kernel,
                kernel_label=system.kernel_as_label,
                signed_only=any(each.system.signed_only for each in nodes),
                os_id=system.os_id,
                os_version=system.os_version,
                os_build=max((each.system.os_build for each in nodes), key=_numbers),
                arch=system.arch,
                runtime=system.runtime,
                runtime_version=_lowest(each.system.runtime_version for each in nodes),
            ),
            preinstalled=matches(node.labels, self.preinstalled),
            allocation=self._allocation_of(node),
            pool=self._pool_of(node),
        ).narrowed(self.finest if per is None else per)
        return replace(group, nodes=tuple(each.name for each in nodes), by_name=_lacking(nodes))

    def _facts(self, node: NodeFacts) -> tuple[Any, ...]:
        """All that tells nodes apart, but for the build: nodes that are alike in this are in the
        same groups."""
        system = node.system
        software = (
            system.kernel,
            system.os_id,
            system.os_version,
            system.arch,
            system.runtime,
            system.runtime_major,
        )
        brought = matches(node.labels, self.preinstalled)
        return (*software, brought, self._allocation_of(node), self._pool_of(node))

    def _pool_of(self, node: NodeFacts) -> str:
        return next((pool.name for pool in self.pools if pool.has(node.labels)), "")

    def _allocation_of(self, node: NodeFacts) -> str:
        """Of a node, as a group has it."""
        return (
            self._if_unusual(self.allocation.way_of(node.labels, self._pool_of(node)))
            if self.allocation
            else ""
        )

    def _if_unusual(self, way: str) -> str:
        """A way as a group has it: the usual one is nothing special."""
        return "" if self.allocation is None or way == self.allocation.usual else way

    def allocation_change(self, node: NodeFacts) -> AllocationChange | None:
        """What an exchange would make of what serves a node's devices; None for nothing."""
        if self.allocation is None:
            return None
        return self.allocation.change_of(node.labels, self._pool_of(node))

    def allocation_rows(self, nodes: Iterable[NodeFacts]) -> list[dict[str, Any]]:
        """By which ways the nodes are served, and are to be: a row (way, wanted, nodes) for each pair;
        none where there is but one way."""
        if self.allocation is None:
            return []
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for node in nodes:
            pool = self._pool_of(node)
            now = self.allocation.fact(node.labels, pool)
            found[now, self.allocation.wanted[pool]].append(node.name)
        return [
            {"way": way, "wanted": wanted, "nodes": sorted(names)}
            for (way, wanted), names in sorted(found.items())
        ]

    def refuse_unsaid(self, nodes: Iterable[NodeFacts]) -> None:
        """Raises InvalidInput where what serves a node would change unasked."""
        if self.allocation is None:
            return
        for node in nodes:
            self.allocation.refuse_unsaid(node.name, node.labels, self._pool_of(node))

    def facts_of(self, node: NodeFacts) -> dict[str, str]:
        """The labels of ours that a node should carry: name -> value."""
        system = node.system
        values = {
            "kernel": lambda: system.kernel_group,
            "os": lambda: os_value(system.os_id, system.os_version),
            "runtime": lambda: runtime_value(system.runtime, system.runtime_major),
        }
        found = {label: values[facet]() for facet, label in self.published.items()}
        if self.allocation:
            found[self.allocation.label] = self.allocation.fact(node.labels, self._pool_of(node))
        return found

    def id_of(self, node: NodeFacts) -> str:
        """The id of the finest group that a node belongs to; quick, since every event of a node
        asks for it."""
        key = self._facts(node)
        if key not in self._ids:
            self._ids[key] = self.group_of(node).id
        return self._ids[key]

    def ids_of(self, node: NodeFacts, pers: Iterable[Sequence[str]]) -> set[str]:
        """The ids of all groups that a node belongs to, one for each set of facets."""
        return {self.group_of(node, per).id for per in pers}

    def groups(self, nodes: Iterable[NodeFacts]) -> tuple[NodeGroup, ...]:
        """The finest groups of the nodes, and those that an exchange or an expected kernel would bring
        some into, sorted by id."""
        alike: dict[tuple[Any, ...], list[NodeFacts]] = defaultdict(list)
        coming: dict[tuple[Any, ...], list[NodeFacts]] = defaultdict(list)
        for node in nodes:
            alike[self._facts(node)].append(node)
            if change := self.allocation_change(node):
                to_come = (*self._facts(node), change.wanted)
                coming[to_come].append(node)
        parts = [self._of_alike(members) for members in alike.values()]
        parts += [self._to_come(members, key[-1]) for key, members in coming.items()]
        expected = groups_to_come(self.expected, parts)
        return self._merged([*parts, *(group.narrowed(group.per) for group in expected)])

    def _to_come(self, nodes: Sequence[NodeFacts], way: str) -> NodeGroup:
        """The group that alike nodes are in once their devices are served by this way."""
        group = self._of_alike(nodes)
        found = replace(group, allocation=self._if_unusual(way))
        return replace(found, id=make_group_id(found), nodes=(), coming=group.nodes)

    def coarse(self, groups: Iterable[NodeGroup], per: Sequence[str]) -> tuple[NodeGroup, ...]:
        """The groups by fewer facets that these groups make together, sorted by id."""
        return self._merged(
            replace(
                group.narrowed(per),
                nodes=group.nodes,
                coming=group.coming,
                by_name=group.by_name,
            )
            for group in groups
        )

    def _merged(self, parts: Iterable[NodeGroup]) -> tuple[NodeGroup, ...]:
        members: dict[str, list[NodeGroup]] = defaultdict(list)
        for part in parts:
            members[part.id].append(part)
        return tuple(self._together(members[key]) for key in sorted(members))

    def _together(self, parts: Sequence[NodeGroup]) -> NodeGroup:
        first = parts[0]
        nodes = {name for part in parts for name in part.nodes}
        coming = {name for part in parts for name in part.coming}
        system = replace(
            first.system,
            signed_only=any(part.system.signed_only for part in parts),
            os_build=max((part.system.os_build for part in parts), key=_numbers),
            runtime_version=_lowest(part.system.runtime_version for part in parts),
        )
        group = replace(
            first,
            system=system,
            nodes=tuple(sorted(nodes)),
            coming=tuple(sorted(coming - nodes)),
            by_name=_all_lacking(parts),
        )
        return replace(group, terms=self._terms(group), held=self._held(group))

    def _terms(self, group: NodeGroup) -> tuple[Term, ...]:
        """Terms by labels for the nodes that carry them, one by name for each other node.

        A term names what the labels have to become, not what they are: a node that has just
        rebooted into the kernel is selected as soon as NFD has labelled it again, and the term
        stays the same meanwhile.
        """
        by_name = sorted({name for facet in group.per for name in group.by_name.get(facet, ())})
        terms: list[Term] = []
        if not (group.nodes or group.coming) or len(by_name) < len(group.nodes) + len(group.coming):
            terms += self._by_labels(group, self._labels(group))
        terms += [
            {
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}],
                **self._beside_the_name(group),
            }
            for name in by_name
        ]
        return tuple(term for term in terms if term.get("matchExpressions") != [])

    def _beside_the_name(self, group: NodeGroup) -> Term:
        """What a node that is taken by name has to say as well: what serves it changes, its name does
        not."""
        found = [expression.to_dict() for expression in self._by_allocation(group)]
        return {"matchExpressions": found} if found else {}

    def _held(self, group: NodeGroup) -> tuple[Term, ...]:
        """As the terms by labels, with our labels in the place of NFD's."""
        if "kernel" not in self.published:
            return ()
        wanted = {
            name: value
            for name, value in self._labels(group).items()
            if not name.startswith(FEATURES)
        }
        if "os" in group.per:
            wanted[self.published["os"]] = os_value(group.system.os_id, group.system.os_version)
        if "kernel" in group.per:
            system = group.system
            wanted[self.published["kernel"]] = make_id(
                system.kernel, system.os_id, system.os_version, system.arch
            )
            return tuple(self._by_labels(group, wanted))
        ours = {"key": self.published["kernel"], "operator": "Exists"}
        return tuple(
            {"matchExpressions": [ours, *term["matchExpressions"]]}
            for term in self._by_labels(group, wanted)
        )

    def _by_labels(self, group: NodeGroup, labels: Mapping[str, str]) -> list[Term]:
        found = [
            {"key": key, "operator": "In", "values": [value]}
            for key, value in sorted(labels.items())
        ]
        found += [expression.to_dict() for expression in self._by_allocation(group)]
        return [
            {"matchExpressions": [*found, *(expression.to_dict() for expression in term)]}
            for term in both(self._by_driver(group), self._by_pool(group))
        ]

    def _labels(self, group: NodeGroup) -> dict[str, str]:
        wanted: dict[str, str] = {}
        system = group.system
        if "kernel" in group.per:
            wanted |= {
                KERNEL: system.kernel_label,
                OS_ID: label_form(system.os_id),
                ARCH: system.arch,
            }
        if "os" in group.per:
            wanted[OS_ID] = label_form(system.os_id)
        if OS_ID in wanted and system.os_version:
            wanted[OS_VERSION] = label_form(system.os_version)
        if "arch" in group.per:
            wanted[ARCH] = system.arch
        if "runtime" in group.per:
            wanted[self.published["runtime"]] = runtime_value(system.runtime, system.runtime_major)
        return wanted

    def _by_driver(self, group: NodeGroup) -> Terms:
        if "driver" not in group.per or not self.preinstalled:
            return EVERYWHERE
        brought = of_label_sets(self.preinstalled)
        return brought if group.preinstalled else outside(brought)

    def _by_allocation(self, group: NodeGroup) -> list[Expression]:
        if "allocation" not in group.per or self.allocation is None:
            return []
        return [self.allocation.expression(group.allocation or self.allocation.usual, group.pool)]

    def _by_pool(self, group: NodeGroup) -> Terms:
        if "pool" not in group.per or not self.pools:
            return EVERYWHERE
        if not group.pool:
            return outside(tuple(term for pool in self.pools for term in pool.terms or ()))
        return next((pool.terms or () for pool in self.pools if pool.name == group.pool), ())


def runtime_value(runtime: str, major: str) -> str:
    """A container runtime as the value of a label: containerd-2."""
    return label_form(f"{runtime}-{major}")


def os_value(os_id: str, os_version: str) -> str:
    """An operating system as the value of a label: ubuntu-24.04."""
    return label_form(f"{os_id}-{os_version}")


def _all_lacking(parts: Sequence[NodeGroup]) -> dict[str, tuple[str, ...]]:
    """Of several groups, as of one."""
    found = {
        facet: {name for part in parts for name in part.by_name.get(facet, ())}
        for facet in ("kernel", "os", "arch")
    }
    return {facet: tuple(sorted(names)) for facet, names in found.items() if names}


def _lacking(nodes: Sequence[NodeFacts]) -> dict[str, tuple[str, ...]]:
    """Facet -> the nodes that lack a label which would tell their group by it, or the fact that the
    label would tell.

    nodes: alike in all facts.
    """
    first = nodes[0].system
    release = (OS_ID, OS_VERSION) if first.os_version else (OS_ID,)
    needed = {"kernel": (KERNEL, ARCH, *release), "os": release, "arch": (ARCH,)}
    known = {
        "kernel": first.kernel_as_label and first.arch and first.os_id,
        "os": first.os_id,
        "arch": first.arch,
    }
    found = {
        facet: tuple(
            node.name
            for node in nodes
            if not known[facet] or any(label not in node.labels for label in labels)
        )
        for facet, labels in needed.items()
    }
    return {facet: names for facet, names in found.items() if names}


def _lowest(versions: Iterable[str]) -> str:
    """The lowest version that anybody says; "" for none."""
    return min(filter(None, versions), key=_numbers, default="")


def _numbers(build: str) -> list[Any]:
    """A build in the order of its numbers."""
    return [int(part) for part in re.findall(r"\d+", build)]
