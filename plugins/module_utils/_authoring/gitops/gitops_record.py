# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The SpecialResource of a folder: what is wanted, and what `disable` has to know of the objects that
are beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Optional

from ..._json import Obj
from ..._recipes.templates.render_facts import RenderedState
from ..._states.cleanup.ownership import was_kept
from ..._states.preparation.prepare import Prepared
from ..._states.record import adopted, record_spec

# Where a folder has nothing to say of these, it says nothing: an empty value would take back what a
# run has noted.
_NOTED_BY_RUNS = (record_spec.MADE_NAMESPACES_ANNOTATION, adopted.ANNOTATION)


def gitops_record(
    prepared: Prepared,
    states: Mapping[str, RenderedState],
    namespace: Callable[[str], Optional[Obj]],
) -> Obj:
    """The record by which `disable` finds all of it, with what it says already. Without the label of a
    run: who makes it is no run on its way, and the event starts the first one. namespace: a Namespace
    as the cluster has it, by name."""
    objects = {name: [item.manifest for item in state.objects] for name, state in states.items()}
    made = [each for found in objects.values() for each in found]
    places = {str(each["metadata"].get("namespace") or "") for each in made} - {""}
    record = record_spec.make_record(
        name=prepared.recipe.name,
        applyset_id=prepared.applyset_id,
        spec=prepared.spec,
        kinds=_kinds(prepared, objects),
        namespaces={prepared.namespace, *places, *record_spec.namespaces(prepared.record)},
        made=_made_namespaces(prepared, made, namespace),
        adopted=adopted.read(prepared.record),
    )
    del record["metadata"]["labels"]
    annotations = record["metadata"]["annotations"]
    for name in _NOTED_BY_RUNS:
        if not annotations[name]:
            del annotations[name]
    return record


def _kinds(prepared: Prepared, objects: Mapping[str, Sequence[Obj]]) -> dict[str, set[str]]:
    """For each state the kinds that it has, or ever had."""
    kinds = {name: set(found) for name, found in record_spec.state_kinds(prepared.record).items()}
    for name, found in objects.items():
        kinds.setdefault(name, set()).update(
            f"{each['apiVersion']}/{each['kind']}" for each in found
        )
    return kinds


def _made_namespaces(
    prepared: Prepared, objects: Sequence[Obj], namespace: Callable[[str], Optional[Obj]]
) -> set[str]:
    """The namespaces that a run has made, and those that the folder makes: it has them, and the cluster
    has not, or only since `disable` had to leave them."""
    noted = set(record_spec.made_namespaces(prepared.record))
    names = {each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"} - noted
    live = {name: namespace(name) for name in sorted(names)}
    return noted | {
        name
        for name, found in live.items()
        if found is None or was_kept(found, prepared.applyset_id)
    }
