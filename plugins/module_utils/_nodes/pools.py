# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools: sets of nodes that a person names, each with options of its own."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from .._errors import InvalidInput
from .._json import part
from .expressions import (
    EVERYWHERE,
    Terms,
    any_holds,
    both,
    outside,
    parse_expression,
    parse_selector,
)
from .facts import NodeFacts

# On each node of a hosted cluster (HyperShift, api/hypershift/v1beta1/nodepool_types.go).
NODE_POOL_LABEL = "hypershift.openshift.io/nodePool"
# A node of a custom pool carries this role too, and is in the custom pool alone
# (machine-config-operator).
WORKER = "worker"

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
_SOURCES = ("selector", "machine_config_pool", "node_pool")
_SHOWN = 3
_LENGTH = 20
_HASHED = 6


@dataclass(frozen=True)
class NodePool:
    """A pool as it was asked for. terms: which nodes it has; None as long as machine_config_pool is
    to be looked up.

    options: those that differ from the recipe's, as given.
    """

    name: str
    terms: Terms | None = None
    machine_config_pool: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)

    def has(self, labels: Mapping[str, str]) -> bool:
        """Whether a node with these labels is in the pool; False as long as it has not been looked
        up."""
        return self.terms is not None and any_holds(self.terms, labels)

    def unreadable(self, labels: Mapping[str, str]) -> str:
        """A label that the pool compares with a number, and that is none; "" where all can be."""
        expressions = (each for term in self.terms or () for each in term)
        return next((each.key for each in expressions if each.unreadable(labels)), "")

    def to_spec(self, secret: Set[str] = frozenset()) -> dict[str, Any]:
        """The pool as parse_pools() takes it, but that of its secret options there are only the
        names (secretOptions)."""
        options = {
            name: value for name, value in sorted(self.options.items()) if name not in secret
        }
        hidden = sorted(set(self.options) & secret)
        found = {
            "name": self.name,
            "options": options,
            **({"secretOptions": hidden} if hidden else {}),
        }
        if self.machine_config_pool:
            return {**found, "machine_config_pool": self.machine_config_pool}
        expressions = [expression.to_dict() for expression in self.terms[0]] if self.terms else []
        return {**found, "selector": {"matchExpressions": expressions}}

    def to_dict(self) -> dict[str, Any]:
        """Name and terms, as nfd_info returns them: options may be secret."""
        return {"name": self.name, "terms": terms_to_list(self.terms or ())}


def parse_pools(given: Sequence[Mapping[str, Any]] | None) -> tuple[NodePool, ...]:
    """The pools that a person gives: name, one of selector, machine_config_pool and node_pool, and
    options.

    Raises InvalidInput for what cannot be meant.
    """
    pools: list[NodePool] = []
    for index, entry in enumerate(given or ()):
        pool = _parse(entry, f"pools[{index}]")
        if pool.name in {other.name for other in pools}:
            raise _wrong(f"pool {pool.name}", "another pool has the same name")
        pools.append(pool)
    return tuple(pools)


def _parse(given: Any, where: str) -> NodePool:
    if not isinstance(given, Mapping):
        raise _wrong(where, "it is no mapping", "give it name, selector and options")
    name = given.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise _wrong(
            where, "its name is no DNS label of at most 20 characters", "name it like old-gpus"
        )
    where = f"pool {name}"
    source = _source(given, where)
    options = part(given, "options")
    if not isinstance(options, Mapping):
        raise _wrong(where, "its options are no mapping")
    if source == "machine_config_pool":
        return NodePool(name, None, str(given[source]), dict(options))
    return NodePool(name, _terms(source, given[source], where), options=dict(options))


def _source(given: Mapping[str, Any], where: str) -> str:
    """The one key that says which nodes a pool has."""
    unknown = sorted(set(map(str, given)) - {"name", "options", *_SOURCES})
    if unknown:
        raise _wrong(
            where,
            f"it has {', '.join(unknown)}",
            f"use name, options and one of {', '.join(_SOURCES)}",
        )
    sources = [source for source in _SOURCES if given.get(source)]
    if len(sources) != 1:
        found = " and ".join(sources) or "none of them"
        raise _wrong(
            where, f"it has {found}", f"say by one of {', '.join(_SOURCES)} which nodes it has"
        )
    return sources[0]


