# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rendering needs to know of the cluster, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..._cluster.api_objects.kinds import builtin
from ..._json import Obj
from ..._nodes.groups import NodeGroup
from ..._nodes.node_affinity import NodeAffinity
from ..._nodes.taints import Taint
from ..._proofs.proof import Proof


def itself(group: NodeGroup, _per: Sequence[str]) -> NodeGroup:
    """The coarser group of a group, where groups differ by nothing but what every state is made
    per."""
    return group


def builtin_scope(api_version: str, kind: str) -> bool | None:
    """Whether a built-in kind lives in namespaces; None for other kinds."""
    found = builtin(api_version, kind)
    return None if found is None else found.namespaced


@dataclass(frozen=True)
class ClusterApi:
    """What the cluster's API has.

    - served: each "group/version/Kind" ("version/Kind" for the core group), as a set or a function
    - namespaced: whether a kind (api_version, kind) lives in namespaces, None if not known. An
      object of such a kind stays as its template has it, unless the state brings the kind's CRD
    """

    served: frozenset[str] | Callable[[str], bool] = frozenset()
    namespaced: Callable[[str, str], bool | None] = builtin_scope

    def serves(self, name: str) -> bool:
        """Whether "group/version/Kind" is there."""
        return name in self.served if isinstance(self.served, frozenset) else self.served(name)


@dataclass(frozen=True)
class RenderFacts:
    """Everything that rendering needs and that is not in the recipe.

    - options: the options of all nodes, as resolve() returns them; pool_options: pool -> all
      options there
    - groups: the finest groups that the recipe asks for; coarse gives the group, by fewer facets,
      that one of them is a part of
    - applyset_id: the value of the label that makes an object a member of the recipe's ApplySet; ""
      leaves the label out
    - cluster: {"platform": "kubernetes" | "openshift", ...}, see variables.py
    - images: id of a group -> image reference given by the user, used instead of the recipe's
    - resolved: what was looked up or built: state -> id of the state's own group -> reference (""
      for none); None while recipes are only checked
    - image_names: of what was looked up: state -> id of the state's own group -> the reference by
      which it was
    - driver_toolkits: build of RHCOS -> image
    - usual_allocation: by which way the devices of groups are served that name none
    - taints: what the pods have to tolerate
    - runtime: facts that only files in another format ask for
    """

    namespace: str
    options: Mapping[str, Any]
    groups: Sequence[NodeGroup]
    applyset_id: str
    api: ClusterApi = ClusterApi()
    cluster: Mapping[str, Any] = field(default_factory=lambda: {"platform": "kubernetes"})
    images: Mapping[str, str] | None = None
    resolved: Mapping[str, Mapping[str, str]] | None = None
    image_names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    coarse: Callable[[NodeGroup, Sequence[str]], NodeGroup] = itself
    pool_options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    driver_toolkits: Mapping[str, str] = field(default_factory=dict)
    usual_allocation: str = ""
    taints: Sequence[Taint] = ()
    runtime: Mapping[str, str] = field(default_factory=dict)

    @property
    def groups_or_none(self) -> list[NodeGroup | None]:
        """The finest groups, sorted by id; None where there is no node, for what concerns no group
        in particular."""
        return [*sorted(self.groups, key=lambda group: group.id)] or [None]

    def options_of(self, group: NodeGroup | None) -> Mapping[str, Any]:
        """The options that count for a group: its pool's, else those of all."""
        return self.pool_options.get(group.pool, self.options) if group else self.options

    def own_of(self, finest: NodeGroup | None, per: Sequence[str]) -> NodeGroup | None:
        """The group of a state made per these facets that one of the finest groups is a part of; None
        for a state of the cluster, and where there is no node."""
        if finest is None or not per:
            return None
        key = (finest.id, tuple(finest.per), tuple(per))
        if key not in self._coarser:
            self._coarser[key] = self.coarse(finest, per)
        return self._coarser[key]

    @cached_property
    def _coarser(self) -> dict[tuple[str, tuple[str, ...], tuple[str, ...]], NodeGroup]:
        """What own_of has found: every state asks it of every group."""
        return {}

    @cached_property
    def differing(self) -> frozenset[str]:
        """The options that are not the same for all nodes."""
        return frozenset(
            name
            for options in self.pool_options.values()
            for name, value in options.items()
            if value != self.options.get(name)
        )

    def groups_of(self, per: Sequence[str]) -> dict[str, tuple[NodeGroup, NodeGroup]]:
        """The groups by these facets, sorted by id: id -> (the group, one of the finest that make
        it)."""
        found: dict[str, tuple[NodeGroup, NodeGroup]] = {}
        for finest in self.groups:
            own = self.coarse(finest, per)
            found.setdefault(own.id, (own, finest))
        return dict(sorted(found.items()))


@dataclass(frozen=True)
class RenderedObject:
    """One object, ready to be applied. group: id of the group that it was made for, "" where it is
    for all.

    source: the file of the recipe that it came from. left_out: fields that its author gave it, and
    that its kind does not have. affinity: which nodes its author wants the pods of a DaemonSet on, of
    those that the recipe is for; None: on all.
    """

    manifest: Obj
    group: str
    source: str
    left_out: tuple[str, ...] = ()
    affinity: NodeAffinity | None = None


@dataclass(frozen=True)
class Skipped:
    """A file of the recipe that was left out, why (one sentence), and the API that would have to be
    there."""

    source: str
    reason: str
    needs_api: str


@dataclass(frozen=True)
class RenderedState:
    """One state, rendered under the given options. Ids of groups are those of the finest groups.

    - enabled: whether it is enabled anywhere; enabled_on: ids of the groups where it is
    - proofs: all proofs that count on some group, of the enabled or of the disabled state, with
      their templates rendered; proofs_on: id of a group -> indexes of those that count there
    - groups: id of a group -> id of the state's own group that it is a part of; "" for a state of
      the cluster
    - hashes: id of a group -> 16 hex digits over objects, proofs and validation pods; under "" that
      of what concerns no group. Which nodes there are makes no difference
    """

    state: str
    enabled: bool
    proofs: tuple[Proof, ...]
    objects: tuple[RenderedObject, ...]
    skipped: tuple[Skipped, ...]
    hashes: Mapping[str, str]
    enabled_on: frozenset[str] = frozenset()
    proofs_on: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)

    @property
    def turned_off(self) -> set[str]:
        """Ids of the state's own groups where it is disabled."""
        on = {own for finest, own in self.groups.items() if finest in self.enabled_on}
        return {own for own in self.groups.values() if own and own not in on}
