# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rendering needs to know of the cluster, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import builtin
from ansible_collections.hardware.enablement.plugins.module_utils.proofs.proof import Proof

Obj = dict[str, Any]


class Group(Protocol):
    """A kernel group, as far as rendering looks at it (nodes.groups.KernelGroup is one).

    terms are nodeSelectorTerms, any of which selects a node of the group.
    """

    @property
    def id(self) -> str: ...

    @property
    def kernel(self) -> str: ...

    @property
    def kernel_label(self) -> str: ...

    @property
    def os_id(self) -> str: ...

    @property
    def os_version(self) -> str: ...

    @property
    def arch(self) -> str: ...

    @property
    def terms(self) -> Sequence[Mapping[str, Any]]: ...


def builtin_scope(api_version: str, kind: str) -> bool | None:
    """Whether a built-in kind lives in namespaces; None for other kinds."""
    found = builtin(api_version, kind)
    return None if found is None else found.namespaced


@dataclass(frozen=True)
class RenderFacts:
    """Everything that is not in the recipe.

    options: as resolve() gives them. part_of: value of the label that makes an object a member of the recipe's
    ApplySet ("": the label is left out). cluster: {"platform": "kubernetes" | "openshift", ...}. apis: the served
    "group/version/Kind" ("version/Kind" for the core group), as a set or a function. namespaced: whether a kind
    (api_version, kind) lives in namespaces, None where that is not known: such an object stays as its template has it,
    unless the state itself brings its CRD. images: kernel group's id -> image
    reference, instead of what the recipe's image template gives. resolved: for states that look up or build their
    images, state -> kernel group's id -> reference ("" for none); None where nothing is resolved and recipes are only
    checked.
    """

    namespace: str
    options: Mapping[str, Any]
    groups: Sequence[Group]
    part_of: str
    namespaced: Callable[[str, str], bool | None] = builtin_scope
    cluster: Mapping[str, Any] = field(default_factory=lambda: {"platform": "kubernetes"})
    apis: frozenset[str] | Callable[[str], bool] = frozenset()
    images: Mapping[str, str] | None = None
    resolved: Mapping[str, Mapping[str, str]] | None = None


@dataclass(frozen=True)
class RenderedObject:
    """One object, ready to be applied. group: id of the kernel group that it was made for, "" where it is for all.

    source: the file of the recipe that it came from.
    """

    manifest: Obj
    group: str
    source: str


@dataclass(frozen=True)
class Skipped:
    """A file of the recipe that was left out, why (one sentence), and the API that would have to be there."""

    source: str
    reason: str
    needs_api: str


@dataclass(frozen=True)
class RenderedState:
    """One state, under the given options.

    proofs: those that count (of the enabled or of the disabled state), their templates rendered. hashes: 16 hex digits
    per kernel group's id, and for "" (what concerns no group in particular), over objects, proofs and validation pods,
    but not over which nodes there are.
    """

    state: str
    enabled: bool
    proofs: tuple[Proof, ...]
    objects: tuple[RenderedObject, ...]
    skipped: tuple[Skipped, ...]
    hashes: Mapping[str, str]
