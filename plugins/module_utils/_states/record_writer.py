# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the record say what a validation has found: its spec where that differs, its status where it is
news."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .._cluster.api_client.client import Client
from .._cluster.api_objects.change_report import name_some
from .._json import Obj, elements, part
from .._recipes.loading.lookups import is_looked_up
from .._runs.context import RunContext
from .._runs.guard import Guard
from .._times import timestamp
from . import phase_events
from .drift import sentence
from .preparation.prepare import Prepared
from .record import image_entries, record_spec, record_store
from .record.record_status import (
    LAST_CHECK,
    LAST_RUN_S,
    in_public,
    make_status,
    with_last_check,
    with_proven,
)

# What a look writes down of itself, and what is no change.
_CHECK_FIELDS = frozenset((LAST_CHECK, LAST_RUN_S))


def write_report(
    client: Client,
    prepared: Prepared,
    live: Obj | None,
    report: Mapping[str, Any],
    context: RunContext,
) -> Obj:
    """Make the record say what a validation found. live: the record as it is."""
    name = prepared.recipe.name
    guard = Guard(client, name, context)
    is_new_spec = live is None or live.get("spec") != prepared.spec
    if is_new_spec and not context.check_mode:
        guard.before_write()
        live = _write_spec(client, prepared, live)
    if live is None:
        created = context.tell(f"would create SpecialResource {name}")
        return {"changed": True, "message": "the record would be created", **created}
    before = part(live, "status")
    status = _status_of(live, prepared, report, context)
    news = _news(status, before)
    if news and not context.check_mode:
        if news <= _CHECK_FIELDS:
            record_store.confirm(client, name, {each: status.get(each) for each in sorted(news)})
        else:
            guard.before_write()
            _write_status(client, name, status, before, context, elements(report, "drift"))
    result: Obj = {"changed": is_new_spec or bool(news - _CHECK_FIELDS), "status": status}
    if result["changed"]:
        verb = "would update" if context.check_mode else "updated"
        fields = _differing(before, status, spec=is_new_spec)
        result |= context.tell(f"{verb} SpecialResource {name}: {fields}")
    return result


def seen_as_record(
    live: Obj | None, prepared: Prepared, report: Mapping[str, Any], context: RunContext
) -> Obj:
    """The record as it would say what was found, for who reads it besides; nothing is written. When a
    run last looked, and what one has put back, stays as it is. Empty where there is no record."""
    if live is None:
        return {}
    put_back = [row for row in report["drift"] if row["put_back"]]
    status = _status_of(live, prepared, {**report, "drift": put_back}, context)
    before = part(live, "status")
    looked = {LAST_CHECK: before.get(LAST_CHECK) or ""}
    looked |= {LAST_RUN_S: before[LAST_RUN_S]} if LAST_RUN_S in before else {}
    metadata = {key: live["metadata"].get(key) for key in ("name", "creationTimestamp")}
    return {
        "metadata": metadata,
        "spec": part(live, "spec"),
        "status": {**status, **looked},
    }


def _write_spec(client: Client, prepared: Prepared, live: Obj | None) -> Obj:
    """What was asked for, where the record does not say it yet."""
    record_store.ensure_definition(client)
    wanted = record_spec.with_spec(live, prepared.recipe.name, prepared.applyset_id, prepared.spec)
    return record_store.write(client, wanted)


def _news(status: Obj, before: Obj) -> set[str]:
    """The fields of the status that say something else than before."""
    return {key for key in status.keys() | before.keys() if status.get(key) != before.get(key)}


def _status_of(
    live: Obj, prepared: Prepared, report: Mapping[str, Any], context: RunContext
) -> Obj:
    """The status after a validation."""
    before, now = part(live, "status"), timestamp(context.clock())
    known = {**before, "images": image_entries.of_states(live, _looked_up(prepared))}
    generation = int(live["metadata"].get("generation", 1))
    seen = in_public(report, context.masked)
    found = make_status(seen, known, generation, now, prepared.versions)
    proven = with_proven(found, seen, prepared.spec, now)
    return with_last_check(proven, before, now, context.took_s)


def _write_status(
    client: Client,
    name: str,
    status: Obj,
    before: Obj,
    context: RunContext,
    drift: Sequence[Mapping[str, Any]],
) -> None:
    """Write the status, and say its change of phase and what was put back."""
    # A CRD of an older version would drop what it does not know.
    record_store.ensure_definition(client)
    live = record_store.write_status(client, name, status)
    said = phase_events.of_record(live, before.get("phase", ""), status["phase"], status["message"])
    found = [said] if said else []
    if drift:
        found.append(phase_events.of_drift(live, sentence(drift)))
    phase_events.say(client, found, context)


def _differing(before: Obj, status: Obj, *, spec: bool) -> str:
    """The fields of the record that changed: "phase waiting -> ready, message, states"."""
    fields = {key for key in status if status[key] != before.get(key)} if before else set()
    if spec:
        fields.add("spec")
    names = name_some(fields - {"phase"} - _CHECK_FIELDS)
    old, new = before.get("phase", "(none)"), status["phase"]
    return ", ".join(filter(None, [f"phase {old} -> {new}" if old != new else "", names]))


def _looked_up(prepared: Prepared) -> set[str]:
    """The states whose images are looked up; of others the record has nothing to say any more."""
    return {state.name for state in prepared.recipe.states.values() if is_looked_up(state)}
