# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a check of a recipe has found: each mistake once, however many combinations of options show
it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One mistake. file: of the recipe; line: from 1, 0 for none. seen_with: the first case that
    showed it."""

    severity: str
    file: str
    line: int
    message: str
    seen_with: str = field(default="", compare=False)

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}" + (
            f" (seen with {self.seen_with})" if self.seen_with else ""
        )

    def to_dict(self) -> dict[str, Any]:
        """The finding as a result holds it."""
        return asdict(self)


class Findings:
    """Collects findings, of which the first of several equal ones counts."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, int, str], Finding] = {}

    def add(
        self,
        file: str,
        line: int,
        message: str,
        *,
        seen_with: str = "",
        severity: str = ERROR,
        same_as: str = "",
    ) -> None:
        """Take down a finding. same_as: what tells it from others of its line, where its message
        says too much."""
        finding = Finding(severity, file, line, message.strip(" .;"), seen_with)
        self._found.setdefault((severity, file, line, same_as or finding.message), finding)

    def sorted(self, severity: str) -> list[Finding]:
        """The findings of one severity, by file and line."""
        chosen: Iterable[Finding] = (
            finding for finding in self._found.values() if finding.severity == severity
        )
        return sorted(chosen, key=lambda finding: (finding.file, finding.line, finding.message))
