# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache allocation as a product."""

from __future__ import annotations

from .._runs.product import Product, WatchedKind
from .objects.operator_names import WORKLOAD
from .rmd_rights import RECIPE, RIGHTS

PRODUCT = Product(
    RECIPE,
    RIGHTS,
    watched=(
        WatchedKind(
            WORKLOAD,
            event="workload_changed",
            meaning="an RmdWorkload was made, changed or deleted",
        ),
    ),
)
