# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a kubelet is told about CPUs, memory and NUMA, out of a KubeletConfiguration. Pure.

Names and defaults: k8s.io/kubelet/config/v1beta1, KubeletConfiguration.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._nodes.cpuset import parse_cores, to_ranges
from .._nodes.facts import quantity

MAX_NUMA_NODES = "max-allowable-numa-nodes"
# Of the topology manager, without that option (pkg/kubelet/cm/topologymanager/policy_options.go).
DEFAULT_MAX_NUMA_NODES = 8

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class KubeletSetting:
    """A setting: our name, the kubelet's field, the default and how its value is read (ValueError
    for nonsense)."""

    name: str
    field: str
    default: Any
    read: Callable[[Any], Any]


def duration_s(value: Any) -> float:
    """A duration as Go writes it ("1m30s") in seconds. Raises ValueError."""
    text = str(value)
    parts = _DURATION.findall(text)
    if text == "0":
        return 0.0
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text[:40]!r} is no duration")
    return round(sum(float(number) * _SECONDS[unit] for number, unit in parts), 9)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{str(value)[:40]!r} is no text")
    return value


def _texts(value: Any) -> dict[str, str]:
    return {_text(key): _text(found) for key, found in sorted(_mapping(value).items())}


def _amounts(value: Any) -> dict[str, Any]:
    """Quantities as numbers, so that 1Gi equals 1024Mi; percentages, as evictionHard has them, as
    they are."""
    return {
        _text(name): found if str(found).endswith("%") else quantity(found)
        for name, found in sorted(_mapping(value).items())
    }


def _cpus(value: Any) -> str:
    try:
        return to_ranges(parse_cores([_text(value)]))
    except EnablementError as error:
        raise ValueError(error.what) from None


def _reserved_memory(value: Any) -> list[Obj]:
    if not isinstance(value, list):
        raise ValueError("it is no list")
    found = [
        {"numa_node": _index(entry), "limits": _amounts(entry.get("limits"))}
        for entry in map(_mapping, value)
    ]
    return sorted(found, key=lambda entry: entry["numa_node"])


def _index(entry: Mapping[str, Any]) -> int:
    number = entry.get("numaNode", 0)
    if not isinstance(number, int) or isinstance(number, bool):
        raise ValueError(f"numaNode {str(number)[:40]!r} is no number")
    return number


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ValueError(f"{str(value)[:40]!r} is no mapping")
    return value


SETTINGS = (
    KubeletSetting("cpu_manager_policy", "cpuManagerPolicy", "none", _text),
    KubeletSetting("cpu_manager_options", "cpuManagerPolicyOptions", {}, _texts),
    KubeletSetting("cpu_manager_reconcile_seconds", "cpuManagerReconcilePeriod", 10.0, duration_s),
    KubeletSetting("memory_manager_policy", "memoryManagerPolicy", "None", _text),
    KubeletSetting("topology_manager_policy", "topologyManagerPolicy", "none", _text),
    KubeletSetting("topology_manager_scope", "topologyManagerScope", "container", _text),
    KubeletSetting("topology_manager_options", "topologyManagerPolicyOptions", {}, _texts),
    KubeletSetting("reserved_cpus", "reservedSystemCPUs", "", _cpus),
    KubeletSetting("kube_reserved", "kubeReserved", {}, _amounts),
    KubeletSetting("system_reserved", "systemReserved", {}, _amounts),
    KubeletSetting("eviction_hard", "evictionHard", {}, _amounts),
    KubeletSetting("reserved_memory", "reservedMemory", [], _reserved_memory),
)


def declared_settings(configuration: Any, where: str) -> Obj:
    """Those settings that a KubeletConfiguration, or a fragment of one, gives; by our names.

    Raises InvalidInput, with where it stands and which field is wrong.
    """
    if not isinstance(configuration, Mapping):
        raise not_understood(where, "it is no mapping")
    found: Obj = {}
    for setting in SETTINGS:
        if configuration.get(setting.field) is not None:
            try:
                found[setting.name] = setting.read(configuration[setting.field])
            except ValueError as error:
                raise not_understood(where, f"{setting.field}: {error}") from None
    if MAX_NUMA_NODES in found.get("topology_manager_options", {}):
        found["max_numa_nodes"] = _max_numa_nodes(found["topology_manager_options"], where)
    return found


def running_settings(configuration: Any, where: str) -> Obj:
    """All settings, with the kubelet's defaults where it gives none. Raises InvalidInput."""
    defaults = {setting.name: setting.default for setting in SETTINGS}
    found = declared_settings(configuration, where)
    return {**defaults, "max_numa_nodes": DEFAULT_MAX_NUMA_NODES, **found}


def _max_numa_nodes(options: Mapping[str, str], where: str) -> int:
    given = options[MAX_NUMA_NODES]
    if not given.isdecimal():
        raise not_understood(where, f"{MAX_NUMA_NODES} {given[:40]!r} is no number")
    return int(given)


def not_understood(where: str, why: str) -> InvalidInput:
    """The error for a configuration that makes no sense. where: whose it is."""
    return InvalidInput("a kubelet's configuration is not understood", where=where, why=why)
