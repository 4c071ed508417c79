# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a NodeResourceTopology says of a node, and how the scheduler reads it. Pure.

API: k8stopologyawareschedwg/noderesourcetopology-api v0.1.2, v1alpha2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import InvalidInput
from .._json import elements, part
from .._nodes.facts import quantity
from .._times import seconds

API_VERSION = "topology.node.k8s.io/v1alpha2"
KIND = "NodeResourceTopology"
DEFINITION = "noderesourcetopologies.topology.node.k8s.io"

POLICY = "topologyManagerPolicy"
SCOPE = "topologyManagerScope"
FINGERPRINT = "nodeTopologyPodsFingerprint"
METHOD = "nodeTopologyPodsFingerprintMethod"
# Its twin, which the scheduler reads where the attribute is missing.
_FINGERPRINT_ANNOTATION = "topology.node.k8s.io/fingerprint"

# The scheduler's parser of names, and how many zones it has room for
# (scheduler-plugins, pkg/noderesourcetopology/pluginhelpers.go).
_ZONE_NAME = re.compile(r"node-(\d+)", re.ASCII)
_MOST_ZONES = 64
_ZONE_TYPE = "Node"

_POLICIES = ("none", "best-effort", "restricted", "single-numa-node")
_SCOPES = ("container", "pod")
# The deprecated texts, of which the scheduler looks at the first
# (pkg/noderesourcetopology/nodeconfig/topologymanager.go).
_LEGACY = {
    f"{text}{level}Level": (policy, level.lower())
    for text, policy in (
        ("SingleNUMANode", "single-numa-node"),
        ("Restricted", "restricted"),
        ("BestEffort", "best-effort"),
    )
    for level in ("Pod", "Container")
}


@dataclass(frozen=True)
class ZoneResource:
    """How much of a resource a zone has; CPUs in cores, memory in bytes, devices by number."""

    capacity: float
    allocatable: float
    available: float


@dataclass(frozen=True)
class TopologyZone:
    """A NUMA node."""

    name: str
    type: str
    resources: Mapping[str, ZoneResource]

    @property
    def is_read(self) -> bool:
        """Whether the scheduler takes it for a NUMA node."""
        found = _ZONE_NAME.fullmatch(self.name)
        return self.type == _ZONE_TYPE and found is not None and int(found[1]) < _MOST_ZONES


@dataclass(frozen=True)
class TopologyTimes:
    """created and written: seconds since the epoch. generation: how often the content was
    written."""

    created: float | None
    written: float | None
    generation: int

    @property
    def mean_s(self) -> float | None:
        """Seconds from one write to the next, None where that is not known."""
        if self.written is None or self.created is None:
            return None
        return (self.written - self.created) / max(self.generation - 1, 1)


@dataclass(frozen=True)
class NodeTopology:
    """One object. node: its name, and the node's."""

    node: str
    attributes: Mapping[str, str]
    annotations: Mapping[str, str]
    legacy_policies: tuple[str, ...]
    zones: tuple[TopologyZone, ...]
    times: TopologyTimes

    @property
    def policy(self) -> str:
        """The topology manager's policy, as the scheduler understands the object."""
        return self._understood(POLICY, _POLICIES, 0)

    @property
    def scope(self) -> str:
        """The topology manager's scope, likewise."""
        return self._understood(SCOPE, _SCOPES, 1)

    @property
    def fingerprint(self) -> str:
        """Of the pods that the exporter saw, "" for none."""
        return self.attributes.get(FINGERPRINT) or self.annotations.get(_FINGERPRINT_ANNOTATION, "")

    @property
    def method(self) -> str:
        """Which pods are in the fingerprint; without a word about it, all."""
        return self.attributes.get(METHOD) or "all"

    @property
    def resource_names(self) -> frozenset[str]:
        """The resources that any zone has."""
        return frozenset(name for zone in self.zones for name in zone.resources)

    def total(self, resource: str) -> float:
        """What can be allocated of a resource, over all zones."""
        return sum(
            zone.resources[resource].allocatable
            for zone in self.zones
            if resource in zone.resources
        )

    def _understood(self, attribute: str, known: tuple[str, ...], place: int) -> str:
        value = self.attributes.get(attribute, "")
        if value in known:
            return value
        legacy = self.legacy_policies[0] if self.legacy_policies else ""
        return _LEGACY[legacy][place] if legacy in _LEGACY else known[0]

    @classmethod
    def from_object(cls, found: Mapping[str, Any]) -> NodeTopology:
        """Of an object as the API server gives it. Raises InvalidInput for an amount that is none."""
        metadata = found["metadata"]
        return cls(
            node=metadata["name"],
            attributes=_by_name(found.get("attributes")),
            annotations=part(metadata, "annotations"),
            legacy_policies=tuple(elements(found, "topologyPolicies")),
            zones=tuple(_zone(metadata["name"], zone) for zone in elements(found, "zones")),
            times=_times(metadata),
        )


def _times(metadata: Mapping[str, Any]) -> TopologyTimes:
    writes = (seconds(entry.get("time")) for entry in elements(metadata, "managedFields"))
    return TopologyTimes(
        created=seconds(metadata.get("creationTimestamp")),
        written=max((moment for moment in writes if moment), default=None),
        generation=int(metadata.get("generation") or 0),
    )


def _by_name(attributes: Any) -> dict[str, str]:
    return {str(entry["name"]): str(entry["value"]) for entry in attributes or ()}


def _zone(node: str, zone: Mapping[str, Any]) -> TopologyZone:
    try:
        resources = {
            str(entry["name"]): ZoneResource(
                quantity(entry.get("capacity")),
                quantity(entry.get("allocatable")),
                quantity(entry.get("available")),
            )
            for entry in elements(zone, "resources")
        }
    except ValueError as error:
        raise InvalidInput(
            "a NodeResourceTopology is not understood",
            where=f"zone {zone.get('name')} of {node}",
            why=str(error),
            todo="delete it; its exporter writes it anew",
        ) from None
    return TopologyZone(str(zone.get("name", "")), str(zone.get("type", "")), resources)
