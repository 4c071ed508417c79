# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DaemonSets and Deployments of NUMA are made of: exporters, schedulers, and what their
ConfigMaps tell them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import zip_longest
from typing import Any

from .._errors import InvalidInput
from .._json import Obj, elements, part
from .._recipes.templates.documents import parse_one
from .fingerprints import PodExclude
from .kubelet_settings import duration_s
from .pods_on_nodes import NumaPod

PLUGIN = "NodeResourceTopologyMatch"
DUMPS_CONTAINER = "cache-dumps"
RTE, NFD = "resource-topology-exporter", "nfd-topology-updater"
# What resource-topology-exporter v0.24 says of itself (pkg/podreadiness/condition.go).
READINESS_GATES = ("PodresourcesFetched", "NodeTopologyUpdated")
# Of both, where no flag says otherwise.
_REFRESH_S = 60.0
_REFRESH_FLAG = "sleep-interval"
_RESERVE = "reserve"
_POINTS = ("filter", "score", _RESERVE)
# Arguments of the plugin and words that are known, of scheduler-plugins (apis/config/v1/types.go); it
# decodes strictly, so that it does not start with others. None: any value.
_ARGS: Mapping[str, tuple[str, ...] | None] = {
    "apiVersion": None,
    "kind": None,
    "scoringStrategy.type": (
        "MostAllocated",
        "BalancedAllocation",
        "LeastAllocated",
        "LeastNUMANodes",
    ),
    "scoringStrategy.resources": None,
    "cacheResyncPeriodSeconds": None,
    "discardReservedNodes": None,
    "cache.foreignPodsDetect": ("None", "All", "OnlyExclusiveResources"),
    "cache.resyncMethod": ("Autodetect", "All", "OnlyExclusiveResources"),
    "cache.informerMode": ("Shared", "Dedicated"),
    "cache.resyncScope": ("All", "OnlyResources"),
    "preemptionMode": ("Disabled", "Enabled"),
}
_NESTED = frozenset(path.partition(".")[0] for path in _ARGS if "." in path)
_SCHEDULER_CONFIG = "KubeSchedulerConfiguration"
# NFD's topology-updater takes a whole one, others a key of their own.
_KUBELET_CONFIG = "KubeletConfiguration"


@dataclass(frozen=True)
class WorkloadStatus:
    """How far a DaemonSet or Deployment is. title: kind and name, for messages. available: pods of
    the newest template that serve; for a DaemonSet those that are ready."""

    title: str
    generation: int
    observed: int
    wanted: int
    updated: int
    available: int

    def __str__(self) -> str:
        return self.title

    @classmethod
    def from_object(cls, workload: Obj) -> WorkloadStatus:
        """Of a DaemonSet, or of a Deployment."""
        metadata, status = workload["metadata"], part(workload, "status")
        daemon = workload["kind"] == "DaemonSet"
        names = (
            ("desiredNumberScheduled", "updatedNumberScheduled", "numberReady")
            if daemon
            else ("replicas", "updatedReplicas", "availableReplicas")
        )
        wanted, updated, available = (int(status.get(name) or 0) for name in names)
        return cls(
            title=f"{workload['kind']} {metadata['namespace']}/{metadata['name']}",
            generation=int(metadata.get("generation") or 0),
            observed=int(status.get("observedGeneration") or 0),
            wanted=wanted if daemon else int(workload["spec"].get("replicas", 1)),
            updated=updated,
            available=available,
        )


