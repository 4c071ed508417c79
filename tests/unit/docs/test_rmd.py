# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page about RMD's modules names every kind of failure and every outcome."""

from __future__ import annotations

import re
from pathlib import Path

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes import node_results
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import ADVICE

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "admin" / "rmd-modules.md").read_text()


def test_every_kind_of_failure() -> None:
    section = PAGE.split("## What a failure means")[1]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert {kind for row in rows for kind in re.findall(r"`(\w+)`", row.split("|")[1])} == set(
        ADVICE
    )


def test_every_outcome() -> None:
    for outcome in (
        node_results.UNCHANGED,
        node_results.CHANGED,
        node_results.FAILED,
        node_results.ROLLED_BACK,
        node_results.WITHHELD,
    ):
        assert f"`{outcome}`" in PAGE
