# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up clusters that a recipe is tried on: what they serve, which kernels, systems and architectures they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.hardware.enablement.plugins.module_utils.recipes.checking.api_types import ApiTypes
from ansible_collections.hardware.enablement.plugins.module_utils.recipes.sample import SampleGroup


@dataclass(frozen=True)
class SampleCluster:
    """A cluster of no nodes. optional_apis: whether it serves every API that a recipe can do without."""

    name: str
    platform: str
    optional_apis: bool
    groups: Sequence[SampleGroup]

    def serves(self, api: str, types: ApiTypes) -> bool:
        """Whether "group/version/Kind" is there; of the optional ones, those of OpenShift only on OpenShift."""
        if ".openshift.io/" in api:
            return self.platform == "openshift"
        return self.optional_apis or (api in types.apis and _is_builtin(api))


def _is_builtin(api: str) -> bool:
    group = api.rsplit("/", 2)[0] if api.count("/") == 2 else ""
    return "." not in group or group.endswith(".k8s.io")


def _group(key: str, kernel: str, os_id: str, os_version: str, arch: str = "amd64") -> SampleGroup:
    terms = ({"matchExpressions": [{"key": "example.com/sample-group", "operator": "In", "values": [key]}]},)
    return SampleGroup(key, kernel, kernel.replace("+", "_"), os_id, os_version, arch, terms)


_MIXED = (
    # A + in the name of a kernel, no version of the system, and an id as long as one can be.
    _group("6-12-0-debian-with-a-long-a1b2c8", "6.12.38+deb13-amd64", "debian", ""),
    _group("6-8-0-60-generic-a1b2c3", "6.8.0-60-generic", "ubuntu", "24.04"),
    _group("6-14-0-27-generic-a1b2c4", "6.14.0-27-generic", "ubuntu", "24.04"),
    _group("6-8-0-60-generic-a1b2c5", "6.8.0-60-generic", "ubuntu", "24.04", "arm64"),
    _group("5-14-0-570-el9-x86-64-a1b2c6", "5.14.0-570.el9.x86_64", "rhel", "9.6"),
    _group("5-14-0-503-el9-x86-64-a1b2c7", "5.14.0-503.40.1.el9_5.x86_64", "rocky", "9.5"),
)
_RHCOS = (
    _group("5-14-0-570-el9-6-x86-64-a1b2c9", "5.14.0-570.23.1.el9_6.x86_64", "rhcos", "4.20"),
    _group("5-14-0-570-el9-6-aarch64-a1b2d0", "5.14.0-570.23.1.el9_6.aarch64", "rhcos", "4.20", "arm64"),
)

SAMPLE_CLUSTERS = (
    SampleCluster("Kubernetes", "kubernetes", True, _MIXED),
    SampleCluster("OpenShift", "openshift", True, _RHCOS),
    SampleCluster("Kubernetes without optional APIs", "kubernetes", False, _MIXED[:1]),
)
