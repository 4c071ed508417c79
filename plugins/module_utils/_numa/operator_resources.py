# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The custom resources of the NUMA Resources Operator as options and pools of the recipe numa. Pure.

Fields and defaults: nodetopology.openshift.io v1 and v1alpha1 of openshift-kni/numaresources-operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, elements, part
from .._nodes.expressions import any_holds, parse_selector
from .._nodes.pools import pool_name
from .._operators.field_mapping import (
    Fields,
    ImportedOptions,
    MappedField,
    MappedOptions,
    ReadField,
    UnmappedField,
    map_fields,
    spec_of,
)
from .kubelet_settings import duration_s

GROUP = "nodetopology.openshift.io"
OPERATOR, SCHEDULER = "NUMAResourcesOperator", "NUMAResourcesScheduler"
_VERSIONS = (f"{GROUP}/v1", f"{GROUP}/v1alpha1")

_API_OF_CLUSTER = "config.numa-operator.openshift.io/nrt-api-definition"
_QOS = "config.numa-operator.openshift.io/scheduler-qos-request"
_PAUSED = "config.numa-operator.openshift.io/pause-reconciliation"
_POOLS_PER_TREE = "config.node.openshift-kni.io/multiple-pools-per-tree"
_SELINUX = "config.node.openshift-kni.io/selinux-policy"
_AMOUNTS = {"cpu": "600m", "memory": "1200Mi"}
_GUARANTEED = {"requests": _AMOUNTS, "limits": _AMOUNTS}

_FINGERPRINTS = {"Disabled": "none", "Enabled": "all", "EnabledExclusiveResources": "exclusive"}
_MODES = {"Periodic": "periodic", "Events": "events", "PeriodicAndEvents": "periodic_and_events"}
_SWITCH = {"Disabled": False, "Enabled": True}
_LEVELS = {"Normal": "info", "Debug": "debug", "Trace": "debug", "TraceAll": "debug"}
_DUMPS = {"Disabled": False, "DumpJSONFile": True}
_INFORMERS = {"Shared": "shared", "Dedicated": "dedicated"}
_DETECTIONS = {"Relaxed": "relaxed", "Aggressive": "aggressive"}


def _term(terms: Mapping[str, Any], where: str) -> Callable[[Any], Any]:
    """What a word of the operator's means here."""

    def convert(value: Any) -> Any:
        if value not in terms:
            key = where.rpartition(".")[2]
            raise _wrong(where, f"{key} is {str(value)[:40]!r}, and not one of {', '.join(terms)}")
        return terms[value]

    return convert


