# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of the NUMA Resources Operator as options and pools of the recipe numa. Pure.

Fields and defaults: nodetopology.openshift.io v1 and v1alpha1 of openshift-kni/numaresources-operator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, part
from .._nodes.expressions import any_holds, parse_selector
from .._nodes.pools import pool_name
from .kubelet_settings import duration_s

GROUP = "nodetopology.openshift.io"
OPERATOR, SCHEDULER = "NUMAResourcesOperator", "NUMAResourcesScheduler"
_VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1alpha1")

_API_OF_CLUSTER = "config.numa-operator.openshift.io/nrt-api-definition"
_QOS = "config.numa-operator.openshift.io/scheduler-qos-request"
_GUARANTEED = {"cpu": "600m", "memory": "1200Mi"}

_FINGERPRINTS = {"Disabled": "none", "Enabled": "all", "EnabledExclusiveResources": "exclusive"}
_MODES = {"Periodic": "periodic", "Events": "events", "PeriodicAndEvents": "periodic_and_events"}
_SWITCH = {"Disabled": False, "Enabled": True}
_LEVELS = {"Normal": "info", "Debug": "debug", "Trace": "debug", "TraceAll": "debug"}
_DUMPS = {"Disabled": False, "DumpJSONFile": True}
_INFORMERS = {"Shared": "shared", "Dedicated": "dedicated"}
_DETECTIONS = {"Relaxed": "relaxed", "Aggressive": "aggressive"}


@dataclass(frozen=True)
class OperatorSettings:
    """What an operator was asked for, as the recipe has it: options, and pools as parse_pools()
    takes them."""

    options: Mapping[str, Any]
    pools: Sequence[Obj] = field(default_factory=list)


def settings_of(
    resources: Sequence[Any], machine_config_pools: Sequence[Obj], where: str
) -> OperatorSettings:
    """Of the operator's custom resources, one of each kind; lists (kind List) are opened.

    machine_config_pools: those of the cluster; where it has none, a group's pool is a NodePool of
    HyperShift. where: where the resources come from. Raises InvalidInput for what is not theirs.
    """
    found = _by_kind(resources, where)
    operator, scheduler = found.get(OPERATOR, {}), found.get(SCHEDULER, {})
    options: Obj = {"scheduler_enabled": bool(scheduler)}
    pools: list[Obj] = []
    if operator:
        options |= _of_operator(operator)
        groups = part(operator, "spec").get("nodeGroups") or []
        pools = [
            pool
            for index, group in enumerate(groups)
            for pool in _of_group(group, machine_config_pools, f"nodeGroups[{index}]")
        ]
    if scheduler:
        options |= _of_scheduler(scheduler)
    options["log_level"] = (
        "debug" if "debug" in map(_level, filter(None, (operator, scheduler))) else "info"
    )
    return OperatorSettings(options, pools)


def _by_kind(resources: Sequence[Any], where: str) -> dict[str, Obj]:
    found: dict[str, Obj] = {}
    for resource in resources:
        if not isinstance(resource, Mapping):
            raise _wrong(where, "one of its documents is no object")
        if str(resource.get("kind", "")).endswith("List"):
            found |= _by_kind(resource.get("items") or [], where)
            continue
        kind = str(resource.get("kind"))
        if resource.get("apiVersion") not in _VERSIONS or kind not in (OPERATOR, SCHEDULER):
            raise _wrong(where, f"{kind[:60]} is no custom resource of the operator")
        if kind in found:
            raise _wrong(where, f"it has more than one {kind}")
        found[kind] = dict(resource)
    if not found:
        raise _wrong(where, "it has no custom resource")
    return found


def _of_operator(operator: Obj) -> Obj:
    spec, annotations = part(operator, "spec"), _annotations(operator)
    options: Obj = {"topology_api_enabled": annotations.get(_API_OF_CLUSTER) != "cluster"}
    if spec.get("imageSpec"):
        options["rte_image"] = str(spec["imageSpec"])
    if spec.get("podExcludes"):
        options["pod_excludes"] = [dict(entry) for entry in spec["podExcludes"]]
    return options


