# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that carry our marks and not the labels of the hardware: which of them are still ours, and
which leave.

A label is no evidence: Node Feature Discovery restarts, is upgraded, loses an object. A node leaves
when the labels have been gone for longer than a time and nothing holds a device there, or when a
person says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import KERNEL, fact_label, vanished_annotation
from ..._errors import EnablementError, InvalidInput
from ..._json import Obj, part
from ..._nodes.facts import NodeFacts
from ..._nodes.selectors import (
    NO_ROLE_TAINT,
    LabelSet,
    Taints,
    labels_alone,
    matches,
    taints_of,
)
from ..._proofs.snapshot import Vanished
from ..._recipes.requirements import labels_of_persons
from ..._schema.requests import ParameterGroup
from ..._times import seconds
from ..preparation.prepare import Prepared
from .holders import find_holders, in_words

_RELEASED = "release_nodes names it"
_LEFT_OUT = "the options leave it out (node_selector, hardware_labels), or a taint of its role does"


@dataclass(frozen=True, kw_only=True)
class MembershipRequest(ParameterGroup):
    """When nodes leave that have lost the labels of the hardware.

    vanished_grace: after so many seconds. release_nodes: at once. allow_empty: also where no node
    has the hardware any more.
    """

    vanished_grace: float = 3600
    release_nodes: Sequence[str] = ()
    allow_empty: bool = False


class _Standing(Enum):
    """HAS the hardware; VANISHED: no label says so any more; LEFT_OUT: the user has chosen nodes,
    and not this one."""

    HAS = "has"
    VANISHED = "vanished"
    LEFT_OUT = "left out"


@dataclass(frozen=True)
class Strays:
    """objects: the Node objects by name. vanished: those that are still ours, with how they stand;
    leaving: the others, with why they leave. selector, chosen: what tells members. watched: label
    selectors that find strays."""

    selector: Sequence[Mapping[str, str | None]] = ()
    chosen: Mapping[str, str] = field(default_factory=dict)
    watched: Sequence[str] = ()
    vanished: Mapping[str, Vanished] = field(default_factory=dict)
    leaving: Mapping[str, str] = field(default_factory=dict)
    objects: Mapping[str, Obj] = field(default_factory=dict)

    @property
    def kept(self) -> list[Obj]:
        """The Node objects of those that are still ours."""
        return [self.objects[name] for name in self.vanished]

    def counts(self, node: NodeFacts) -> bool:
        """Whether a node is one of ours now: it has the hardware, or has lost its labels without
        having left."""
        found = _standing(node.labels, node.taints, self.selector, self.chosen)
        return found is _Standing.HAS or (
            found is _Standing.VANISHED and node.name not in self.leaving
        )

    def lost(self, node: NodeFacts) -> Vanished | None:
        """How a node stands that has lost the labels of the hardware; None where it has them."""
        if _standing(node.labels, node.taints, self.selector, self.chosen) is _Standing.HAS:
            return None
        return self.vanished.get(node.name) or Vanished(
            time.time(), _text(self.selector, self.chosen)
        )


def find_strays(
    client: Client,
    prepared: Prepared,
    request: MembershipRequest,
    matching: frozenset[str],
    clock: Callable[[], float],
) -> Strays:
    """matching: names of the nodes that have the hardware. Raises InvalidInput where one of these
    is to be released."""
    selector, chosen = prepared.selector, labels_of_persons(prepared.options)
    _refuse_to_release(matching.intersection(request.release_nodes))
    watched = _stray_selectors(fact_label(prepared.recipe.name, KERNEL), selector, chosen)
    listed = _list(client, watched)
    stands = {
        name: _standing(part(node["metadata"], "labels"), taints_of(node), selector, chosen)
        for name, node in listed.items()
    }
    objects = {name: listed[name] for name in sorted(listed) if stands[name] is not _Standing.HAS}
    leaving = _leaving_at_once(objects, stands, request.release_nodes)
    lost = objects.keys() - leaving.keys()
    held, now, grace = (
        find_holders(client, prepared, lost),
        clock(),
        float(request.vanished_grace),
    )
    lacks = _text(selector, chosen)
    vanished: dict[str, Vanished] = {}
    for name in sorted(lost):
        since = _noted(objects[name], prepared.recipe.name) or now
        # Where no node has the hardware at all, rather Node Feature Discovery is broken.
        over = now - since >= grace if matching else request.allow_empty
        if over and name not in held:
            leaving[name] = f"{lacks}, and nothing holds a device there"
        else:
            vanished[name] = Vanished(since, f"{lacks}; {_stays(held.get(name), grace)}")
    return Strays(selector, chosen, watched, vanished, leaving, objects)


