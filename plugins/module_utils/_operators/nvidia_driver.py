# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIADriver: options of the recipe nvidia-gpu for all nodes, or a pool. Pure.

Fields: api/nvidia/v1alpha1 of NVIDIA/gpu-operator, v26.7.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from .._json import Obj, elements, part
from .._nodes.pools import pool_name
from .driver_fields import (
    BESIDE_FIELDS,
    BESIDE_SWITCHES,
    DRIVER_FIELDS,
    DRIVER_SWITCHES,
    LABELS,
    REPOSITORIES,
    RIGHTS,
    read_beside,
    read_driver,
)
from .field_mapping import (
    Fields,
    MappedField,
    MappedOptions,
    ReadField,
    Switches,
    UnmappedField,
    given_fields,
    join_values,
    map_fields,
    spec_of,
)

KIND = "NVIDIADriver"
_POOL = "selector of pool "
_HOST = "the recipe serves containers, not the hosts of virtual GPUs"
_TERMS = (
    "a pool has one selector of labels, and this has more: its nodes get no driver, unless you give"
    " pools with the nodes of its terms yourself"
)
_REQUIRED = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"

FIELDS: Fields = {
    **DRIVER_FIELDS,
    "repoConfig.name": REPOSITORIES,
    "default": ReadField(),
    "driverType": UnmappedField(_HOST, harmless=("gpu", "vgpu")),
    "nodeSelector": ReadField(),
    _REQUIRED: ReadField(),
    "nodeAffinity": UnmappedField("it prefers nodes, which no DaemonSet does"),
    "tolerations": MappedField("tolerations"),
    "priorityClassName": MappedField("priority_class"),
    "labels": LABELS,
    "annotations": LABELS,
    "podSecurityContext": RIGHTS,
    **BESIDE_FIELDS,
    "virtualTopologyConfig.name": MappedField("driver_topology_config_map"),
}  # fmt: skip
SWITCHES: Switches = {
    **DRIVER_SWITCHES,
    **BESIDE_SWITCHES,
}
# What the recipe has where a driver says nothing.
UNSET: Mapping[str, Any] = {
    "driver_args": [],
    "driver_certificates_config_map": "",
    "driver_enabled": True,
    "driver_host_network": False,
    "driver_image": "",
    "driver_image_name": "driver",
    "driver_kernel_module_type": "auto",
    "driver_license_secret": "",
    "driver_module_config_map": "",
    "driver_precompiled": False,
    "driver_pull_policy": "IfNotPresent",
    "driver_repositories_config_map": "",
    "driver_rdma": "off",
    "driver_repository": "nvcr.io/nvidia",
    "driver_secret_env": "",
    "driver_startup_probe": {},
    "driver_topology_config_map": "",
    "env": {},
    "gdrcopy_enabled": False,
    "gds_enabled": False,
    "image_pull_secrets": [],
    "priority_class": "system-node-critical",
    "resources": {},
    "tolerations": [],
}


@dataclass(frozen=True)
class DriverResource:
    """One NVIDIADriver."""

    resource: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The object's."""
        return str(self.resource["metadata"]["name"])

    @property
    def spec(self) -> Obj:
        """What it asks for."""
        return spec_of(self.resource)

    @property
    def prefix(self) -> str:
        """Of its fields' names as they are shown."""
        return f"{KIND} {self.name}: "

    @property
    def selector(self) -> Obj | None:
        """Which nodes it is for, by labels and the one term of an affinity; None for those that no
        other one selects."""
        labels = part(self.spec, "nodeSelector")
        expressions = [each for term in self._terms for each in elements(term, "matchExpressions")]
        if not labels and not expressions:
            return None
        return {
            **({"matchLabels": dict(labels)} if labels else {}),
            **({"matchExpressions": expressions} if expressions else {}),
        }

    @property
    def why_not(self) -> str:
        """Why nothing of it can be had; "" where it can."""
        if self.spec.get("driverType", "gpu") not in ("gpu", "vgpu"):
            return _HOST
        by_field = any(term.get("matchFields") for term in self._terms)
        return _TERMS if by_field or len(self._terms) > 1 else ""

    @property
    def _terms(self) -> list[Obj]:
        return list(elements(part(self.spec, *_REQUIRED.split(".")), "nodeSelectorTerms"))

    def read_into(self, found: MappedOptions) -> None:
        """What it says, into options that there are already."""
        found = replace(found, prefix=self.prefix)
        map_fields(self.spec, FIELDS, switches=SWITCHES, into=found)
        read_driver(found, self.spec)
        read_beside(found, self.spec)
        if "default" in self.spec:
            found.ignore("default", "it is for the nodes that no other one selects")

    def read_pool(self, beside: Mapping[str, Any]) -> tuple[MappedOptions, Obj]:
        """What it says, and its pool. beside: the options of all nodes, to whose mappings and lists
        its own are added."""
        found = MappedOptions(prefix=self.prefix)
        self.read_into(found)
        name = pool_name(self.name)
        for path in ("nodeSelector", _REQUIRED):
            if part(self.spec, *path.split(".")):
                found.taken[self.prefix + path] = f"{_POOL}{name}"
        options = {
            option: join_values(beside.get(option), value)
            for option, value in found.options.items()
        }
        return found, {"name": name, "selector": self.selector, "options": options}

    def left_out(self, why: str) -> MappedOptions:
        """All that it says as lost, for one reason."""
        found = MappedOptions(prefix=self.prefix)
        for path, _value in given_fields(self.spec, FIELDS):
            found.drop(path, UnmappedField(why))
        return found

    def unread(self, why: str) -> MappedOptions:
        """All that it says as what the operator does not read either."""
        found = MappedOptions(prefix=self.prefix)
        for path, _value in given_fields(self.spec, FIELDS):
            found.ignore(path, why)
        return found
