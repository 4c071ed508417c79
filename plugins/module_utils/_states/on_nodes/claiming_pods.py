# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who holds devices by a ResourceClaim (dynamic resource allocation)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, Right
from ..._json import elements, part

_CLAIM = ("resource.k8s.io/v1", "ResourceClaim")

# For recipes that name DRA drivers: pods of whatever namespace may claim their devices.
RIGHTS = (Right("resource.k8s.io", ("resourceclaims",), ("list",), CLUSTER, read_only=("list",)),)

# What tells of claims in a pod's status: a shape, as in _cluster.object_shapes.
CLAIM_STATUS: Mapping[str, Any] = {"extendedResourceClaimStatus": {"resourceClaimName": str}}


class ClaimingPods:
    """The pods for which devices of some DRA drivers are reserved.

    What a bound pod has claimed stays its own, so claims are read only where there is a pod with
    claims that was not seen before.
    """

    def __init__(self, client: Client, drivers: Collection[str]) -> None:
        self._client = client
        self._drivers = frozenset(drivers)
        self._seen: set[str] = set()
        self._found: set[str] = set()

    def among(self, pods: Iterable[Mapping[str, Any]]) -> frozenset[str]:
        """The uids of all pods that hold such devices. pods: the bound ones, by which is told
        whether the claims have to be read again."""
        if self._drivers:
            claim = {pod["metadata"]["uid"] for pod in pods if _has_claims(pod)}
            if not claim <= self._seen:
                self._seen |= claim
                self._found |= self._read()
        return frozenset(self._found)

    def _read(self) -> set[str]:
        if not self._client.serves(*_CLAIM):
            return set()
        claims = self._client.list(self._client.kind(*_CLAIM)).items
        return {
            user["uid"]
            for claim in claims
            for status in [part(claim, "status")]
            if self._is_ours(part(status, "allocation"))
            for user in status.get("reservedFor") or ()
        }

    def _is_ours(self, allocation: Mapping[str, Any]) -> bool:
        results = elements(allocation, "devices", "results")
        return any(result["driver"] in self._drivers for result in results)


def _has_claims(pod: Mapping[str, Any]) -> bool:
    """Whether a pod has claims: its own, or the one that the scheduler makes for a pod that asks for an
    extended resource of a DeviceClass, which the pod's status alone tells (KEP-5004)."""
    by_resource = part(pod, "status").get("extendedResourceClaimStatus")
    return bool(pod["spec"].get("resourceClaims") or by_resource)
