# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory plugin, which is the first of the collection that an inventory imports."""

from __future__ import annotations

from ..plugin_utils import _bytecode

_bytecode.keep()
