# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run does once its proofs are told: nodes leave, validators go, the record is written. What is
refused there costs no result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from .._cluster.api_client.api_errors import ApiError, Unreachable
from .._cluster.api_client.reading import PAGE_ITEMS
from .._cluster.api_objects.labels import RECIPE_LABEL, VALIDATION_LABEL
from .._errors import EnablementError
from .._json import Obj
from .._proofs.snapshot import node_of
from .._runs.context import RunContext
from .._runs.guard import Guard
from . import phase_events
from .desired import Desired
from .drift import find_drift
from .on_nodes.leftovers import clear_marks
from .record import record_store
from .record_writer import seen_as_record, write_report
from .validation.loop import Loop
from .validation.phases import Phase

T = TypeVar("T")

WORKERS = 8
# The phase of pods that have proven what they were for.
_FINISHED = "Succeeded"


class WalkEnding:
    """Each step is done once more where it is refused; refused takes what stays so."""

    def __init__(self, desired: Desired, guard: Guard, context: RunContext) -> None:
        self._desired = desired
        self._client = desired.client
        self._guard = guard
        self._context = context
        self.refused: list[EnablementError] = []

    def release_nodes(self) -> Mapping[str, Obj]:
        """Take our marks off the nodes that leave, and say why; returns the patches by node."""
        return self._insist(self._release) or {}

    def clear_validators(self, loop: Loop) -> None:
        """Remove the pods that have done their work, also those of a run that was killed, and those
        that nobody waits for: of nodes that left, also where another one has their name now. Failed
        ones keep their logs until their state is proven."""
        self._insist(partial(self._clear, loop))

    def find_rivals(self) -> list[str]:
        """Other device plugins that serve the same devices by now."""
        return self._insist(lambda: self._desired.rival_plugins) or []

    def find_drift(self) -> list[Obj]:
        """What others have done to what is deployed."""
        return self._insist(lambda: find_drift(self._desired)) or []

    def record(self, result: Obj) -> Obj:
        """The result, once the record says the same; a failure where it cannot be made to."""
        written = self._insist(partial(self._write_report, result))
        if written is None:
            said = str(self.refused[-1])
            return {
                **result,
                "failed": True,
                "msg": result.get("msg") or f"The record does not say what was found: {said}",
            }
        result["changed"] = result["changed"] or written["changed"]
        if "diff" in written:
            result["diff"] += written["diff"]
        return result

    def seen_as_record(self, report: Obj) -> Obj:
        """The record as it would say what was found; empty where there is none."""
        return self._insist(partial(self._read_as_record, report)) or {}

    def _read_as_record(self, report: Obj) -> Obj:
        live = record_store.read(self._client, self._desired.recipe.name)
        return seen_as_record(live, self._desired.prepared, report, self._context)

    def _insist(self, step: Callable[[], T]) -> T | None:
        """Once there is no API server any more, nothing else is tried."""
        for last in (False, True):
            if any(map(_is_over, self.refused)):
                break
            try:
                return step()
            except EnablementError as error:
                if last or isinstance(error, Unreachable):
                    self.refused.append(error)
        return None

    def _release(self) -> dict[str, Obj]:
        recipe, strays = self._desired.recipe.name, self._desired.strays
        for name, why in strays.leaving.items():
            self._context.notice(f"node {name} leaves {recipe}: {why}")
        gone = [strays.objects[name] for name in strays.leaving]
        write = not self._context.check_mode
        patches = clear_marks(self._client, recipe, gone, self._guard.before_write, write=write)
        if write:
            phase_events.say(
                self._client,
                [phase_events.of_departure(recipe, node, strays.leaving) for node in gone],
                self._context,
            )
        return patches

    def _clear(self, loop: Loop) -> None:
        namespace, kind = self._desired.prepared.namespace, self._client.kind("v1", "Pod")
        labels = f"{RECIPE_LABEL}={self._desired.recipe.name},{VALIDATION_LABEL}"
        list_pods = partial(self._client.list, kind, namespace=namespace, labels=labels)
        # Two for each node, and of those that have done their work nothing else is read.
        found = list_pods(metadata_only=True).items
        if not found:
            return
        others = list_pods(fields=f"status.phase!={_FINISHED}", leanly=True).items
        are_done = _uids(found) - _uids(others)
        left = self._unawaited(others, loop)
        for _page in range(0, len(are_done), PAGE_ITEMS):
            self._guard.before_write()
            self._client.delete_collection(
                kind, namespace=namespace, labels=labels, fields=f"status.phase={_FINISHED}"
            )
        if left:
            self._guard.before_write()
        calls = [
            partial(self._client.delete, kind, name, namespace, uid=uid)
            for name, uid in ((pod["metadata"]["name"], pod["metadata"]["uid"]) for pod in left)
        ]
        for answer in self._client.parallel(calls, workers=WORKERS):
            if isinstance(answer, ApiError):
                raise answer

    def _unawaited(self, pods: list[Obj], loop: Loop) -> list[Obj]:
        """Those that nobody waits for; none where it is not known which nodes there are."""
        if not self._desired.members and not self._desired.membership.allow_empty:
            return []
        return [pod for pod in pods if not _is_awaited(pod, loop)]

    def _write_report(self, result: Obj) -> Obj:
        live = record_store.read(self._client, self._desired.recipe.name)
        return write_report(self._client, self._desired.prepared, live, result, self._context)


def _is_over(error: EnablementError) -> bool:
    """Whether there is no API server any more."""
    return isinstance(error, Unreachable) and not error.status


def _uids(pods: list[Obj]) -> set[str]:
    return {str(pod["metadata"]["uid"]) for pod in pods}


def _is_awaited(pod: Obj, loop: Loop) -> bool:
    """Whether a validation pod is on a node that is there, and its state is not proven there
    without it."""
    node, state = node_of(pod), pod["metadata"]["labels"][VALIDATION_LABEL]
    if node not in loop.snapshot.nodes:
        return False
    result = loop.results.get((node, state))
    return result is None or result.phase is not Phase.READY