def _of_group(group: Any, machine_config_pools: Sequence[Obj], where: str) -> list[Obj]:
    if not isinstance(group, Mapping):
        raise _wrong(where, "it is no object")
    options = _of_group_config(group, where)
    if group.get("poolName"):
        names = [str(group["poolName"])]
    else:
        names = _selected(group.get("machineConfigPoolSelector"), machine_config_pools, where)
    source = "machine_config_pool" if machine_config_pools else "node_pool"
    return [{"name": pool_name(name), source: name, "options": options} for name in names]


def _selected(selector: Any, machine_config_pools: Sequence[Obj], where: str) -> list[str]:
    try:
        term = parse_selector(selector or {})
    except ValueError as error:
        raise _wrong(where, str(error)) from None
    names = [
        pool["metadata"]["name"]
        for pool in machine_config_pools
        if selector and any_holds((term,), part(pool["metadata"], "labels"))
    ]
    if not names:
        raise _wrong(where, "it selects no MachineConfigPool of this cluster")
    return names


def _of_group_config(group: Mapping[str, Any], where: str) -> Obj:
    config = part(group, "config")
    options: Obj = {
        "fingerprint": _term(config, "podsFingerprinting", _FINGERPRINTS, "exclusive", where),
        "refresh_mode": _term(config, "infoRefreshMode", _MODES, "periodic", where),
        "paused": _term(config, "infoRefreshPause", _SWITCH, False, where),
        "refresh_seconds": _seconds(config, "infoRefreshPeriod", 10, where),
    }
    if group.get("disablePodsFingerprinting"):
        options["fingerprint"] = "none"
    if config.get("tolerations"):
        options["tolerations"] = [dict(entry) for entry in config["tolerations"]]
    return options


def _of_scheduler(scheduler: Obj) -> Obj:
    spec = part(scheduler, "spec")
    options: Obj = {
        "scheduler_name": str(spec.get("schedulerName") or "topo-aware-scheduler"),
        "cache_resync_seconds": _seconds(spec, "cacheResyncPeriod", 5, SCHEDULER),
        "cache_resync_debug": _term(spec, "cacheResyncDebug", _DUMPS, True, SCHEDULER),
        "cache_resync_detection": _term(
            spec, "cacheResyncDetection", _DETECTIONS, "relaxed", SCHEDULER
        ),
        "scheduler_informer": _term(spec, "schedulerInformer", _INFORMERS, "auto", SCHEDULER),
        "preemption": _term(spec, "preemptionMode", _SWITCH, False, SCHEDULER),
        "scheduler_replicas": int(spec.get("replicas") or 0),
    }
    if spec.get("imageSpec"):
        options["scheduler_image"] = str(spec["imageSpec"])
    if _annotations(scheduler).get(_QOS) == "guaranteed":
        options["resources"] = {"scheduler": {"requests": _GUARANTEED, "limits": _GUARANTEED}}
    return {**options, **_of_scoring(part(spec, "scoringStrategy"))}


def _of_scoring(scoring: Mapping[str, Any]) -> Obj:
    if not scoring:
        return {}
    return {
        "scoring_strategy": str(scoring.get("type") or "LeastAllocated"),
        "scoring_resources": [dict(entry) for entry in scoring.get("resources") or []],
    }


def _level(resource: Obj) -> str:
    return str(_term(part(resource, "spec"), "logLevel", _LEVELS, "info", resource["kind"]))


def _annotations(resource: Obj) -> Mapping[str, str]:
    return part(resource, "metadata", "annotations")


def _term(
    spec: Mapping[str, Any], key: str, terms: Mapping[str, Any], default: Any, where: str
) -> Any:
    """What a word of the operator's means here."""
    value = spec.get(key)
    if value is None or value == "":
        return default
    if value not in terms:
        raise _wrong(where, f"{key} is {str(value)[:40]!r}, and not one of {', '.join(terms)}")
    return terms[value]


def _seconds(spec: Mapping[str, Any], key: str, default: int, where: str) -> int:
    """A duration in whole seconds, upwards: none becomes 0 that is not."""
    if spec.get(key) is None:
        return default
    try:
        return -int(-duration_s(spec[key]) // 1)
    except ValueError as error:
        raise _wrong(where, f"{key}: {error}") from None


def _wrong(where: str, why: str) -> InvalidInput:
    return InvalidInput(
        "the operator's custom resources cannot be taken over",
        where=where,
        why=why,
        todo="give what kubectl get numaresourcesoperators,numaresourcesschedulers -o yaml writes",
    )