def _terms(source: str, value: Any, where: str) -> Terms:
    """Which nodes a pool has that names a NodePool, or a selector."""
    try:
        if source == "node_pool":
            entry = {"key": NODE_POOL_LABEL, "operator": "In", "values": [value]}
            return ((parse_expression(entry),),)
        terms = both((parse_selector(value),), EVERYWHERE)
    except ValueError as error:
        raise _wrong(where, str(error)) from None
    if not terms:
        raise _wrong(where, "its selector contradicts itself")
    return terms


def pool_name(name: str) -> str:
    """A pool's name of ours, for one of somebody else's: a DNS label of at most 20 characters. What
    cannot stay as it is ends with a hash of the whole, so that no two names become one."""
    plain = re.sub(r"^[^a-z]+", "", re.sub(r"[^a-z0-9-]", "-", name.lower())).rstrip("-") or "pool"
    if plain == name and len(plain) <= _LENGTH:
        return plain
    digits = hashlib.sha256(name.encode()).hexdigest()[:_HASHED]
    return f"{plain[: _LENGTH - _HASHED - 1].rstrip('-')}-{digits}"


def machine_config_terms(name: str, selectors: Mapping[str, Any]) -> Terms:
    """The terms of a MachineConfigPool: its nodeSelector; of worker, less the nodes of custom
    pools.

    selectors: name -> spec.nodeSelector of every MachineConfigPool of the cluster. Raises
    InvalidInput for a pool that is not there, or whose selector is not understood.
    """
    if name not in selectors:
        known = ", ".join(sorted(selectors)) or "none"
        raise InvalidInput(
            f"there is no MachineConfigPool {name[:80]!r}",
            why=f"the cluster has {known}",
            todo="correct machine_config_pool of the pool, or say by selector which nodes it has",
        )
    try:
        terms: Terms = (parse_selector(selectors[name]),)
        if name == WORKER:
            for other in sorted(selectors.keys() - {WORKER}):
                terms = both(terms, outside((parse_selector(selectors[other]),)))
    except ValueError as error:
        raise InvalidInput(f"MachineConfigPool {name} is not understood", why=str(error)) from None
    return both(terms, EVERYWHERE)


def check_membership(pools: Sequence[NodePool], nodes: Sequence[NodeFacts]) -> None:
    """Raise InvalidInput for a node that is in two pools, and for a pool that no node is in.

    nodes: those with the hardware. Where there is none at all, an empty pool says nothing.
    """
    for node in nodes:
        _check_node(pools, node)
    empty = [pool.name for pool in pools if not any(pool.has(node.labels) for node in nodes)]
    if nodes and empty:
        names = ", ".join(node.name for node in nodes[:_SHOWN])
        more = f" and {len(nodes) - _SHOWN} more" if len(nodes) > _SHOWN else ""
        raise _wrong(
            f"pool {', '.join(empty)}",
            f"none of the {len(nodes)} nodes with the hardware is in it ({names}{more})",
            "correct its selector or the nodes' labels, or leave the pool out",
        )


def _check_node(pools: Sequence[NodePool], node: NodeFacts) -> None:
    """Raise InvalidInput where a node is in two pools, or it cannot be told."""
    found = [pool.name for pool in pools if pool.has(node.labels)]
    if len(found) > 1:
        raise _wrong(
            f"node {node.name}",
            f"it is in the pools {' and '.join(found)}, whose options may differ",
            "change a selector so that no node is in two pools",
        )
    for pool in pools:
        if key := pool.unreadable(node.labels):
            raise _wrong(
                f"node {node.name}",
                f"pool {pool.name} compares its label {key} with a number, and it is {node.labels[key]!r}",
                "correct the label, or select by another one",
            )


def terms_to_list(terms: Terms) -> list[list[dict[str, Any]]]:
    """Terms as data."""
    return [[expression.to_dict() for expression in term] for term in terms]


def terms_from_list(given: Sequence[Sequence[Mapping[str, Any]]]) -> Terms:
    """The other way round. Raises ValueError."""
    return tuple(tuple(parse_expression(entry) for entry in term) for term in given)


def _wrong(
    where: str, why: str, todo: str = "correct pools (hardware_enablement_pools in the playbooks)"
) -> InvalidInput:
    return InvalidInput("the pools cannot be used", where=where, why=why, todo=todo)
