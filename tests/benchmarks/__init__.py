# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How fast the collection is, next to kubernetes.core and kubectl. Run as `python -m
tests.benchmarks`."""

from __future__ import annotations

import sys
from pathlib import Path

# The environment that this runs in also holds the collections; they are no Python packages of it.
COLLECTIONS = Path(sys.prefix) / "collections"
sys.path.append(str(COLLECTIONS))
