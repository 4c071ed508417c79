# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cache allocation as a product."""

from __future__ import annotations

from .._cluster.api_client.rights import CLUSTER, LOCKS, READ, WRITE, Right
from .._cluster.events import EVENT
from .._runs.product import Product, WatchedKind
from .objects.operator_names import WORKLOAD

# The recipe that needs them, whose lock is taken for all that is written.
RECIPE = "intel-rmd"
_GROUP, _KINDS = "intel.com", ("rmdworkloads", "rmdnodestates", "rmdconfigs")

RIGHTS = (
    # Its custom resources, and their CRDs, unless an admin has applied those.
    Right(_GROUP, _KINDS, (*READ, *WRITE), CLUSTER, read_only=READ),
    Right(_GROUP, tuple(f"{kind}/status" for kind in _KINDS), ("patch",), CLUSTER),
    Right(
        "apiextensions.k8s.io",
        ("customresourcedefinitions",),
        WRITE,
        CLUSTER,
        tuple(f"{kind}.{_GROUP}" for kind in _KINDS),
    ),
    # Certificates of the daemons.
    Right("", ("secrets", "configmaps"), (*READ, *WRITE)),
    # Whose pods the daemons and agents are.
    Right("apps", ("daemonsets",), ("get",), read_only=("get",)),
    # The way to the daemons, where it is chosen. Newer API servers ask for create.
    Right("", ("pods/portforward",), ("get", "create")),
    # What nodes offer to pods; the reasons why a pod gets nothing, on the pod and as an event; its
    # eviction.
    Right("", ("nodes/status",), ("patch",), CLUSTER),
    Right("", ("pods",), ("get", "list", "watch", "patch"), CLUSTER, read_only=READ),
    Right("", ("pods/eviction",), ("create",), CLUSTER),
    Right(EVENT.group, (EVENT.plural,), ("get", "create", "patch"), CLUSTER, read_only=("get",)),
    # A lock for each node.
    Right(
        "coordination.k8s.io",
        ("leases",),
        ("get", "list", "create", "patch", "delete"),
        LOCKS,
        read_only=("get", "list"),
    ),
)


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
