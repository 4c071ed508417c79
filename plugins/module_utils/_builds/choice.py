# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The builders that work in the cluster, and which of them builds."""

from __future__ import annotations

from collections.abc import Mapping

from .builders import buildconfig, cluster, job
from .builders.cluster import ClusterBuilder
from .builders.means import Means
from .builders.registration import Registration

# The first one that fits is what auto takes.
_MODULES = (buildconfig, job)
BUILDERS: Mapping[str, Registration] = {module.BUILDER.name: module.BUILDER for module in _MODULES}
# Of all of them, since the cluster decides which one builds.
RIGHTS = tuple(right for module in (cluster, *_MODULES) for right in module.RIGHTS)


def make_builder(name: str, means: Means) -> ClusterBuilder:
    """The builder of that name, or with auto, the one that fits the cluster."""
    if name == "auto":
        name = next(each.name for each in BUILDERS.values() if each.fits(means.client))
    return BUILDERS[name].make(means)
