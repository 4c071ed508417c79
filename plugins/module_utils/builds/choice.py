# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who builds in the cluster: as asked, else whoever fits the cluster and the namespace."""

from __future__ import annotations

from collections.abc import Callable

from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders.buildconfig import BuildConfigBuilder
from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders.buildconfig_objects import (
    API_VERSION as BUILD_API,
)
from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders.cluster import ClusterBuilder
from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders.job import JobBuilder
from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders.restricted import RestrictedBuilder
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.registry.client import Registries

# Of Pod Security admission: who may run there. buildah's pod needs more than either of these levels gives.
_ENFORCE = "pod-security.kubernetes.io/enforce"
_LEVELS = ("baseline", "restricted")


def make_builder(
    name: str,
    client: Client,
    settings: BuildSettings,
    guard: Callable[[], None],
    clock: Callable[[], float],
    registries: Callable[[], Registries],
) -> ClusterBuilder:
    """The builder of that name (kubernetes, openshift, restricted, auto); see ClusterBuilder and RestrictedBuilder."""
    if name == "auto":
        name = _fitting(client, settings)
    if name == "restricted":
        return RestrictedBuilder(client, settings, guard, clock, registries)
    builder = BuildConfigBuilder if name == "openshift" else JobBuilder
    return builder(client, settings, guard, clock)


def _fitting(client: Client, settings: BuildSettings) -> str:
    if client.serves(BUILD_API, "BuildConfig"):
        return "openshift"
    namespace = client.get(client.kind("v1", "Namespace"), settings.namespace) or {"metadata": {}}
    level = (namespace["metadata"].get("labels") or {}).get(_ENFORCE)
    return "restricted" if level in _LEVELS else "kubernetes"
