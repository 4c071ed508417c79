# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ways to look at rendered objects."""

from __future__ import annotations

from typing import Any

Obj = dict[str, Any]


def container(spec: Obj, name: str, key: str = "containers") -> Obj:
    """The container of that name."""
    (found,) = [item for item in spec[key] if item["name"] == name]
    return found


def pod_spec(rendering: Any, daemonset: str) -> Obj:
    """What a DaemonSet's pods are made from."""
    return rendering.one("DaemonSet", daemonset)["spec"]["template"]["spec"]


def env_of(item: Obj) -> dict[str, str]:
    """The variables of a container; those taken from elsewhere are empty."""
    return {entry["name"]: entry.get("value", "") for entry in item["env"]}


def host_paths(spec: Obj) -> dict[str, str]:
    """Volume name -> path on the host."""
    return {
        volume["name"]: volume["hostPath"]["path"]
        for volume in spec["volumes"]
        if "hostPath" in volume
    }


def config_maps(spec: Obj) -> dict[str, str]:
    """Volume name -> name of its ConfigMap."""
    return {
        volume["name"]: volume["configMap"]["name"]
        for volume in spec["volumes"]
        if "configMap" in volume
    }


def names(rendering: Any, kind: str) -> set[str]:
    """The names of all objects of a kind."""
    return {item["metadata"]["name"] for item in rendering.objects(kind)}


def all_containers(spec: Obj) -> list[Obj]:
    """Init containers and containers."""
    return [*spec.get("initContainers", []), *spec["containers"]]
