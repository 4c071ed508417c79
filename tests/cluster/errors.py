# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The one exception that this tool raises on purpose."""

from __future__ import annotations


class ClusterError(Exception):
    """Something that the person at the keyboard can act on: one sentence with what, where, why and
    what to do."""
