# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of other operators that the examples make objects of, as a cluster has them where these
operators are installed. Of their fields nothing is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.scenes.gpu_operator import definition

# (group, version, kind, plural); those of a cluster have no namespace.
_NAMESPACED = (
    ("shipwright.io", "v1alpha1", "Build", "builds"),
    ("shipwright.io", "v1alpha1", "BuildRun", "buildruns"),
    ("cert-manager.io", "v1", "Certificate", "certificates"),
    ("cert-manager.io", "v1", "Issuer", "issuers"),
    ("operators.coreos.com", "v1", "OperatorGroup", "operatorgroups"),
    ("operators.coreos.com", "v1alpha1", "Subscription", "subscriptions"),
    ("policy.open-cluster-management.io", "v1", "Policy", "policies"),
    ("policy.open-cluster-management.io", "v1", "PlacementBinding", "placementbindings"),
    ("apps.open-cluster-management.io", "v1", "PlacementRule", "placementrules"),
)
_OF_CLUSTER = (
    ("shipwright.io", "v1alpha1", "ClusterBuildStrategy", "clusterbuildstrategies"),
    ("operator.cert-manager.io", "v1alpha1", "CertManager", "certmanagers"),
)


def foreign_definitions() -> Iterator[dict[str, Any]]:
    """Their CustomResourceDefinitions."""
    for scope, kinds in (("Namespaced", _NAMESPACED), ("Cluster", _OF_CLUSTER)):
        for group, version, kind, plural in kinds:
            yield definition(kind, plural, group, version, scope)
