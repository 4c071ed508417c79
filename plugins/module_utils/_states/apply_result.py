# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What state_apply returns, and what it says of it on the way."""

from __future__ import annotations

from collections.abc import Sequence, Set

from .._cluster.api_objects.changes import Change
from .._cluster.api_objects.labels import state_of
from .._cluster.api_objects.objects import ObjectKey, key_of
from .._errors import EnablementError
from .._json import Obj
from .._recipes.render import render_images, render_notes
from .._runs.context import RunContext
from .apply_plan import ApplyPlanner, Planned
from .staging import Stage

_TAKEN_AWAY = ("delete", "restore")


class ApplyResult:
    """The result of one run.

    planned: what was done, or would be; waiting: what waits for a proof still. refused: what could
    not be made although it was proven, of states that no report tells of; partly: some of it was.
    """

    def __init__(
        self,
        planner: ApplyPlanner,
        planned: Planned,
        waiting: Sequence[Stage] = (),
        refused: Sequence[EnablementError] = (),
        *,
        partly: bool = False,
    ) -> None:
        self._planner = planner
        self._desired = planner.desired
        self._recipe = planner.desired.recipe
        self._planned = planned
        self._waiting = waiting
        self._refused = refused
        self._partly = partly

    def tell(self, context: RunContext) -> Obj:
        """The result; shows what is left out, what waits, and what the recipe's author says."""
        differing = self._planned.differing
        rows = [self._row_of(name) for name in self._planner.names]
        result: Obj = {
            "changed": bool(differing) or self._partly,
            "states": rows,
            "nodes": self._desired.discovery.matched,
            "differences": list(self._desired.prepared.differences),
            "requests": dict(self._desired.client.requests),
        }
        if self._refused:
            result.update(failed=True, msg=str(self._refused[0]))
        if differing:
            _tell_left_alone(self._planned.changes, context)
        self._tell_skipped(rows, context)
        _tell_waiting(rows, context)
        images = self._images()
        if images is not None:
            result["images"] = images
        if differing and self._has_last_state():
            result.update(self._notes(context))
        if context.diff:
            result["diff"] = context.diff_of(differing)
        return result

    def _images(self) -> dict[str, str] | None:
        """The images by group; None where none of the states has any."""
        states = self._recipe.states
        of_groups = [name for name in self._planner.names if states[name].images.are_known]
        if not of_groups:
            return None
        found: dict[str, str] = {}
        for name in of_groups:
            found.update(render_images(self._recipe, name, self._desired.facts))
        return found

    def _has_last_state(self) -> bool:
        """Whether the recipe's last state is applied: then all of it is there."""
        return self._planner.names[-1:] == list(self._recipe.states)[-1:]

    def _notes(self, context: RunContext) -> Obj:
        """What the recipe's author says to it, and what is odd about its files."""
        notes = render_notes(self._recipe, self._desired.facts)
        for line in notes.splitlines():
            context.notice(line)
        found = self._recipe.source.format.warnings if self._recipe.source.format else ()
        warnings = [
            f"{path}, line {line}: {text}" if line else f"{path}: {text}"
            for path, line, text in found
        ]
        return {
            **({"notes": notes} if notes else {}),
            **({"warnings": warnings} if warnings else {}),
        }

    def _tell_skipped(self, rows: Sequence[Obj], context: RunContext) -> None:
        """Show what a state does without, in a run that changes it. Nobody misses OpenShift's APIs
        elsewhere."""
        everything = self._desired.facts.cluster.get("platform") == "openshift"
        for row in rows:
            for item in self._planner.rendered[row["name"]].skipped if row["changes"] else ():
                if everything or not item.needs_api.partition("/")[0].endswith(".openshift.io"):
                    context.progress(f"{row['name']} does without {item.source}: {item.reason}")

    def _row_of(self, name: str) -> Obj:
        """What became of a state."""
        rendered = self._planner.rendered[name]
        keys = {key_of(item.manifest) for item in rendered.objects}
        own = [change for change in self._planned.differing if _belongs(change, name, keys)]
        return {
            "name": name,
            "enabled": rendered.enabled,
            "objects": len(rendered.objects),
            "changes": list(map(_change_row, own)),
            "waiting": self._waiting_of(name),
            "left_alone": [
                _change_row(change)
                for change in self._planned.changes
                if change.theirs and change.key in keys
            ],
            "skipped": [
                {"source": item.source, "reason": item.reason} for item in rendered.skipped
            ],
            "left_out": self._left_out_of(keys),
            "kept": [
                {"object": str(key), "reason": why} for key, why in self._planned.kept.items()
            ],
        }

    def _waiting_of(self, name: str) -> list[Obj]:
        """The changes of a state that wait for something to be proven."""
        return [
            {"action": change.action, "object": str(change.key), "requires": list(stage.requires)}
            for stage in self._waiting
            if stage.state == name
            for change in stage.changes
        ]

    def _left_out_of(self, keys: Set[ObjectKey]) -> list[Obj]:
        """The fields of these objects that their kinds do not have."""
        return [
            {"object": str(key), "field": field}
            for key, fields in self._planner.fields.left_out.items()
            if key in keys
            for field in fields
        ]


def with_report(result: Obj, report: Obj) -> Obj:
    """Both as one result: how the proof ended is how the task ends."""
    ending: Obj = {key: report.pop(key) for key in ("failed", "msg") if key in report}
    result["changed"] = report.pop("changed") or result["changed"]
    if "diff" in report:
        result["diff"] += report.pop("diff")
    return {**result, "report": report, **ending}


def _belongs(change: Change, state: str, keys: Set[ObjectKey]) -> bool:
    """Whether a change belongs to a state: it renders the object (keys), or the object says so
    itself."""
    if change.key in keys:
        return True
    return change.action in _TAKEN_AWAY and state_of(change.before) == state


def _change_row(change: Change) -> Obj:
    row: Obj = {"action": change.action, "object": str(change.key)}
    if change.note:
        row["note"] = change.note
    return row


def _tell_left_alone(changes: Sequence[Change], context: RunContext) -> None:
    """Name what is somebody else's, and is used as it is."""
    for change in changes:
        if change.theirs:
            context.notice(
                f"{change.key} {change.note}: it stays as it is, and when this is removed"
            )


def _tell_waiting(rows: Sequence[Obj], context: RunContext) -> None:
    """Show what is not done yet, and for what it waits."""
    for row in rows:
        for item in row["waiting"]:
            what = f"{item['action']} {item['object']}"
            context.progress(
                f"{row['name']}: {what} waits for {', '.join(item['requires'])} to be proven"
            )
