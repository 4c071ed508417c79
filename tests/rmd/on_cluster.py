# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet behind the daemon's pods of a local cluster with simulated nodes."""

from __future__ import annotations

from tests.cluster import Cluster
from tests.cluster.api import in_parallel
from tests.rmd.fleet import Fleet


def give_addresses(cluster: Cluster, fleet: Fleet) -> None:
    """Let the daemon's pods, as soon as there are some, have the addresses of the fleet's servers."""

    def name_address(node: str) -> None:
        body = {"metadata": {"annotations": dict(fleet.annotations[node])}}
        cluster.api.patch(f"/api/v1/nodes/{node}", body)

    in_parallel(name_address, list(fleet))
