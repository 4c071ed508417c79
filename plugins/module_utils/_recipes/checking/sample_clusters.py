# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up clusters that a recipe is tried on: what they serve, which kernels, systems and
architectures they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..._nodes.groups import FACETS, GroupSystem, NodeGroup, make_group_id, normal
from ..loading.recipe import Recipe
from .api_types import ApiTypes


@dataclass(frozen=True)
class SampleCluster:
    """A cluster of no nodes. optional_apis: whether it serves every API that a recipe can do
    without.

    facts: those of the cluster that templates see. driver_toolkits: build of RHCOS -> image.
    """

    name: str
    platform: str
    groups: Sequence[NodeGroup]
    optional_apis: bool
    facts: Mapping[str, Any] = field(default_factory=dict)
    driver_toolkits: Mapping[str, str] = field(default_factory=dict)

    def serves(self, api: str, types: ApiTypes) -> bool:
        """Whether "group/version/Kind" is there; of the optional ones, those of OpenShift only on
        OpenShift."""
        if ".openshift.io/" in api:
            return self.platform == "openshift"
        return self.optional_apis or (api in types.apis and _is_builtin(api))


def coarse(group: NodeGroup, per: Sequence[str]) -> NodeGroup:
    """The coarser group that one of the made-up ones is a part of, each made once."""
    key = (group.id, group.per, tuple(per))
    if key not in _COARSER:
        _COARSER[key] = _selected(group.narrowed(per))
    return _COARSER[key]


_COARSER: dict[tuple[str, tuple[str, ...], tuple[str, ...]], NodeGroup] = {}


def allocated_in_all_ways(groups: Sequence[NodeGroup], recipe: Recipe) -> list[NodeGroup]:
    """The groups, and beside the first one others that its nodes are in once their devices are served
    in another way."""
    others = [
        replace(groups[0], allocation=way)
        for way in recipe.allocations
        if way != recipe.usual_allocation
    ]
    return [*groups, *(_selected(replace(each, id=make_group_id(each))) for each in others)]


def _is_builtin(api: str) -> bool:
    group = api.rsplit("/", 2)[0] if api.count("/") == 2 else ""
    return "." not in group or group.endswith(".k8s.io")


def _selected(group: NodeGroup) -> NodeGroup:
    expression = {"key": "example.com/sample-group", "operator": "In", "values": [group.id]}
    return replace(group, terms=({"matchExpressions": [expression]},))


# The versions of container runtimes.
_CRI_O: dict[str, Any] = {"runtime": "cri-o", "runtime_version": "1.33.4"}
_CONTAINERD: dict[str, Any] = {"runtime": "containerd", "runtime_version": "2.2.1"}


def _group(
    kernel: str,
    os_id: str,
    os_version: str,
    *,
    preinstalled: bool = False,
    pool: str = "",
    **more: Any,
) -> NodeGroup:
    """more: of its system, where that is not as usual."""
    known = {"arch": "amd64", **_CONTAINERD, **more}
    label = kernel.replace("+", "_")
    system = GroupSystem(kernel, label, os_id=os_id, os_version=os_version, **known)
    group = NodeGroup("", normal(FACETS), system, preinstalled=preinstalled, pool=pool)
    return _selected(replace(group, id=make_group_id(group)))


_GENERIC = _group("6.8.0-60-generic", "ubuntu", "24.04")
_MIXED = (
    _GENERIC,
    _group("6.14.0-27-generic", "ubuntu", "24.04"),
    _group("6.8.0-60-generic", "ubuntu", "24.04", arch="arm64"),
    _group("5.14.0-570.el9.x86_64", "rhel", "9.6", **_CRI_O),
    _group("5.14.0-503.40.1.el9_5.x86_64", "rocky", "9.5", preinstalled=True),
    # A + in the name of a kernel, no version of the system, and a pool with a name as long as one
    # can be.
    _group("6.12.38+deb13-amd64", "debian", "", pool="a-pool-of-20-letters"),
)
_BUILD = "9.6.20251013-1"
_RHCOS = (
    _group(
        "5.14.0-570.23.1.el9_6.x86_64",
        "rhel",
        "9.6",
        os_build=_BUILD,
        **_CRI_O,
    ),
    _group(
        "5.14.0-427.50.1.el9_4.aarch64",
        "rhcos",
        "4.18",
        arch="arm64",
        **_CRI_O,
    ),
)
_OPENSHIFT = {
    "kubernetes_version": "1.33.5",
    "openshift_version": "4.20.1",
    "proxy": {
        "http": "http://proxy.example.com:3128",
        "https": "http://proxy.example.com:3128",
        "no": ".svc",
    },
    "trusted_ca": "user-ca-bundle",
    "pull_secret": "openshift-config/pull-secret",
}
# Of no release: a cluster has that of its own, which is mirrored with it.
MADE_UP_TOOLKIT = f"registry.example.com/driver-toolkit@sha256:{'0' * 64}"
_TOOLKITS = {_BUILD: MADE_UP_TOOLKIT}

SAMPLE_CLUSTERS = (
    SampleCluster(
        "Kubernetes",
        "kubernetes",
        _MIXED,
        optional_apis=True,
        facts={"kubernetes_version": "1.36.2"},
    ),
    SampleCluster(
        "OpenShift",
        "openshift",
        _RHCOS,
        optional_apis=True,
        facts=_OPENSHIFT,
        driver_toolkits=_TOOLKITS,
    ),
    SampleCluster(
        "Kubernetes without optional APIs", "kubernetes", (_GENERIC,), optional_apis=False
    ),
)
