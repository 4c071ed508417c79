# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Apply objects that already carry their ownership labels: plan first, then execute.

This is the face of four modules: changes (what a change is), planning, executing and removal."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.changes import Change
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.executing import execute
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.planning import plan
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.removal import delete_and_wait

__all__ = ["Change", "delete_and_wait", "execute", "plan"]