def _standing(
    labels: Mapping[str, str],
    taints: Taints,
    any_of: Sequence[LabelSet],
    chosen: Mapping[str, str],
) -> _Standing:
    """How a node stands to the hardware, by its labels and taints alone. any_of: the label sets of the
    hardware, each with the labels that the user chose nodes by."""
    if matches(labels, any_of, taints):
        return _Standing.HAS
    left_out = matches(labels, any_of) or any(
        labels.get(name) != value for name, value in chosen.items()
    )
    return _Standing.LEFT_OUT if left_out else _Standing.VANISHED


def _stray_selectors(mark: str, any_of: Sequence[LabelSet], chosen: Mapping[str, str]) -> list[str]:
    """What the API server takes to find nodes with a mark (a label) that match none of the label
    sets; where such a set has several labels of the hardware, also others."""
    hardware = [
        {name: value for name, value in labels_alone(labels).items() if name not in chosen}
        for labels in any_of
    ]
    tainted = [mark] if any(NO_ROLE_TAINT in labels for labels in any_of) else []
    lost = [_without(*next(iter(labels.items()))) for labels in hardware if len(labels) == 1]
    vanished = [",".join([mark, *lost])] if all(hardware) else []
    return [
        *vanished,
        *tainted,
        *(f"{mark},{_without(name, value)}" for name, value in sorted(chosen.items())),
    ]


def _without(name: str, value: str | None) -> str:
    return f"!{name}" if value is None else f"{name}!={value}"


def _list(client: Client, watched: Sequence[str]) -> dict[str, Obj]:
    """The Node objects that any of the label selectors finds, by name."""
    kind = client.kind("v1", "Node")
    return {
        node["metadata"]["name"]: node
        for labels in watched
        for node in client.list(kind, labels=labels, leanly=True).items
    }


def _leaving_at_once(
    names: Collection[str], stands: Mapping[str, _Standing], released: Sequence[str]
) -> dict[str, str]:
    """The nodes that a person takes out, and by what."""
    left_out = {name: _LEFT_OUT for name in names if stands[name] is _Standing.LEFT_OUT}
    return left_out | {name: _RELEASED for name in names if name in released}


def _noted(node: Obj, recipe: str) -> float | None:
    """Since when a node has lost its labels, as an earlier run has noted it there."""
    annotations = part(node["metadata"], "annotations")
    return seconds(annotations.get(vanished_annotation(recipe)))


def refuse_left_out_in_use(client: Client, prepared: Prepared, strays: Strays) -> None:
    """Raise EnablementError where pods hold devices of a node that the options leave out from now
    on."""
    held = find_holders(
        client, prepared, {name for name, why in strays.leaving.items() if why == _LEFT_OUT}
    )
    if held:
        raise EnablementError(
            f"the options leave out {', '.join(held)}, where devices are in use (node_selector, hardware_labels)",
            where=in_words(pod for pods in held.values() for pod in pods),
            why="what these devices need would be taken off the node",
            todo="end these pods first, or name the nodes in release_nodes (hardware_enablement_release_nodes)",
        )


def _refuse_to_release(names: frozenset[str]) -> None:
    if names:
        raise InvalidInput(
            f"{', '.join(sorted(names))} cannot be released",
            why="the labels of the hardware are there, so the next run would take it in again",
            todo="leave it out by option node_selector instead",
        )


def _text(selector: Sequence[Mapping[str, str | None]], chosen: Mapping[str, str]) -> str:
    names = sorted(
        {name for labels in map(labels_alone, selector) for name in labels if name not in chosen}
    )
    return f"no label says any more that the node has the hardware ({', '.join(names)})"


def _stays(holders: Sequence[str] | None, grace: float) -> str:
    if holders:
        return f"its pods, labels and driver stay, since {in_words(holders)} hold its devices"
    return f"its pods, labels and driver stay for {grace:.0f} s"
