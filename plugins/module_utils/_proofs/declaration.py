# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kind of proof says of itself. The schema of recipes, its checks, defaults and tables in
docs come from it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from enum import Enum
from functools import cache, cached_property
from typing import Any, Generic, TypeVar, Union, cast, get_type_hints

from .._schema.shapes import Key, Record, Shape, Text
from .._verdicts.reasons import Reason
from .._verdicts.verdict import Verdict
from .evaluation import Observation, ProofTarget
from .feeds import Watched
from .proof import Proof

S = TypeVar("S")
T = TypeVar("T")

ENABLED = Key(
    Text("the name of a bool option, or a template that gives true or false"),
    text="the `bool` option that turns the proof on, or a template that says so",
)


class Scope(str, Enum):
    """What a proof is about. STATE: nodes where its state has DaemonSets, or the cluster where it
    has none."""

    NODE = "node"
    CLUSTER = "cluster"
    STATE = "state"


# How many validation pods of a state run at once where the recipe does not say: one in so many
# nodes, and not fewer than this.
AT_ONCE_SHARE = 10
AT_ONCE_AT_LEAST = 50


@dataclass(frozen=True)
class ProofPod:
    """The pod that a kind runs on each node: its template in the recipe, the extended resource of
    which its first container asks for one (None: of none), and how many of them a state runs at
    once (None: by how many nodes there are)."""

    template: str
    resource: str | None
    parallel: int | None

    def at_once(self, nodes: int) -> int:
        """How many of them a state runs at once where the recipe has so many nodes: where it does
        not say, a share of them, so that a fleet does not take longer with each node more."""
        return self.parallel or max(AT_ONCE_AT_LEAST, nodes // AT_ONCE_SHARE)


@dataclass(frozen=True)
class Setting:
    """Annotates a field of a kind's settings: what its value may be, and what it is (Markdown).

    Without a default, it is required.
    """

    shape: Shape
    text: str


@dataclass(frozen=True)
class SettingsRecord:
    """Annotates a field of a kind's settings that is a record of its own, or None: the dataclass of
    it, what it is."""

    settings: type[Any]
    text: str


@cache
def _hints(settings: Any) -> Mapping[str, Any]:
    """Of a dataclass; asked for each proof on each group of nodes."""
    return get_type_hints(settings, include_extras=True)


# Any, since mypy does not take type[...] for what can be hashed.
def _annotations(settings: Any) -> dict[str, Union[Setting, SettingsRecord]]:
    hints = _hints(settings)
    return {each.name: hints[each.name].__metadata__[0] for each in dataclasses.fields(settings)}


def keys_of(settings: type[Any]) -> dict[str, Key]:
    """The keys that a dataclass of settings declares."""
    defaults = {each.name: each.default for each in dataclasses.fields(settings)}
    keys = {}
    for name, said in _annotations(settings).items():
        shape = said.shape if isinstance(said, Setting) else Record(keys_of(said.settings))
        given = None if defaults[name] in (MISSING, ()) else defaults[name]
        keys[name] = Key(shape, defaults[name] is MISSING, said.text, given)
    return keys


def make_settings(settings: type[T], given: Mapping[str, Any]) -> T:
    """A dataclass of settings from what a recipe gives, which has been checked."""
    values = dict(given)
    for name, said in _annotations(settings).items():
        if isinstance(said, SettingsRecord) and values.get(name) is not None:
            values[name] = make_settings(said.settings, values[name])
    return settings(**values)


def _watches_nothing(_settings: Any, _namespace: str) -> tuple[Watched, ...]:
    return ()


@dataclass(frozen=True)
class ProofKind(Generic[S]):
    """A kind of proof.

    holds_when: the end of "holds when ...". settings: a dataclass whose fields Setting annotates.
    evaluate: the verdict for one node or the cluster. reasons: why it may not hold. observed:
    looked at in every run; else run once, until what it proved changes. by_node: whether with
    readiness: nfd the node agent decides it; others are left to runs, and keep back no gate.
    scope: what it is about, where that is no matter of its texts. watches: the objects that it
    looks at besides nodes and the state's own, for a namespace that counts where the settings name
    none. pod: what it runs. gates: whether other states' pods wait for it. removed, together,
    apart: see Record.
    """

    name: str
    holds_when: str
    settings: type[S]
    evaluate: Callable[[Observation[S]], Verdict]
    reasons: Mapping[str, Reason]
    observed: bool
    by_node: bool
    scope: Callable[[S], Scope]
    watches: Callable[[S, str], tuple[Watched, ...]] = _watches_nothing
    pod: Callable[[S], ProofPod] | None = None
    gates: bool = True
    removed: Mapping[str, str] = field(default_factory=dict)
    together: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    apart: tuple[tuple[str, str], ...] = ()

    @cached_property
    def shape(self) -> Record:
        """What a recipe may say under the name of the kind."""
        return Record(
            {**keys_of(self.settings), "enabled": ENABLED}, self.removed, self.together, self.apart
        )

    def settings_of(self, proof: Proof, group: str = "", node: str = "") -> S:
        """The settings of a proof of this kind, for a group of nodes and a node where they differ."""
        place = (group, node) if proof.varies else ("", "")
        made = proof.settings.get(place)
        if made is None:
            made = proof.settings[place] = make_settings(self.settings, proof.spec_for(*place))
        return cast(S, made)

    def pod_of(self, proof: Proof, group: str = "", node: str = "") -> ProofPod | None:
        """The pod that a proof of this kind runs on nodes, if it runs one; where it differs, on a
        node of a group."""
        return self.pod(self.settings_of(proof, group, node)) if self.pod else None

    def counts_on(self, proof: Proof, target: ProofTarget) -> bool:
        """Whether a proof has a verdict there: one about nodes has none for the cluster."""
        return target.node is not None or self.scope_of(proof) is not Scope.NODE

    def scope_of(self, proof: Proof) -> Scope:
        """What a proof of this kind is about: a node also where its texts differ from node to node."""
        return Scope.NODE if proof.varies else self.scope(self.settings_of(proof))