@dataclass(frozen=True)
class ExporterConfig:
    """What a ConfigMap tells an exporter. problem: why it is not understood, "" where it is."""

    policy: str = ""
    scope: str = ""
    excludes: tuple[PodExclude, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Exporter:
    """A DaemonSet of exporters. program: RTE, NFD or ""; refresh_s: how often it writes."""

    status: WorkloadStatus
    program: str
    refresh_s: float
    readiness_gates: tuple[str, ...]
    config: ExporterConfig
    pods: tuple[NumaPod, ...]

    @cached_property
    def nodes(self) -> frozenset[str]:
        """Where its pods are, or are meant to be."""
        return frozenset(pod.node for pod in self.pods if pod.node)

    def on(self, node: str) -> bool:
        """Whether one of its pods is on a node, or meant for it."""
        return node in self.nodes


@dataclass(frozen=True)
class Profile:
    """A profile of a scheduler. missing: where the plugin is needed and not enabled; empty where it
    is at work. is_without: whether it is enabled nowhere. args: of the plugin."""

    name: str
    missing: tuple[str, ...]
    args: Mapping[str, Any] = field(default_factory=dict)
    is_without: bool = False

    @property
    def caches(self) -> bool:
        """Whether it keeps an account of its own, which fingerprints confirm."""
        return bool(self.args.get("cacheResyncPeriodSeconds")) and not self.args.get(
            "discardReservedNodes"
        )

    @property
    def counts_ended_pods(self) -> bool:
        """Whether pods that have ended are in the fingerprints that it compares (scheduler-plugins,
        pkg/noderesourcetopology/podprovider)."""
        return bool(part(self.args, "cache").get("informerMode", "Dedicated") == "Dedicated")

    @property
    def resync_method(self) -> str:
        """Which pods it takes for a fingerprint: Autodetect, All, OnlyExclusiveResources."""
        return str(part(self.args, "cache").get("resyncMethod") or "Autodetect")

    @property
    def unknown_args(self) -> tuple[str, ...]:
        """The arguments that the plugin does not know, and those of known ones whose value it does
        not."""
        return tuple(_unknown_args(self.args))


@dataclass(frozen=True)
class SchedulerConfig:
    """What a ConfigMap tells a scheduler. lease: (namespace, name), None where it elects nobody."""

    profiles: tuple[Profile, ...] = ()
    lease: tuple[str, str] | None = None
    problem: str = ""


@dataclass(frozen=True)
class LeaseFacts:
    """Who holds a lease; until: seconds since the epoch."""

    holder: str
    until: float


@dataclass(frozen=True)
class Scheduler:
    """A Deployment of the scheduler. dumps: whether it prints what is in its cache."""

    status: WorkloadStatus
    image: str
    config: SchedulerConfig
    pods: tuple[NumaPod, ...]
    lease: LeaseFacts | None = None
    dumps: bool = False

    @property
    def caches(self) -> bool:
        """Whether any of its profiles keeps an account of its own."""
        return any(profile.caches for profile in self.config.profiles)


def template_spec(workload: Obj) -> Obj:
    """The spec of a workload's pods."""
    found: Obj = workload["spec"]["template"]["spec"]
    return found


def config_maps_of(workload: Obj) -> list[str]:
    """Names of the ConfigMaps that a workload's pods mount."""
    volumes = elements(template_spec(workload), "volumes")
    return [volume["configMap"]["name"] for volume in volumes if volume.get("configMap")]


def words_of(container: Mapping[str, Any]) -> list[str]:
    """Command and arguments of a container."""
    return [*elements(container, "command"), *elements(container, "args")]


def program_of(workload: Obj) -> str:
    """Which exporter a workload's pods run, "" for one that is not known."""
    for container in elements(template_spec(workload), "containers"):
        words = words_of(container) or [container.get("image", "").partition(":")[0]]
        for program in (RTE, NFD):
            if any(word.rpartition("/")[2] == program for word in words):
                return program
    return ""


def refresh_s(workload: Obj) -> float:
    """How often an exporter writes, in seconds, by its flags."""
    containers = elements(template_spec(workload), "containers")
    return _refresh_s([word for container in containers for word in words_of(container)])


def _refresh_s(words: Sequence[str]) -> float:
    """Of flags as Go reads them: -f V, -f=V, --f V, --f=V."""
    given = _REFRESH_S
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        name, equals, value = word.lstrip("-").partition("=")
        if name == _REFRESH_FLAG and word.startswith("-"):
            try:
                given = duration_s(value if equals else following)
            except ValueError:
                continue
    return given


def read_exporter_config(texts: Iterable[str]) -> ExporterConfig:
    """Of the contents of the ConfigMaps that an exporter mounts."""
    for text in texts:
        try:
            found = parse_one(text, "its configuration")
        except InvalidInput:
            return ExporterConfig(problem="it is no YAML")
        if not isinstance(found, Mapping):
            continue
        if found.get("kind") == _KUBELET_CONFIG:
            return _exporter_config(found, [])
        if "kubelet" in found or "podExclude" in found:
            return _exporter_config(part(found, "kubelet"), elements(found, "podExclude"))
    return ExporterConfig()


def _exporter_config(kubelet: Any, excludes: Any) -> ExporterConfig:
    if not isinstance(kubelet, Mapping) or not isinstance(excludes, list):
        return ExporterConfig(problem="kubelet is no mapping, or podExclude no list")
    if not all(isinstance(exclude, Mapping) for exclude in excludes):
        return ExporterConfig(problem="an entry of podExclude is no mapping")
    return ExporterConfig(
        str(kubelet.get("topologyManagerPolicy") or ""),
        str(kubelet.get("topologyManagerScope") or ""),
        tuple(
            PodExclude(
                str(exclude.get("namespacePattern", "")), str(exclude.get("namePattern", ""))
            )
            for exclude in excludes
        ),
    )


def read_scheduler_config(texts: Iterable[str]) -> SchedulerConfig:
    """Of the contents of the ConfigMaps that a scheduler mounts."""
    for text in texts:
        try:
            found = parse_one(text, "its configuration")
        except InvalidInput:
            return SchedulerConfig(problem="it is no YAML")
        if isinstance(found, Mapping) and found.get("kind") == _SCHEDULER_CONFIG:
            try:
                return _scheduler_config(found)
            except (AttributeError, KeyError, TypeError):
                return SchedulerConfig(problem=f"it is no {_SCHEDULER_CONFIG}")
    return SchedulerConfig(problem=f"no ConfigMap of its pods has a {_SCHEDULER_CONFIG}")


def _scheduler_config(found: Mapping[str, Any]) -> SchedulerConfig:
    election = part(found, "leaderElection")
    # Unset, the scheduler elects (k8s.io/component-base/config/v1alpha1, defaults).
    lease = (
        str(election.get("resourceNamespace") or "kube-system"),
        str(election.get("resourceName") or "kube-scheduler"),
    )
    return SchedulerConfig(
        tuple(_profile(profile) for profile in elements(found, "profiles")),
        lease if election.get("leaderElect", True) else None,
    )


def _profile(profile: Mapping[str, Any]) -> Profile:
    plugins = part(profile, "plugins")
    args = _plugin_args(elements(profile, "pluginConfig"))
    on = {point for point in _POINTS if _is_at(point, plugins)}
    # With neither there is nothing to reserve.
    reserves = args.get("cacheResyncPeriodSeconds") or args.get("discardReservedNodes")
    needed = _POINTS if reserves else [point for point in _POINTS if point != _RESERVE]
    return Profile(
        str(profile.get("schedulerName") or "default-scheduler"),
        tuple(point for point in needed if point not in on),
        args,
        not on,
    )


def _is_at(point: str, plugins: Mapping[str, Any]) -> bool:
    """Whether the plugin is at work at an extension point, as the scheduler merges both lists: what a
    point enables counts before what it disables, and what it disables multiPoint does not bring back
    (k8s.io/kubernetes, pkg/scheduler/framework/runtime, expandMultiPointPlugins)."""
    if _names(plugins, point, "enabled") & {PLUGIN}:
        return True
    disabled = _names(plugins, point, "disabled") & {PLUGIN, "*"}
    return not disabled and PLUGIN in _names(plugins, "multiPoint", "enabled")


def _names(plugins: Mapping[str, Any], point: str, which: str) -> set[str]:
    return {entry["name"] for entry in part(plugins, point).get(which) or ()}


def _unknown_args(args: Mapping[str, Any]) -> Iterator[str]:
    for name, value in args.items():
        if name in _NESTED and isinstance(value, Mapping):
            for inner, each in value.items():
                yield from _unknown_arg(f"{name}.{inner}", each)
        elif name not in _NESTED or value is not None:
            yield from _unknown_arg(name, value)


def _unknown_arg(path: str, value: Any) -> Iterator[str]:
    words = _ARGS.get(path)
    if path not in _ARGS:
        yield path
    elif words and value is not None and value not in words:
        yield f"{path}: {str(value)[:40]}"


def _plugin_args(configs: Iterable[Mapping[str, Any]]) -> Mapping[str, Any]:
    """What a profile tells the plugin."""
    for entry in configs:
        if entry["name"] == PLUGIN:
            return part(entry, "args")
    return {}
