# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The daemon's database: bolt's two buckets and the sequence for ids, in one JSON file, or in
memory."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.rmd.workload import Workload


class Database:
    """Records by id in the order of their ids' bytes (so 1, 10, 2), as bolt's cursor goes."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._sequence = 0
        self._records: dict[str, dict[str, Any]] = {}
        self._mapping: dict[str, str] = {}
        if file is not None and file.exists():
            content = json.loads(file.read_text())
            self._sequence = content["sequence"]
            self._records, self._mapping = content["workload"], content["mapping"]

    def all(self) -> list[Workload]:
        """Copies of all records."""
        with self._lock:
            return [_load(self._records[key]) for key in sorted(self._records)]

    def get(self, key: str) -> Workload | None:
        """A copy of the record with this id."""
        with self._lock:
            return _load(self._records[key]) if key in self._records else None

    def create(self, workload: Workload) -> None:
        """Add a record; it gets the next id if it has none. One with the same id is overwritten."""
        with self._lock:
            if not workload.id:
                self._sequence += 1
                workload.id = str(self._sequence)
            self._put(workload)

    def update(self, workload: Workload) -> None:
        """Write a record anew."""
        with self._lock:
            self._put(workload)

    def delete(self, workload: Workload) -> None:
        """Take a record away; nothing if it is not there."""
        with self._lock:
            self._mapping.pop(workload.uuid, None)
            self._records.pop(workload.id, None)
            self._save()

    def empty(self) -> None:
        """As a new file: the sequence begins anew, too."""
        with self._lock:
            self._sequence, self._records, self._mapping = 0, {}, {}
            self._save()

    def _put(self, workload: Workload) -> None:
        self._records[workload.id] = asdict(workload)
        if workload.uuid:
            self._mapping[workload.uuid] = workload.id
        self._save()

    def _save(self) -> None:
        if self.file is None:
            return
        content = {"sequence": self._sequence, "workload": self._records, "mapping": self._mapping}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        partial = self.file.with_name(f".{self.file.name}~")
        partial.write_text(json.dumps(content, indent=1))
        partial.replace(self.file)


def _load(record: dict[str, Any]) -> Workload:
    # By way of JSON, so that nobody shares lists with the database.
    return Workload(**json.loads(json.dumps(record)))
