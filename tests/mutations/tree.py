# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A copy of the repository in which a rule is broken and tests run, so that nothing happens to the working tree."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.gates.collection_copy import copy_files
from tests.gates.place import Place
from tests.mutations.rules import Rule

# What hangs has noticed nothing. Seconds for the tests of one rule.
PATIENCE_S = 120.0
PASSED, FAILED = 0, 1
_FAILED_TEST = re.compile(r"^FAILED (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """How tests ended: pytest's exit code (None: not in time), the tests that failed, all output."""

    code: int | None
    failed: tuple[str, ...]
    output: str


class Copy:
    """The repository, copied below a folder of its own, with kubernetes.core beside it."""

    def __init__(self, folder: Path, place: Place) -> None:
        self._root = folder / "ansible_collections"
        self._env = place.environment()
        self.path = self._root / "hardware" / "enablement"
        copy_files(place, self.path)
        (self._root / "kubernetes").symlink_to(
            place.collections / "ansible_collections" / "kubernetes"
        )

    @contextmanager
    def without(self, rule: Rule) -> Iterator[None]:
        """While this lasts the rule is broken. Raises RuleError."""
        file = self.path / rule.file
        source = file.read_text(encoding="utf-8")
        self._write(file, rule.broken(source))
        try:
            yield
        finally:
            self._write(file, source)

    def run(self, tests: Sequence[str], *options: str, patience_s: float = PATIENCE_S) -> Outcome:
        """Run these test files, for at most so many seconds."""
        imports = ["-o", f"pythonpath={self._root.parent} ."]
        quiet = ["-q", "--tb=no", "-rf", "-p", "no:cacheprovider"]
        argv = [sys.executable, "-m", "pytest", *quiet, *imports, *options, *tests]
        try:
            done = subprocess.run(
                argv,
                cwd=self.path,
                env=self._env,
                capture_output=True,
                text=True,
                check=False,
                timeout=patience_s,
            )
        except subprocess.TimeoutExpired:
            return Outcome(None, (), f"not done in {patience_s:.0f} s")
        output = done.stdout + done.stderr
        return Outcome(done.returncode, tuple(_FAILED_TEST.findall(output)), output)

    @staticmethod
    def _write(file: Path, text: str) -> None:
        file.write_text(text, encoding="utf-8")
        # Python tells by size and second whether what it has compiled is out of date.
        Path(importlib.util.cache_from_source(str(file))).unlink(missing_ok=True)
