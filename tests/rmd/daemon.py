# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One life of the daemon's process: workloads are posted, patched, deleted and shown. The Node
outlives it."""

from __future__ import annotations

import copy
import threading
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tests.rmd.allocator import Allocator
from tests.rmd.allocator_v02 import Allocator02
from tests.rmd.allocator_v03 import Allocator03
from tests.rmd.answers import (
    Answer,
    CrashError,
    RefusedError,
    StartError,
    entity,
    text,
    with_details,
)
from tests.rmd.faults import Dialect
from tests.rmd.node import Node, Settings
from tests.rmd.updates import changes, same_targets
from tests.rmd.validation import check, fill_by_policy
from tests.rmd.workload import Workload, decode, encode

NOT_FOUND = text(404, "404: Could not found workload")


class Daemon:
    """The workload part of the API; StartError when it does not start."""

    def __init__(self, node: Node, settings: Settings) -> None:
        self.node = node
        self.settings = settings
        kind = Allocator03 if settings.dialect is Dialect.V03 else Allocator02
        self.allocator: Allocator = kind(node, settings)
        self._check_pools()
        self.allocator.boot()
        self._lock = threading.RLock()
        self._whole = threading.RLock()
        self._swept = time.monotonic()

    def _check_pools(self) -> None:
        """The daemon looks, but only when the pools are there already; what it would say then."""
        ways = self.node.machine.ways
        if self.settings.pools.os > ways:
            told = f"The request OSGroup cache ways {self.settings.pools.os} is larger than available {ways}"
            raise StartError(f"Error, create OS groups failed! Reason: {told}")
        if self.settings.pools.total > ways and not self.node.faults.empty_pools:
            told = "Guarantee + Besteffort + Shared + OS reserved ways should be less or equal to"
            raise StartError(
                f"Error while get cache pool layout Reason: Error config: {told} {ways}"
            )

    def list(self) -> Answer:
        """GET /workloads."""
        return entity(
            [encode(record, self.settings.dialect) for record in self.node.database.all()]
        )

    def show(self, key: str) -> Answer:
        """GET /workloads/ID."""
        record = self.node.database.get(key)
        return entity(encode(record, self.settings.dialect)) if record else NOT_FOUND

    def post(self, body: bytes) -> Answer:
        """POST /workloads."""
        workload, wrong = decode(body, self.settings.dialect)
        if wrong:
            told = "Failed to read request correctly. Please check request syntax and data"
            return text(500, told if self.settings.dialect is Dialect.V03 else wrong)
        workload.origin = "REST"
        # The daemon looks for what is there already before it takes its lock, and writes the record
        # after it.
        with nullcontext() if self.node.faults.race else self._whole:
            try:
                check(workload, self.node, self.settings)
            except RefusedError as error:
                return text(400, f"Failed to validate workload. Reason: {error.text}")
            try:
                with self._lock:
                    self.allocator.enforce(workload)
            except RefusedError as error:
                return text(self._status(error), error.text)
            self.node.database.create(workload)
        return entity(encode(workload, self.settings.dialect), 201)

    def delete(self, key: str) -> Answer:
        """DELETE /workloads/ID."""
        record = self.node.database.get(key)
        if record is None:
            return NOT_FOUND
        if record.origin != "REST":
            return text(200, "200: You only have permission to delete REST origin workloads")
        try:
            with self._lock:
                self.allocator.release(record)
        except RefusedError as error:
            return text(500, error.text, sniffed=True)
        self.node.database.delete(record)
        return Answer(200)

    def patch(self, key: str, body: bytes) -> Answer:
        """PATCH /workloads/ID."""
        record = self.node.database.get(key)
        if record is None:
            return NOT_FOUND
        if record.origin != "REST":
            return text(200, "200: You only have permission to modify REST origin workloads")
        wanted, _wrong = decode(body, self.settings.dialect)
        wanted.id = key
        if self.settings.dialect is Dialect.V03:
            self.sweep()
        try:
            self._update(record, wanted)
        except RefusedError as error:
            return text(self._status(error), error.text, sniffed=True)
        self.node.database.update(record)
        return entity(encode(record, self.settings.dialect))

    def sweep(self) -> None:
        """Take records away all of whose tasks have ended, without releasing what they hold."""
        self._swept = time.monotonic()
        for record in self.node.database.all():
            if record.task_ids and not set(record.task_ids) & set(self.node.tasks):
                self.node.database.delete(record)

    def tick(self) -> None:
        """What the daemon does from time to time; called with every request."""
        due = self._swept + self.settings.validator_interval
        if self.settings.dialect is Dialect.V03 and time.monotonic() > due:
            self.sweep()

    def locked(self) -> AbstractContextManager[Any]:
        """For readers of the groups."""
        return self._lock

    def _update(self, record: Workload, wanted: Workload) -> None:
        faults = self.node.faults
        if wanted.policy and wanted.policy != record.policy:
            record.policy = wanted.policy
            try:
                fill_by_policy(record, self.node, self.settings)
            except RefusedError:
                """The daemon does not look: enforcing will tell."""
            again = True
        else:
            again = not wanted.policy and changes(record, wanted, self.node, self.settings)
        with self._lock:
            if again:
                self._enforce_anew(record, wanted)
                return
            if same_targets(record, wanted):
                return
            try:
                check(wanted, self.node, self.settings, itself=faults.patch_refuses_cores)
            except RefusedError as error:
                told = with_details("Failed to validate workload", error.text)
                raise RefusedError(told, to_blame=True) from error
            self._move(record, wanted)

    def _enforce_anew(self, record: Workload, wanted: Workload) -> None:
        """Release, then enforce: what is refused now has been released already."""
        faults = self.node.faults
        kept = None if faults.destructive_patch else self.allocator.snapshot()
        self.allocator.release(record)
        record.task_ids = wanted.task_ids or record.task_ids
        record.core_ids = wanted.core_ids or record.core_ids
        if self.settings.dialect is Dialect.V03:
            record.plugins = copy.deepcopy(wanted.plugins)
        try:
            if not faults.patch_steals_cores:
                check(record, self.node, self.settings, itself=False)
            self.allocator.enforce(record)
        except (RefusedError, CrashError):
            if kept is not None:
                self.allocator.restore(kept)
            raise

    def _move(self, record: Workload, wanted: Workload) -> None:
        """Other cores and tasks in the same class. The daemons never get here: patch_refuses_cores
        is in the way."""
        kept = copy.deepcopy(record)
        self.allocator.release(kept)
        record.task_ids = wanted.task_ids or record.task_ids
        record.core_ids = wanted.core_ids or record.core_ids
        self.allocator.enforce(record)

    def _status(self, error: RefusedError) -> int:
        return 400 if error.to_blame and not self.node.faults.wrong_class else 500
