# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Container images of our own, made from Debian packages and kept in the cache. See README.md next
to this file."""

from __future__ import annotations

from tests.cluster.images.build import Image, ensure_image, ensure_tree

__all__ = ["Image", "ensure_image", "ensure_tree"]
