# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What should start a run, read off one object as it is now. Pure.

Nothing is compared with what was seen before: our own marks on a node say what the last run has
seen. So a source that starts finds the same triggers as one that has watched all the time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._cluster.api_objects.labels import APPLYSET_ID_LABEL, KERNEL, fact_label
from .._json import elements, part
from .._nodes.facts import NodeFacts
from .._nodes.selectors import LabelSet, matches, parse_selector
from .._nodes.taint_ownership import CONTROLLER_TAINTS, transition_of, without_own
from .._runs.product import Product, WatchedKind
from .._states.validation import node_marks
from . import event_types

# Values of events become variables of playbooks, where a template would be one.
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


@dataclass(frozen=True)
class Trigger:
    """Why a run should start, as long as it holds.

    type: one of event_types. recipe, instance: which of the enabled ones it is about. subject: the
    name of a node, or "namespace/name" of an object of a product; "" for the record. cause: makes
    another one of the same type a new one: a boot, the states that are concerned.
    """

    type: str
    recipe: str
    instance: str
    subject: str
    cause: str


@dataclass(frozen=True)
class EnabledRecipe:
    """What a SpecialResource says of its nodes. selector: any of these label sets is the hardware.
    namespace: that of its objects. ready: the states that the last run has found ready, everywhere."""

    recipe: str
    instance: str
    selector: tuple[LabelSet, ...]
    namespace: str = ""
    ready: frozenset[str] = field(default=frozenset(), compare=False)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> EnabledRecipe | None:
        """Of a SpecialResource; None where it names no recipe, or its selector cannot be read."""
        spec = part(record, "spec")
        recipe, instance = str(spec.get("recipe") or ""), record["metadata"]["name"]
        try:
            selector = tuple(parse_selector(str(text)) for text in elements(spec, "selector"))
        except ValueError:
            return None
        if not all(_NAME.fullmatch(name) for name in (recipe, instance)):
            return None
        namespace = str(spec.get("namespace") or "")
        states = elements(record, "status", "states")
        ready = {str(state["name"]) for state in states if state["phase"] == node_marks.READY}
        named = namespace if _NAME.fullmatch(namespace) else ""
        return cls(recipe, instance, selector, named, frozenset(ready))

    def trigger(self, type_: str, subject: str, cause: str) -> Trigger:
        """A trigger of this recipe."""
        return Trigger(type_, self.recipe, self.instance, subject, cause)


def node_triggers(node: NodeFacts, recipes: Iterable[EnabledRecipe]) -> frozenset[Trigger]:
    """Of a node that is ready, and whose labels are of the kernel that runs."""
    # Of one without a selector no run has said yet which nodes it has: none has left it.
    choosing = (recipe for recipe in recipes if recipe.selector)
    return frozenset(trigger for recipe in choosing for trigger in _of_recipe(node, recipe))


def crash_triggers(
    node: NodeFacts, states: Iterable[tuple[str, str]], recipes: Mapping[str, EnabledRecipe]
) -> frozenset[Trigger]:
    """Of pods that crash on a node that is ready. states: the instance and the state of each."""
    known = ((recipes[instance], state) for instance, state in states if instance in recipes)
    return frozenset(
        recipe.trigger(event_types.POD_CRASHED, node.name, state)
        for recipe, state in known
        if _was_ready(node, recipe, state)
    )


def _was_ready(node: NodeFacts, recipe: EnabledRecipe, state: str) -> bool:
    """Whether the last run has found a state ready that crashes now. What a boot does to pods is told
    as the boot, and of a node that goes nothing is."""
    marks = node_marks.read(node, recipe.instance)
    seen = node.labels.get(fact_label(recipe.instance, KERNEL), "")
    transition = transition_of(node, without_own(recipe.instance, CONTROLLER_TAINTS))
    if (transition is not None and transition.leaves) or (
        seen and any(_of_boot(node, recipe, seen, marks))
    ):
        return False
    if state in marks.gates:
        return marks.gates[state] == node_marks.READY
    # States on which no other stands have no gate, and those of the cluster are not about a node.
    return state in recipe.ready and marks.summary in (None, node_marks.READY)


