# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make planned changes real: in ranks, in parallel within a rank, and with a full account when
something fails."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from .._errors import EnablementError
from .api_client.api_errors import ApiError, LockHeld, NotFound
from .api_client.client import Client
from .api_objects.changes import Change
from .api_objects.objects import ObjectKey
from .api_objects.ranks import DEFINITIONS, by_rank
from .crd_discovery import wait_until_served
from .removal import delete_and_wait

GONE_S = 300.0
_SHOWN = 5


def execute(
    client: Client,
    changes: Sequence[Change],
    *,
    guard: Callable[[], None],
    say: Callable[[str], None] = lambda _text: None,
) -> list[Change]:
    """Carry out changes; returns them in the same order, each as the API server answered.

    An update that turned out to change nothing comes back as "unchanged". guard is called before
    each batch and may raise; say gets what is waited for, and why. A failure lets the batch end, and
    raises EnablementError whose result says what was applied, what failed and what was not tried.
    """
    return _Execution(client, changes, guard, say).run()


class _Execution:
    def __init__(
        self,
        client: Client,
        changes: Sequence[Change],
        guard: Callable[[], None],
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._changes = changes
        self._guard_lock = threading.Lock()
        self._unsafe_guard = guard
        self._unsafe_say = say
        self._done: dict[ObjectKey, Change] = {}
        self._failed: dict[ObjectKey, EnablementError] = {}

    def run(self) -> list[Change]:
        kept = [
            change for change in self._changes if change.action in ("create", "update", "replace")
        ]
        removed = [change for change in self._changes if change.action in ("delete", "restore")]
        try:
            for rank, batch in by_rank(kept, _kind_of):
                self._run_batch(batch, self._apply)
                if rank == DEFINITIONS:
                    made = [self._done[change.key].after or {} for change in batch]
                    wait_until_served(self._client, made, guard=self._guard, say=self._say)
            for _rank, batch in by_rank(removed, _kind_of, reverse=True):
                self._run_batch(batch, self._delete)
        except EnablementError as error:
            error.result.update(self._account())
            raise
        return [self._done.get(change.key, change) for change in self._changes]

    def _guard(self) -> None:
        """The caller's guard, which is not made for the threads that replace objects."""
        with self._guard_lock:
            self._unsafe_guard()

    def _say(self, text: str) -> None:
        with self._guard_lock:
            self._unsafe_say(text)

    def _run_batch(self, batch: Sequence[Change], action: Callable[[Change], Change]) -> None:
        self._guard()

        def run(change: Change) -> None:
            try:
                self._done[change.key] = action(change)
            except ApiError as error:
                self._failed[change.key] = error
                raise
            except EnablementError as error:
                self._failed[change.key] = error

        self._client.parallel([partial(run, change) for change in batch])
        for error in self._failed.values():
            if isinstance(error, LockHeld):
                raise error
        if self._failed:
            raise self._failure()

    def _apply(self, change: Change) -> Change:
        if change.action == "replace":
            uids = {change.key: change.before["metadata"]["uid"]} if change.before else {}
            delete_and_wait(
                self._client, [change.key], GONE_S, guard=self._guard, say=self._say, uids=uids
            )
        applied = self._client.apply_in_full(change.desired or {})
        note = "; ".join(dict.fromkeys(filter(None, [change.note, *applied.warnings])))
        before = (change.before or {}).get("metadata", {}).get("resourceVersion")
        same = change.action == "update" and applied.object["metadata"]["resourceVersion"] == before
        return replace(
            change, action="unchanged" if same else change.action, after=applied.object, note=note
        )

    def _delete(self, change: Change) -> Change:
        kind = self._client.kind(change.key.api_version, change.key.kind)
        if change.action == "restore":
            with suppress(NotFound):
                self._client.patch(
                    kind, change.key.name, change.key.namespace or None, change.desired or {}
                )
            return change
        uid = (change.before or {}).get("metadata", {}).get("uid")
        there = self._client.delete(kind, change.key.name, change.key.namespace, uid=uid)
        return change if there else replace(change, action="unchanged", note="it was gone already")

    def _failure(self) -> EnablementError:
        parts = [_reason(error) for error in self._failed.values()]
        more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
        account = self._account()
        done, left = len(account["applied"]), len(account["not_tried"])
        failure = EnablementError(
            f"{len(parts)} of {done + len(parts) + left} changes failed",
            where=self._client.host,
            why="; ".join(parts[:_SHOWN]) + more,
            todo=f"{done} were made and {left} not tried: repair this and run again",
        )
        failure.__cause__ = next(iter(self._failed.values()))
        return failure

    def _account(self) -> dict[str, Any]:
        """For a task's result: every object that was to change is in one of the three lists."""
        wanted = [change.key for change in self._changes if change.action != "unchanged"]
        real = [
            key for key in wanted if key in self._done and self._done[key].action != "unchanged"
        ]
        return {
            "changed": bool(real),
            "applied": [str(key) for key in wanted if key in self._done],
            "failed": [
                {"object": str(key), "reason": str(error)} for key, error in self._failed.items()
            ],
            "not_tried": [
                str(key) for key in wanted if key not in self._done and key not in self._failed
            ],
        }


def _kind_of(change: Change) -> str:
    return change.key.kind


def _reason(error: EnablementError) -> str:
    text = f"{error.what[0].lower()}{error.what[1:]}: {error.why}"
    return f"{text} ({error.todo})" if error.todo else text
