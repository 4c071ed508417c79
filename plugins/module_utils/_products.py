# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All products: what asks for rights and what watches for events goes through this list."""

from __future__ import annotations

from ._numa.numa_product import PRODUCT as NUMA
from ._rmd.rmd_product import PRODUCT as RMD

PRODUCTS = (NUMA, RMD)