def _seconds(where: str) -> Callable[[Any], int]:
    """A duration in whole seconds, upwards: none becomes 0 that is not."""

    def convert(value: Any) -> int:
        try:
            return -int(-duration_s(value) // 1)
        except ValueError as error:
            raise _wrong(where, f"{where.rpartition('.')[2]}: {error}") from None

    return convert


def _word(option: str, terms: Mapping[str, Any], where: str) -> MappedField:
    return MappedField(option, _term(terms, where))


OPERATOR_FIELDS: Fields = {
    "imageSpec": MappedField("rte_image"),
    "logLevel": ReadField(),
    "nodeGroups": ReadField(),
    "podExcludes": MappedField("pod_excludes"),
}
GROUP_FIELDS: Fields = {
    "poolName": ReadField(),
    "machineConfigPoolSelector": ReadField(),
    "disablePodsFingerprinting": MappedField("fingerprint", lambda off: "none" if off else None),
    "config.podsFingerprinting": _word("fingerprint", _FINGERPRINTS, "config.podsFingerprinting"),
    "config.infoRefreshMode": _word("refresh_mode", _MODES, "config.infoRefreshMode"),
    "config.infoRefreshPause": _word("paused", _SWITCH, "config.infoRefreshPause"),
    "config.infoRefreshPeriod": MappedField("refresh_seconds", _seconds("config.infoRefreshPeriod")),
    "config.tolerations": MappedField("tolerations"),
    "annotations": ReadField(),
}  # fmt: skip
SCHEDULER_FIELDS: Fields = {
    "imageSpec": MappedField("scheduler_image"),
    "logLevel": ReadField(),
    "schedulerName": MappedField("scheduler_name"),
    "cacheResyncPeriod": MappedField("cache_resync_seconds", _seconds("cacheResyncPeriod")),
    "cacheResyncDebug": _word("cache_resync_debug", _DUMPS, "cacheResyncDebug"),
    "cacheResyncDetection": _word("cache_resync_detection", _DETECTIONS, "cacheResyncDetection"),
    "schedulerInformer": _word("scheduler_informer", _INFORMERS, "schedulerInformer"),
    "preemptionMode": _word("preemption", _SWITCH, "preemptionMode"),
    "replicas": ReadField(),
    "scoringStrategy.type": MappedField("scoring_strategy"),
    "scoringStrategy.resources": MappedField("scoring_resources"),
}
# What each says that sets nothing.
_OPERATOR_DEFAULTS: Mapping[str, Any] = {"topology_api_enabled": True}
_GROUP_DEFAULTS: Mapping[str, Any] = {
    "fingerprint": "exclusive",
    "refresh_mode": "periodic",
    "paused": False,
    "refresh_seconds": 10,
}
_SCHEDULER_DEFAULTS: Mapping[str, Any] = {
    "scheduler_enabled": True,
    "scheduler_name": "topo-aware-scheduler",
    "cache_resync_seconds": 5,
    "cache_resync_debug": True,
    "cache_resync_detection": "relaxed",
    "scheduler_informer": "auto",
    "preemption": False,
    "scheduler_replicas": 0,
    "scoring_strategy": "LeastAllocated",
}
_PLAIN = "this cluster has neither MachineConfigPools nor NodePools"
_HOSTED = (
    "a cluster of HyperShift has no MachineConfigPools, and its NodePools are named by poolName"
)
_NO_POOL = UnmappedField("no pool that is given has its name, so that its settings are nobody's")
# An annotation that is set and asks for nothing.
_OFF = ("", "disabled")
# Annotation -> what becomes of it, by its value where that is an option.
_ANNOTATIONS: Fields = {
    _API_OF_CLUSTER: MappedField(
        "topology_api_enabled", lambda value: False if value == "cluster" else None
    ),
    _QOS: MappedField(
        "resources.scheduler", lambda value: _GUARANTEED if value == "guaranteed" else None
    ),
    _PAUSED: UnmappedField(
        "nothing is changed but by a run of the playbook", differs=True, harmless=_OFF
    ),
    _POOLS_PER_TREE: UnmappedField(
        "each pool has exporters of its own", differs=True, harmless=_OFF
    ),
    _SELINUX: UnmappedField(
        "exporters run with the SELinux type that the recipe's SecurityContextConstraints give",
        differs=True,
        harmless=_OFF,
    ),
}  # fmt: skip
_OPERATORS_OWN = (".openshift.io/", ".openshift-kni.io/")
# What the operator reads of a resource, and of the items of its lists.
_OF_RESOURCE = frozenset({"apiVersion", "kind", "metadata", "spec", "status"})
_OF_ITEMS: Mapping[str, frozenset[str]] = {
    "podExcludes": frozenset({"namespace", "name"}),
    "scoringStrategy.resources": frozenset({"name", "weight"}),
}
_UNKNOWN = UnmappedField("it is not known here; it may be new in the operator")


@dataclass(frozen=True)
class PlatformPools:
    """Where a node group's nodes may come from. machine_config_pools: those of the cluster. is_hosted:
    whether nodes are of NodePools of HyperShift. given: a person's pools, which say which nodes a
    group has where the platform cannot."""

    machine_config_pools: Sequence[Obj] = ()
    is_hosted: bool = False
    given: Sequence[Mapping[str, Any]] = ()


def settings_of(resources: Sequence[Any], platform: PlatformPools, where: str) -> ImportedOptions:
    """Of the operator's custom resources, one of each kind; lists (kind List) are opened.

    where: where the resources come from. Raises InvalidInput for what is not theirs.
    """
    by_kind = _by_kind(resources, where)
    found = MappedOptions({"scheduler_enabled": False, "log_level": "info"})
    _read_levels(found, by_kind)
    pools: list[Obj] = []
    if operator := by_kind.get(OPERATOR):
        found.options |= _OPERATOR_DEFAULTS
        spec, own = _read(operator, OPERATOR_FIELDS, replace(found, prefix=f"{OPERATOR}: "))
        pools = _read_groups(own, elements(spec, "nodeGroups"), platform)
    if scheduler := by_kind.get(SCHEDULER):
        found.options |= _SCHEDULER_DEFAULTS
        spec, own = _read(scheduler, SCHEDULER_FIELDS, replace(found, prefix=f"{SCHEDULER}: "))
        if "replicas" in spec:
            _read_replicas(own, spec["replicas"])
    return ImportedOptions.of("numa", [found], found.options, pools)


def _read(resource: Obj, fields: Fields, own: MappedOptions) -> tuple[Obj, MappedOptions]:
    """What a resource sets, after all of it but groups and replicas was noted. own: where."""
    spec = spec_of(resource)
    for name in sorted(resource.keys() - _OF_RESOURCE):
        own.drop(name, _UNKNOWN)
    for path, known in _OF_ITEMS.items():
        _drop_of_items(own, spec, path, known)
    map_fields(spec, fields, into=own)
    _read_annotations(own, resource)
    return spec, own


def _drop_of_items(own: MappedOptions, spec: Obj, path: str, known: frozenset[str]) -> None:
    """Takes what is not known out of the items of a list, and names it."""
    *above, name = path.split(".")
    holder = part(spec, *above)
    items = holder.get(name)
    if not isinstance(items, list):
        return
    for index, item in enumerate(items):
        for key in sorted(item.keys() - known) if isinstance(item, Mapping) else ():
            own.drop(f"{path}[{index}].{key}", _UNKNOWN)
    holder[name] = [
        {key: each for key, each in item.items() if key in known}
        if isinstance(item, Mapping)
        else item
        for item in items
    ]


def _by_kind(resources: Sequence[Any], where: str) -> dict[str, Obj]:
    found: dict[str, Obj] = {}
    for resource in resources:
        if not isinstance(resource, Mapping):
            raise _wrong(where, "one of its documents is no object")
        if str(resource.get("kind", "")).endswith("List"):
            found |= _by_kind(elements(resource, "items"), where)
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


def _read_levels(found: MappedOptions, by_kind: Mapping[str, Obj]) -> None:
    """One level for all pods: the one that says more."""
    levels = {
        kind: _term(_LEVELS, f"{kind}.logLevel")(spec_of(each)["logLevel"])
        for kind, each in by_kind.items()
        if "logLevel" in spec_of(each)
    }
    for kind in sorted(levels, key=lambda each: levels[each] != "debug"):
        replace(found, prefix=f"{kind}: ").take("logLevel", "log_level", levels[kind])


def _read_annotations(found: MappedOptions, resource: Mapping[str, Any]) -> None:
    annotations = part(resource, "metadata", "annotations")
    for name, value in annotations.items():
        path, mapping = f"metadata.annotations.{name}", _ANNOTATIONS.get(name)
        if isinstance(mapping, MappedField):
            found.take(path, mapping.option, mapping.convert(value))
        elif isinstance(mapping, UnmappedField):
            found.drop(path, mapping, value)
        elif any(own in name for own in _OPERATORS_OWN):
            found.drop(path, _UNKNOWN)
        else:
            found.ignore(path, "the operator does not read it")


def _read_replicas(found: MappedOptions, replicas: Any) -> None:
    """None at all is no scheduler."""
    if not isinstance(replicas, int) or isinstance(replicas, bool) or replicas < 0:
        raise _wrong(SCHEDULER, f"replicas is {str(replicas)[:40]!r}, and no number from 0")
    if replicas:
        found.take("replicas", "scheduler_replicas", replicas)
    else:
        found.take("replicas", "scheduler_enabled", value=False)


def _read_groups(found: MappedOptions, groups: Any, platform: PlatformPools) -> list[Obj]:
    """The pools of all node groups; where a person gives pools, those, with what their groups say."""
    _refuse_none(groups, platform)
    if not platform.given:
        return _pools_of_platform(found, groups, platform)
    options: dict[str, Obj] = {}
    for index, group in enumerate(groups):
        own = _read_group(found, group, f"nodeGroups[{index}]")
        key = _key_of(group)
        own.taken[own.prefix + key] = "the pools that are given"
        name = pool_name(str(group.get("poolName") or ""))
        # The only group is that of all pools, by whatever name.
        names = [
            str(pool.get("name"))
            for pool in platform.given
            if len(groups) == 1 or pool.get("name") == name
        ]
        options |= dict.fromkeys(names, own.options)
        if not names:
            own.taken.pop(own.prefix + key)
            own.drop(key, _NO_POOL)
    return [
        {**pool, "options": {**options.get(str(pool.get("name")), {}), **part(pool, "options")}}
        for pool in platform.given
    ]


def _refuse_none(groups: Any, platform: PlatformPools) -> None:
    """Raises InvalidInput where no node is meant."""
    if not isinstance(groups, list):
        raise _wrong("nodeGroups", "it is no list")
    if not groups and not platform.given:
        raise InvalidInput(
            "the operator's custom resources enable no node",
            where=OPERATOR,
            why="it has no nodeGroups, and without them the operator has no exporter anywhere",
            todo="give it nodeGroups, name nodes in hardware_enablement_pools, or leave it out: then all nodes with"
            " more than one NUMA node are meant",
        )


def _pools_of_platform(
    found: MappedOptions, groups: Sequence[Any], platform: PlatformPools
) -> list[Obj]:
    pools: list[Obj] = []
    for index, group in enumerate(groups):
        where = f"nodeGroups[{index}]"
        own = _read_group(found, group, where)
        key, source, names = _pool_names(group, platform, where)
        own.taken[own.prefix + key] = f"{source} of pool {', '.join(map(pool_name, names))}"
        for name in names:
            _refuse_second(pools, source, name, where)
            pools.append({"name": pool_name(name), source: name, "options": own.options})
    return pools


def _refuse_second(pools: Sequence[Obj], source: str, name: str, where: str) -> None:
    if any(pool.get(source) == name for pool in pools):
        raise InvalidInput(
            "the operator's custom resources cannot be taken over",
            where=where,
            why=f"another node group has pool {name[:60]} already",
            todo="let each pool be of one node group",
        )


def _read_group(found: MappedOptions, group: Any, where: str) -> MappedOptions:
    """What a node group sets."""
    if not isinstance(group, Mapping):
        raise _wrong(where, "it is no object")
    if not group.get("poolName") and not group.get("machineConfigPoolSelector"):
        raise _wrong(where, "it says neither poolName nor machineConfigPoolSelector")
    spec = spec_of({"spec": group})
    own = replace(found, prefix=f"{found.prefix}{where}.", options=dict(_GROUP_DEFAULTS), takers={})
    map_fields(spec, GROUP_FIELDS, into=own)
    for name, value in part(spec, "annotations").items():
        own.drop(f"annotations.{name}", _annotation_of_group(name), value)
    if spec.get("poolName") and spec.get("machineConfigPoolSelector"):
        own.ignore("machineConfigPoolSelector", "poolName says it")
    return own


def _annotation_of_group(name: str) -> UnmappedField:
    mapping = _ANNOTATIONS.get(name)
    return mapping if isinstance(mapping, UnmappedField) else _UNKNOWN


def _key_of(group: Mapping[str, Any]) -> str:
    """The field that says which pools of the platform a group is."""
    return "poolName" if group.get("poolName") else "machineConfigPoolSelector"


def _pool_names(
    group: Mapping[str, Any], platform: PlatformPools, where: str
) -> tuple[str, str, list[str]]:
    """The field that says which pools of the platform a group is, what they are, and their names."""
    key = _key_of(group)
    there = [pool["metadata"]["name"] for pool in platform.machine_config_pools]
    if key == "machineConfigPoolSelector":
        names = _selected(group.get(key), platform, where)
        return key, "machine_config_pool", names
    name = str(group[key])
    if there and name not in there:
        why = f"this cluster has no MachineConfigPool {name[:60]}, but {', '.join(sorted(there))}"
        raise _no_pool(where, why, pool_name(name))
    if not there and not platform.is_hosted:
        raise _no_pool(where, _PLAIN, pool_name(name))
    return key, "machine_config_pool" if there else "node_pool", [name]


def _selected(selector: Any, platform: PlatformPools, where: str) -> list[str]:
    try:
        term = parse_selector(selector or {})
    except ValueError as error:
        raise _wrong(where, str(error)) from None
    if not platform.machine_config_pools:
        raise _no_pool(where, _HOSTED if platform.is_hosted else _PLAIN)
    names = [
        pool["metadata"]["name"]
        for pool in platform.machine_config_pools
        if selector and any_holds((term,), part(pool["metadata"], "labels"))
    ]
    if not names:
        there = sorted(pool["metadata"]["name"] for pool in platform.machine_config_pools)
        raise _no_pool(
            where, f"it selects no MachineConfigPool of this cluster, which has {', '.join(there)}"
        )
    return names


def _no_pool(where: str, why: str, name: str = "numa") -> InvalidInput:
    return InvalidInput(
        "which nodes a node group of the operator has is not known",
        where=where,
        why=why,
        todo="say it by labels of nodes, in hardware_enablement_pools: "
        f"[{{name: {name}, selector: {{matchLabels: {{LABEL: VALUE}}}}}}]",
    )


def _wrong(where: str, why: str) -> InvalidInput:
    return InvalidInput(
        "the operator's custom resources cannot be taken over",
        where=where,
        why=why,
        todo="give what kubectl get numaresourcesoperators,numaresourcesschedulers -o yaml writes",
    )
