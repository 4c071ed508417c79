# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A program called helm that renders charts without placeholders: what is in their files is what comes
out."""

from __future__ import annotations

from pathlib import Path

import pytest

_SCRIPT = """#!/bin/sh
for file in chart/crds/*.yaml chart/templates/*.yaml; do
  [ -f "$file" ] || continue
  printf -- '---\\n# Source: %s\\n' "$file"
  cat "$file"
done
"""


def put_on_path(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Make it, in a folder of the test's own, and let it be found first."""
    program = folder / "helm"
    program.write_text(_SCRIPT)
    program.chmod(0o755)
    patch.setenv("PATH", str(folder), prepend=":")
