# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that run on nodes are in no package: their folders are put where Python looks, as a
pod has them."""

from __future__ import annotations

import sys
from pathlib import Path

RECIPES = Path(__file__).resolve().parents[4] / "recipes"

PROGRAM = RECIPES / "intel-rmd" / "program"

sys.path[:0] = [str(PROGRAM), str(RECIPES / "rdt-classes" / "program")]
