# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles that states of a recipe name. `make reference` makes those of STATE_ROLES, and the
table of all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class StateRole:
    """title: what it does, as a play is named. text: the same as a sentence."""

    title: str
    text: str


DRIVER_CONTAINER = StateRole(
    "Find the driver image for every kernel",
    "Finds or builds one image for each group of nodes, which the driver uses.",
)
STATE_ROLES: Mapping[str, StateRole] = {
    "state_driver": StateRole(
        "Deploy the driver of every kernel",
        "Deploys the driver container, one DaemonSet for each group of nodes, so that every node runs the one "
        "that fits its kernel.",
    ),
    "state_runtime_hook": StateRole(
        "Deploy the container runtime hook",
        "Makes the devices usable in containers, by a runtime hook or CDI, on nodes whose driver was proven.",
    ),
    "state_driver_validation": StateRole(
        "Prove the driver by a workload",
        "Runs a workload on every node, without asking for the extended resource, to prove driver and runtime hook.",
    ),
    "state_device_plugin": StateRole(
        "Deploy the device plugin",
        "Deploys what offers the devices to the cluster as an extended resource.",
    ),
    "state_device_plugin_validation": StateRole(
        "Prove the device plugin by a workload",
        "Runs a workload on every node that asks for one device, to prove that the whole chain serves users.",
    ),
    "state_monitoring": StateRole(
        "Deploy the exporter, its scrape target and alerts",
        "Deploys the metrics exporter and, where the cluster has the Prometheus operator, its "
        "ServiceMonitor and alert rules.",
    ),
    "state_feature_discovery": StateRole(
        "Publish what the devices can do as node labels",
        "Deploys what finds out models, memory and versions, and publishes them as node labels through NFD.",
    ),
    "state_grafana": StateRole(
        "Deploy the dashboard",
        "Deploys the Grafana dashboard, for an existing Grafana or with an instance of its own.",
    ),
}
ANY = StateRole(
    "Apply states that none of these fits",
    "Applies states of a recipe, and waits until they are proven.",
)
ROLES: Mapping[str, StateRole] = {
    "state_driver_container": DRIVER_CONTAINER,
    **STATE_ROLES,
    "state": ANY,
}
_OTHER = "other"


def tag_of(role: str) -> str:
    """The tag of the states that a role of ours runs: driver for state_driver, other for state."""
    return role.removeprefix("state_") if role.startswith("state_") else _OTHER
