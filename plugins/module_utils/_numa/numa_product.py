# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of NUMA as a product."""

from __future__ import annotations

from .._cluster.api_client.rights import CLUSTER, OPERANDS, Right
from .._runs.product import Product
from .node_topology import DEFINITION

_READ = ("get", "list")
# What reading needs; get nodes/proxy besides, where kubelets are asked (docs/admin/kubelets.md).
_RIGHTS = (
    Right("", ("nodes", "pods"), ("list",), CLUSTER, read_only=("list",)),
    Right("topology.node.k8s.io", ("noderesourcetopologies",), _READ, CLUSTER, read_only=_READ),
    Right(
        "apiextensions.k8s.io",
        ("customresourcedefinitions",),
        ("get",),
        CLUSTER,
        (DEFINITION,),
        read_only=("get",),
    ),
    Right(
        "machineconfiguration.openshift.io",
        ("kubeletconfigs", "machineconfigpools"),
        ("list",),
        CLUSTER,
        read_only=("list",),
    ),
    Right("apps", ("daemonsets", "deployments"), ("list",), OPERANDS, read_only=("list",)),
    Right("", ("configmaps",), ("get",), OPERANDS, read_only=("get",)),
    Right("", ("pods/log",), ("get",), OPERANDS, read_only=("get",)),
    Right("coordination.k8s.io", ("leases",), ("get",), OPERANDS, read_only=("get",)),
)

PRODUCT = Product("numa", _RIGHTS)
