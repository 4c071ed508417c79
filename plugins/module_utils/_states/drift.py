# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others have done to what is deployed: objects that are gone, fields of ours that they changed,
and what they added.

It is told from what a run would change by itself: only where recipe and options are those of the last
run, and of an object only the fields that we do not own any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Optional

from .._cluster.api_client.api_errors import ApiError
from .._cluster.api_client.client import Client
from .._cluster.api_objects import drifted_fields
from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.drifted_fields import Drift
from .._cluster.api_objects.labels import FIELD_MANAGER, PART_OF_LABEL
from .._cluster.api_objects.managers import gitops_tool, gitops_tool_of
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._json import Obj, elements, part
from .._recipes.templates.pod_references import USERS_KINDS, named_by_pods, stops_pods
from .._recipes.templates.render_facts import RenderedObject
from .._verdicts.verdict import Outcome, Verdict
from .cleanup.ownership import find_owned
from .desired import Desired
from .preparation.prepare import Prepared
from .staging import acts

CHANGED, MISSING, EXTENDED = "changed", "missing", "extended"
PHASE = "drifted"
_ORDER = (MISSING, CHANGED, EXTENDED)

# What of the record's spec says what is deployed; which options are secret, a look does not know.
_ASKED_FOR = ("recipe", "namespace", "options", "pools", "selector", "taints")
_NAMED = 5

# An object's state, and the object as it is rendered.
_Place = tuple[str, RenderedObject]


def is_comparable(prepared: Prepared) -> bool:
    """Whether what would be rendered now is what the last run has applied: that has come to its end,
    with this collection and recipe and these options."""
    record = prepared.record or {}
    status, spec = part(record, "status"), part(record, "spec")
    known = {name: version for name, version in prepared.versions.items() if version}
    generation = part(record, "metadata").get("generation", 1)
    return (
        part(status, "versions") == known
        and status.get("observedGeneration") == generation
        and all(spec.get(name) == prepared.spec.get(name) for name in _ASKED_FOR)
    )


def find_drift(desired: Desired) -> list[Obj]:
    """A row for each object that is not as it was deployed: {object, state, drift (changed, missing,
    extended), fields, by, since, put_back, todo}. Reads each kind once, and what is not found by our labels by
    its name. Where it cannot be compared with the last run, of what users' pods name alone, and whether it
    is there. Raises EnablementError."""
    wanted = dict(_wanted(desired))
    if not is_comparable(desired.prepared):
        return _missing_of_users(desired, wanted)
    objects = [item.manifest for _state, item in wanted.values()]
    live: dict[ObjectKey, Obj] = find_owned(
        desired.client, desired.prepared, list(desired.recipe.states), desired.record, objects
    )
    live |= _read(desired.client, [key for key in wanted if key not in live])
    rows = (_row(desired, key, state, item, live.get(key)) for key, (state, item) in wanted.items())
    return sorted(filter(None, rows), key=lambda row: _ORDER.index(row["drift"]))


def _missing_of_users(desired: Desired, wanted: Mapping[ObjectKey, _Place]) -> list[Obj]:
    """What users' pods name and is gone, whatever else is new; not of states that were not ready."""
    rows = elements(desired.record or {}, "status", "states")
    unready = {row.get("name") for row in rows if row.get("phase") != "ready"}
    places = {
        key: place
        for key, place in wanted.items()
        if rows and key.kind in USERS_KINDS and place[0] not in unready
    }
    live = _read(desired.client, list(places))
    found = (_row(desired, key, *places[key], None) for key in places if key not in live)
    return list(filter(None, found))


def not_applied(desired: Desired, rows: Sequence[Obj]) -> dict[tuple[str, str], Verdict]:
    """(state, group) -> what its proofs cannot tell: an object is missing without which pods do not
    start, while those run on that have. rows: as find_drift gives them."""
    gone = {row["object"] for row in rows if row["drift"] == MISSING and not row["put_back"]}
    if not gone:
        return {}
    wanted = dict(_wanted(desired))
    named = set[tuple[str, str, str]]().union(
        *(named_by_pods(item.manifest) for _state, item in wanted.values())
    )
    return {
        (state, item.group): Verdict(
            Outcome.TROUBLE,
            "NotApplied",
            f"{key} is not in the cluster, and no pod that needs it starts",
            ran=True,
            heals=False,
        )
        for key, (state, item) in wanted.items()
        if str(key) in gone and stops_pods(key, named)
    }


def drift_in(desired: Desired, changes: Sequence[Change]) -> list[Obj]:
    """The same of what a run is about to write, by its plan: what it puts back."""
    if not changes or not is_comparable(desired.prepared):
        return []
    wanted = dict(_wanted(desired))
    rows = (
        _row(desired, change.key, *wanted[change.key], change.before)
        for change in changes
        if change.key in wanted and not change.theirs
    )
    return [
        {**row, "put_back": True, "todo": "this run puts it back"}
        for row in rows
        if row and row["drift"] != EXTENDED
    ]


def kept_by_tools(changes: Sequence[Change]) -> Iterator[str]:
    """A sentence for each tool that applies objects which a run is about to change: it would change them
    back."""
    kept: dict[str, list[str]] = {}
    for change in changes:
        if change.action != "create" and (tool := gitops_tool_of(change.before or {})):
            kept.setdefault(tool, []).append(str(change.key))
    for tool, names in sorted(kept.items()):
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield (
            f"{tool} applies {', '.join(names[:_NAMED])}{more}, which this run changes, and will change it back:"
            f" {_RENDER.format(tool=tool).partition(':')[0]}"
        )


