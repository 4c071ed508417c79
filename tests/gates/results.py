# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has passed, with which content: so that `make ci` runs what has changed since.

A step has parts, each with the files that its result depends on. The gates write the digest of
these into a committed file when a part has passed; a part with the same digest is not run again.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.gates.dependencies import RESULTS, Repository
from tests.gates.place import Place


@dataclass(frozen=True)
class Part:
    """A part of a step: the files that its result depends on, and their digest."""

    files: frozenset[str]
    digest: str


@dataclass(frozen=True)
class Known:
    """What is known of a step's parts before it runs; by the name of those that passed, the run;
    how many seconds tests took when they passed last."""

    parts: Mapping[str, Part]
    passed: Mapping[str, str]
    seconds: Mapping[str, int]

    @property
    def left(self) -> tuple[str, ...]:
        """The parts that have to run, the longest first; before them, those nobody knows of."""
        left = sorted(set(self.parts) - set(self.passed))
        return tuple(sorted(left, key=lambda name: -self.seconds.get(name, math.inf)))

    @property
    def whole(self) -> bool:
        """Whether nothing of the step has to run."""
        return bool(self.parts) and not self.left

    @property
    def remark(self) -> str:
        """What of the step does not run, and why not."""
        if not self.passed:
            return ""
        runs = ", ".join(sorted(set(self.passed.values())))
        return f"{len(self.passed)} of {len(self.parts)} unchanged since they passed: {runs}"

    def write(self, place: Place) -> None:
        """Write down what the parts depend on, for tests to look whether that is all."""
        if self.parts:
            place.dependencies.parent.mkdir(parents=True, exist_ok=True)
            files = {name: sorted(part.files) for name, part in self.parts.items()}
            place.dependencies.write_text(json.dumps(files))


class Results:
    """The committed file, and the repository as it is now."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        self._file = repository.folder / RESULTS
        self._begun = time.time()
        self._digests = {name: _digest_of(repository.folder / name) for name in repository.files}
        self._run = f"{time.strftime('%Y-%m-%d', time.gmtime())} {_commit(repository.folder)}"

    def part(self, files: Iterable[str]) -> Part:
        """Files as a part, whose digest any of them changes, and the version of Python."""
        chosen = frozenset(files)
        lines = [f"{name} {self._digests[name]}" for name in sorted(chosen)]
        text = "\n".join((f"Python {sys.version_info[0]}.{sys.version_info[1]}", *lines))
        return Part(chosen, hashlib.sha256(text.encode()).hexdigest())

    def passed(self, step: str, parts: Mapping[str, Part]) -> dict[str, str]:
        """The parts that have passed as they are now, and in which run."""
        known = self._read().get(step, {})
        return {
            name: known[name]["run"]
            for name, part in parts.items()
            if known.get(name, {}).get("digest") == part.digest
        }

    def seconds(self, step: str) -> dict[str, int]:
        """How long the tests of each part took when they passed last, changed since or not."""
        known = self._read().get(step, {})
        return {name: entry["seconds"] for name, entry in known.items() if "seconds" in entry}

    def last_ran(self, step: str, part: str) -> datetime.date:
        """The day, in UTC, on which a part passed last, as it is now or as it was; the first of all
        days for one that nobody knows of."""
        entry = self._read().get(step, {}).get(part)
        if entry is None:
            return datetime.date.min
        day, _commit = entry["run"].split()
        return datetime.date.fromisoformat(day)

    def record(
        self,
        step: str,
        parts: Mapping[str, Part],
        passed: Collection[str],
        seconds: Mapping[str, float],
    ) -> None:
        """Write down which parts of a step have passed now; what was written about others stays as
        long as they are there. Nothing is written of a part whose files have changed meanwhile."""
        everything = self._read()
        entries = {name: entry for name, entry in everything.get(step, {}).items() if name in parts}
        entries |= {
            name: {
                "digest": parts[name].digest,
                "run": self._run,
                **({"seconds": round(seconds[name])} if name in seconds else {}),
            }
            for name in passed
            if not self._has_changed(parts[name])
        }
        everything[step] = entries
        self._file.write_text(f"{json.dumps(everything, indent=1, sort_keys=True)}\n")

    def _has_changed(self, part: Part) -> bool:
        files = [self.repository.folder / name for name in part.files]
        return any(not file.is_file() or file.stat().st_mtime > self._begun for file in files)

    def _read(self) -> dict[str, dict[str, dict[str, Any]]]:
        found: dict[str, dict[str, dict[str, Any]]] = (
            json.loads(self._file.read_text()) if self._file.is_file() else {}
        )
        return found


def _digest_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def _commit(folder: Path) -> str:
    described = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    return subprocess.run(
        described, cwd=folder, capture_output=True, text=True, check=True
    ).stdout.strip()
