# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of the scheduler: its Deployment, configuration, lease, and what it has in its cache. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from .exporter_checks import ready, rolled_out
from .numa_cluster import (
    CONFIG_MAPS,
    DUMPS,
    ERROR,
    INFO,
    LEASES,
    TOPOLOGIES,
    WARNING,
    CheckText,
    Mismatch,
    NumaCheck,
    NumaCluster,
)
from .numa_workloads import PLUGIN

# The cluster's own (k8s.io/api/core/v1, DefaultSchedulerName).
DEFAULT_SCHEDULER = "default-scheduler"
_MINOR = re.compile(r":v?\d+\.(\d+)\.\d+", re.ASCII)
_NAMED = 3


def _there(cluster: NumaCluster) -> Iterator[Mismatch]:
    if not cluster.workloads.schedulers:
        yield Mismatch("none", "a Deployment", object="the scheduler's namespace")


def _rollout(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        status = scheduler.status
        yield from rolled_out(status)
        if not status.wanted or status.available < status.wanted:
            yield Mismatch(
                f"{status.available} pods available", str(status.wanted or 1), object=str(status)
            )


def _pods(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        for pod in scheduler.pods:
            yield from ready(pod)


def _config(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        if scheduler.config.problem:
            yield Mismatch(scheduler.config.problem, "one", object=str(scheduler.status))


def _plugin(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler, profile in cluster.workloads.profiles:
        # One beside a profile with the plugin is for pods that want no zones.
        none_has_it = all(each.is_without for each in scheduler.config.profiles)
        if profile.missing and (none_has_it or not profile.is_without):
            yield Mismatch(
                f"not at {', '.join(profile.missing)} of profile {profile.name}",
                f"{PLUGIN} at filter and score, and at reserve with a cache",
                object=str(scheduler.status),
            )


def _args(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler, profile in cluster.workloads.profiles:
        for unknown in profile.unknown_args:
            yield Mismatch(
                f"{unknown} of profile {profile.name}",
                f"what {PLUGIN} knows",
                object=str(scheduler.status),
            )


def _counts_alike(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler, profile in cluster.workloads.profiles:
        if cluster.version >= _ACTIVE_ONLY and profile.caches and profile.counts_ended_pods:
            yield Mismatch(
                f"informerMode Dedicated in profile {profile.name}",
                "Shared",
                object=str(scheduler.status),
            )


def _unique(cluster: NumaCluster) -> Iterator[Mismatch]:
    counts = Counter(profile.name for _scheduler, profile in cluster.workloads.profiles)
    for scheduler, profile in cluster.workloads.profiles:
        if profile.name == DEFAULT_SCHEDULER:
            yield Mismatch(
                f"{profile.name}, the cluster's own", "another", object=str(scheduler.status)
            )
        elif counts[profile.name] > 1:
            yield Mismatch(
                f"{profile.name}, {counts[profile.name]} times",
                "once",
                object=str(scheduler.status),
            )


def _used(cluster: NumaCluster) -> Iterator[Mismatch]:
    named = {pod.placement.scheduler for pod in cluster.workloads.pods}
    for scheduler, profile in cluster.workloads.profiles:
        if profile.name not in named and not profile.is_without:
            yield Mismatch(f"no pod names {profile.name}", "some pod", object=str(scheduler.status))


def _elects(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        config = scheduler.config
        if not config.problem and config.lease is None and scheduler.status.wanted > 1:
            yield Mismatch(
                f"{scheduler.status.wanted} replicas without", "it", object=str(scheduler.status)
            )


def _lease(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        if scheduler.config.problem or scheduler.config.lease is None:
            continue
        name = "/".join(scheduler.config.lease)
        if scheduler.lease is None or not scheduler.lease.holder:
            yield Mismatch("held by nobody", "held", object=f"Lease {name}")
        elif scheduler.lease.until < cluster.now:
            age = cluster.now - scheduler.lease.until
            yield Mismatch(
                f"expired {age:.0f} s ago, {scheduler.lease.holder} had it",
                "held",
                object=f"Lease {name}",
            )


def _minor(cluster: NumaCluster) -> Iterator[Mismatch]:
    _major, wanted = cluster.version
    for scheduler in cluster.workloads.schedulers:
        found = _MINOR.search(scheduler.image)
        if found and int(found[1]) != wanted:
            yield Mismatch(
                scheduler.image, f"minor {wanted}, the cluster's", object=str(scheduler.status)
            )


def _version_unknown(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers:
        if not _MINOR.search(scheduler.image):
            yield Mismatch(scheduler.image, "a version as tag", object=str(scheduler.status))


def _knows_all(cluster: NumaCluster) -> Iterator[Mismatch]:
    for scheduler in cluster.workloads.schedulers if cluster.workloads.caches else ():
        started = [
            pod.status.started
            for pod in scheduler.pods
            if pod.status.started and pod.status.is_ready
        ]
        for topology in cluster.looked_at if started else ():
            if topology.times.created and topology.times.created > min(started):
                yield Mismatch(
                    f"the object came after {scheduler.status} started",
                    "before",
                    node=topology.node,
                )


def _dumps_on(cluster: NumaCluster) -> Iterator[Mismatch]:
    if DUMPS in cluster.reading.left_out:
        yield Mismatch(cluster.reading.left_out[DUMPS], "a container that prints it")


def _synced(cluster: NumaCluster) -> Iterator[Mismatch]:
    for topology in cluster.looked_at:
        dump = cluster.workloads.dumps.get(topology.node)
        # Of an older fingerprint: the scheduler has not come to this one, or needed no look at it.
        if dump and dump.expected == topology.fingerprint and dump.computed != dump.expected:
            yield Mismatch(
                f"{dump.computed} of {len(dump.pods)} pods{_seen_by_one(cluster, topology.node)}",
                f"{dump.expected}, as published",
                node=topology.node,
            )


def _seen_by_one(cluster: NumaCluster, node: str) -> str:
    """Which pods the scheduler counts that are not on the node."""
    here = {
        (pod.namespace, pod.name)
        for pod in cluster.workloads.pods
        if pod.node == node and pod.placement.is_bound
    }
    gone = sorted("/".join(pod) for pod in cluster.workloads.dumps[node].pods - here)
    more = f" and {len(gone) - _NAMED} more" if len(gone) > _NAMED else ""
    return f", not there: {', '.join(gone[:_NAMED])}{more}" if gone else ""


_SCHEDULER = "scheduler"
# From this version on kubelets' KubeletPodResourcesListUseActivePods is on.
_ACTIVE_ONLY = (1, 34)
_NEEDS = frozenset({CONFIG_MAPS})

CHECKS = (
    NumaCheck(
        "scheduler-missing",
        ERROR,
        CheckText(
            _SCHEDULER,
            "Deployment",
            "the cluster's own scheduler does not look at zones",
            "run the playbook numa; for one of another origin, give scheduler_namespace and scheduler_labels",
        ),
        _there,
    ),
    NumaCheck(
        "scheduler-rollout",
        ERROR,
        CheckText(
            _SCHEDULER,
            "rollout",
            "pods that name it stay Pending, or are placed by an older configuration",
            "see why its pods are not available",
        ),
        _rollout,
        settles=True,
    ),
    NumaCheck(
        "scheduler-not-ready",
        ERROR,
        CheckText(
            _SCHEDULER,
            "pod",
            "a scheduler that is not ready places nothing",
            "read the log of the pod",
        ),
        _pods,
        settles=True,
    ),
    NumaCheck(
        "scheduler-config-unreadable",
        ERROR,
        CheckText(
            _SCHEDULER,
            "configuration",
            "without it, it is an ordinary scheduler or does not start",
            "run the playbook numa again",
        ),
        _config,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-plugin",
        ERROR,
        CheckText(
            _SCHEDULER,
            "plugin",
            "a profile without it places pods without a look at zones",
            f"enable {PLUGIN} under multiPoint, and disable it at none of these points",
        ),
        _plugin,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-plugin-args",
        ERROR,
        CheckText(
            _SCHEDULER,
            "arguments of the plugin",
            "a scheduler does not start with an argument or a strategy that it does not know, and takes an unknown "
            "word about its cache for another one",
            f"correct the args of {PLUGIN} in pluginConfig",
        ),
        _args,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-counts-ended-pods",
        WARNING,
        CheckText(
            _SCHEDULER,
            "informer",
            "kubelets of 1.34 and later tell exporters nothing of pods that have ended; a scheduler that counts them "
            "places nothing on their nodes until they are deleted",
            "set cache.informerMode to Shared (scheduler_informer), unless all kubelets are older than the cluster",
        ),
        _counts_alike,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-profile-not-unique",
        ERROR,
        CheckText(
            _SCHEDULER,
            "profile name",
            "two schedulers of one name place the same pods",
            "give the profile a name of its own",
        ),
        _unique,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-profile-unused",
        INFO,
        CheckText(
            _SCHEDULER,
            "profile name",
            "only pods that name it are placed by zones",
            "set schedulerName in the pods that want CPUs of one NUMA node",
        ),
        _used,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-no-election",
        ERROR,
        CheckText(
            _SCHEDULER,
            "leader election",
            "several that all place pods give away the same zones",
            "set leaderElection.leaderElect, or one replica",
        ),
        _elects,
        _NEEDS,
    ),
    NumaCheck(
        "scheduler-lease",
        ERROR,
        CheckText(
            _SCHEDULER,
            "lease",
            "where nobody leads, nobody places",
            "read the log of the scheduler's pods",
        ),
        _lease,
        frozenset({CONFIG_MAPS, LEASES}),
        settles=True,
    ),
    NumaCheck(
        "scheduler-image-minor",
        WARNING,
        CheckText(
            _SCHEDULER,
            "image",
            "a scheduler of another minor version may not know what the API server has, or watch what is gone",
            "take the image whose minor version is the cluster's",
        ),
        _minor,
    ),
    NumaCheck(
        "scheduler-image-version-unknown",
        INFO,
        CheckText(
            _SCHEDULER,
            "image",
            "an image without a version as tag does not say for which clusters it is",
            "see of which version the image is, or take one with a version as tag",
        ),
        _version_unknown,
    ),
    NumaCheck(
        "scheduler-older-than-topology",
        WARNING,
        CheckText(
            _SCHEDULER,
            "objects at its start",
            "released versions with a cache never learn of objects that came after they started, and place pods on "
            "those nodes without a look at zones (kubernetes-sigs/scheduler-plugins#967)",
            "restart the scheduler's pods, or run the playbook numa",
        ),
        _knows_all,
        frozenset({CONFIG_MAPS, TOPOLOGIES}),
    ),
    NumaCheck(
        "scheduler-dumps-off",
        INFO,
        CheckText(
            _SCHEDULER,
            "cache",
            "what is in its cache is not known",
            "set cache_resync_debug in the recipe's options, where pods stay Pending for no visible reason",
        ),
        _dumps_on,
    ),
    NumaCheck(
        "scheduler-cache-differs",
        ERROR,
        CheckText(
            _SCHEDULER,
            "cache",
            "the scheduler counts other pods than the exporter, and places none on the node until they agree",
            "delete pods that have ended; see whether exporter and scheduler take the same pods (method, podExclude)",
        ),
        _synced,
        frozenset({DUMPS, TOPOLOGIES}),
        settles=True,
    ),
)