def tell_drift(report: Obj, rows: Sequence[Obj], *, is_there: bool) -> None:
    """Add the rows to a report. While it is there, and no run has put it back, it is a phase of its own
    where all nodes are ready, all the same."""
    report["drift"] = list(rows)
    ours = [row for row in rows if row["drift"] != EXTENDED]
    if not is_there or not ours:
        return
    if report["ready"]:
        report.update(phase=PHASE, ready=False)
    report["message"] = f"{report['message']}; {sentence(ours)}; {ours[0]['todo']}"


def sentence(rows: Sequence[Mapping[str, Any]]) -> str:
    """What has happened to objects, in half a sentence."""
    named = [f"{row['object']} {_what(row)}" for row in rows[:_NAMED]]
    more = f" and {len(rows) - _NAMED} more" if len(rows) > _NAMED else ""
    return f"not as it was deployed: {', '.join(named)}{more}"


def _what(row: Mapping[str, Any]) -> str:
    if row["drift"] == MISSING:
        return "(missing)"
    by = f", {row['by']}" if row["by"] else ""
    return f"({', '.join(row['fields'][:_NAMED])}{by})"


def _wanted(desired: Desired) -> Iterator[tuple[ObjectKey, _Place]]:
    """All objects that the recipe has here, with the states that they are of."""
    for state, rendered in desired.rendered.items():
        for item in rendered.objects:
            yield key_of(item.manifest), (state, item)


def _read(client: Client, keys: Sequence[ObjectKey]) -> dict[ObjectKey, Obj]:
    """Objects by their names: who has taken our labels off has not deleted them."""
    known = [key for key in keys if client.serves(key.api_version, key.kind)]

    def call(key: ObjectKey) -> Optional[Obj]:
        return client.get(client.kind(key.api_version, key.kind), key.name, key.namespace)

    found: dict[ObjectKey, Obj] = {}
    answers = client.parallel([partial(call, key) for key in known])
    for key, answer in zip(known, answers, strict=True):
        if isinstance(answer, ApiError):
            raise answer
        if answer is not None:
            found[key] = answer
    return found


def _row(
    desired: Desired, key: ObjectKey, state: str, item: RenderedObject, live: Obj | None
) -> Obj | None:
    """What has happened to one object; None for nothing."""
    make = partial(_make_row, key, state)
    if live is None:
        return make(MISSING, Drift(()), _PUT_BACK) if _was_there(desired, state, item) else None
    if not _was_ours(live, desired.prepared.applyset_id):
        return None
    lenient = desired.recipe.source.format is not None
    if drift := drifted_fields.taken(live, item.manifest, lenient=lenient):
        return make(CHANGED, drift, _todo_of_change(live, drift))
    if drift := drifted_fields.added(live):
        return make(EXTENDED, drift, "a run leaves it as it is")
    return None


_PUT_BACK = "run the playbook that enables it, which puts back what is missing and what it had set"
_RENDER = (
    "write the folder that {tool} applies anew (playbook render), and commit it: what a run puts back, {tool} changes"
    " again"
)
_RELABEL = (
    f"give it its label {PART_OF_LABEL} back, or remove it: a run takes what has no label of ours for somebody else's,"
    " and refuses to touch it"
)


def _todo_of_change(live: Obj, drift: Drift) -> str:
    """What to do about an object of ours that somebody has changed."""
    if not part(live, "metadata", "labels").get(PART_OF_LABEL):
        return _RELABEL
    tool = gitops_tool(drift.by)
    return _RENDER.format(tool=tool) if tool else _PUT_BACK


def _make_row(key: ObjectKey, state: str, what: str, drift: Drift, todo: str) -> Obj:
    return {
        "object": str(key),
        "state": state,
        "drift": what,
        "fields": list(drift.fields),
        "by": drift.by,
        "since": drift.since,
        "put_back": False,
        "todo": todo,
    }


def _was_ours(live: Obj, owner: str) -> bool:
    """Whether a run of this special resource has written an object: what was there before, and stays
    somebody else's, is not deployed by us."""
    labels, entries = part(live, "metadata", "labels"), elements(live["metadata"], "managedFields")
    applied = any(entry.get("manager") == FIELD_MANAGER for entry in entries)
    return labels.get(PART_OF_LABEL, owner if applied else None) == owner


def _was_there(desired: Desired, state: str, item: RenderedObject) -> bool:
    """Whether the last run has made an object, by what it has found of the states: its group of nodes
    was there, and what had to be proven before was."""
    status = part(desired.record or {}, "status")
    rows = {str(row.get("name")): row for row in elements(status, "states")}
    # Some Jobs go by themselves.
    if not rows or "ttlSecondsAfterFinished" in part(item.manifest, "spec"):
        return False
    # What proves nothing has no row.
    row = rows.get(state, {})
    if item.group and item.group not in _groups_in(row):
        return False
    required = desired.order.requires.get(state, ()) if acts(item.manifest) else ()
    proven = all(rows.get(name, {}).get("phase") == "ready" for name in required)
    return proven or bool(row.get("ready"))


def _groups_in(row: Mapping[str, Any]) -> set[str]:
    """The ids of the groups of nodes that a record's row of a state names."""
    return {str(group.get("id")) for group in elements(row, "groups")}
