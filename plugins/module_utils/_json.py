# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The type of what is read from JSON and YAML."""

from __future__ import annotations

from typing import Any

# An object with keys: of the Kubernetes API, of a module's result.
Obj = dict[str, Any]