def triggers_of_deleted(node: NodeFacts, recipes: Iterable[EnabledRecipe]) -> frozenset[Trigger]:
    """Of a node that is there no more: it has left the recipes whose marks it had."""
    return frozenset(
        recipe.trigger(event_types.NODE_LEFT, node.name, node.uid)
        for recipe in recipes
        if fact_label(recipe.instance, KERNEL) in node.labels
    )


def record_triggers(recipe: EnabledRecipe, record: Mapping[str, Any]) -> frozenset[Trigger]:
    """Of a SpecialResource: its spec is not the one that the last run had, or somebody else than a run
    has made it and no run has seen it yet."""
    metadata = record["metadata"]
    generation = metadata.get("generation")
    observed = part(record, "status").get("observedGeneration")
    if observed == generation:
        return frozenset()
    # A run that makes a record labels it, and says what it has seen when it ends.
    if observed is None and APPLYSET_ID_LABEL in part(metadata, "labels"):
        return frozenset()
    return frozenset((recipe.trigger(event_types.RESOURCE_CHANGED, "", str(generation)),))


def product_triggers(
    product: Product, watched: WatchedKind, found: Mapping[str, Any]
) -> frozenset[Trigger]:
    """Of an object that a product watches: its spec is not the one that the last run had, or it is
    to be deleted."""
    metadata, status = found["metadata"], part(found, "status")
    cause = metadata.get("deletionTimestamp") or str(metadata.get("generation"))
    if cause == str(status.get("observedGeneration")):
        return frozenset()
    subject = f"{metadata['namespace']}/{metadata['name']}"
    return frozenset((Trigger(watched.event, product.recipe, product.recipe, subject, cause),))


def _of_recipe(node: NodeFacts, recipe: EnabledRecipe) -> Iterator[Trigger]:
    """What a recipe has to do about a node: first whether that comes or goes, then what is on it."""
    seen = node.labels.get(fact_label(recipe.instance, KERNEL), "")
    marks = node_marks.read(node, recipe.instance)
    is_member = bool(seen) and marks.summary != node_marks.VANISHED
    is_meant = matches(node.labels, recipe.selector, node.taints)
    transition = transition_of(node, without_own(recipe.instance, CONTROLLER_TAINTS))
    if transition is not None and transition.leaves:
        # Nothing is done for a node that goes; when it is gone, the watch says so.
        return
    if is_meant and is_member:
        yield from _of_boot(node, recipe, seen, marks)
        yield from _of_marks(node, recipe, marks)
    elif is_meant:
        yield recipe.trigger(event_types.NODE_JOINED, node.name, node.uid)
    elif is_member:
        yield recipe.trigger(event_types.NODE_LEFT, node.name, node.uid)


def _of_boot(
    node: NodeFacts, recipe: EnabledRecipe, seen: str, marks: node_marks.NodeMarks
) -> Iterator[Trigger]:
    """Whether the node has booted since its states were proven, and what. seen: the system that the
    last run has seen."""
    proofs = marks.proofs.values()
    # A run changes the label first and the proofs last: until then it is the same change.
    if seen != node.system.kernel_group or any(
        proof.kernel != node.system.kernel for proof in proofs
    ):
        yield recipe.trigger(event_types.KERNEL_CHANGED, node.name, node.boot_id)
    elif any(proof.boot != node.boot_id for proof in proofs):
        yield recipe.trigger(event_types.NODE_REBOOTED, node.name, node.boot_id)


def _of_marks(
    node: NodeFacts, recipe: EnabledRecipe, marks: node_marks.NodeMarks
) -> Iterator[Trigger]:
    """What the last run has left to be done, or done."""
    broken = sorted(state for state, gate in marks.gates.items() if gate == node_marks.DEGRADED)
    if broken:
        yield recipe.trigger(event_types.GATE_DEGRADED, node.name, ",".join(broken))
    if marks.restarts:
        yield recipe.trigger(event_types.RESTART_PENDING, node.name, ",".join(marks.restarts))
    if marks.summary == node_marks.READY:
        yield recipe.trigger(event_types.NODE_READY, node.name, "")
