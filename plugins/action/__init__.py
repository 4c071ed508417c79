# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Action plugins, which are the first of the collection that a run imports."""

from __future__ import annotations

from ..plugin_utils import _bytecode

_bytecode.keep()
