# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds on Kubernetes: one Job per image, several at a time, watched until the last one has ended.

A Job's name follows from its inputs: a run that was killed left nothing behind that the next one does not find again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders import job_objects
from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Built, Order
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import AlreadyExists, ApiError
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.watch import WatchHub
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.model import Outcome
from ansible_collections.hardware.enablement.plugins.module_utils.states.validation.pods import condition, judge

Obj = dict[str, Any]

LOG_LINES = 20
TICK_S = 1.0
SAY_EVERY_S = 15.0
_JOB_NAME = "batch.kubernetes.io/job-name"


@dataclass
class _Running:
    """An order whose Job is there. trouble_since: since when its pod cannot start, in seconds since the epoch."""

    order: Order
    began: float
    trouble_since: float | None = None


@dataclass
class _Seen:
    """What the watches say: Jobs by name, pods by the name of their Job."""

    jobs: dict[str, Obj] = field(default_factory=dict)
    pods: dict[str, dict[str, Obj]] = field(default_factory=dict)

    def take(self, kind: str, obj: Obj, gone: bool) -> None:
        name = obj["metadata"]["name"]
        if kind == "Job":
            self.jobs.pop(name, None) if gone else self.jobs.__setitem__(name, obj)
            return
        job = (obj["metadata"].get("labels") or {}).get(_JOB_NAME, "")
        pods = self.pods.setdefault(job, {})
        pods.pop(name, None) if gone else pods.__setitem__(name, obj)

    def pod(self, job: str) -> Obj | None:
        """The newest pod of a Job."""
        return max(
            self.pods.get(job, {}).values(), key=lambda pod: pod["metadata"].get("creationTimestamp", ""), default=None
        )


class JobBuilder:
    """Builds with buildah in Jobs. guard: called before each write and while waiting; keeps the run's lock."""

    name = "kubernetes"

    def __init__(
        self, client: Client, settings: BuildSettings, guard: Callable[[], None], clock: Callable[[], float]
    ) -> None:
        self._client = client
        self._settings = settings
        self._guard = guard
        self._clock = clock
        self._jobs = client.kind("batch/v1", "Job")
        self._pods = client.kind("v1", "Pod")
        self._maps = client.kind("v1", "ConfigMap")

    def build(self, orders: Sequence[Order], say: Callable[[str], None]) -> list[Built]:
        """Build all orders; what failed says why, with the last lines of its log."""
        contexts = [job_objects.context_object(order, self._settings) for order in orders]
        self._guard()
        if self._settings.ca:
            self._client.apply(job_objects.ca_object(self._settings))
        left = dict(zip([order.name for order in orders], zip(orders, contexts, strict=True), strict=True))
        running: dict[str, _Running] = {}
        done: dict[str, Built] = {}
        seen = _Seen()
        hub = WatchHub(self._client)
        try:
            labels = ",".join(f"{key}={value}" for key, value in sorted(self._settings.labels.items()))
            for kind in (self._jobs, self._pods):
                hub.subscribe(kind, namespace=self._settings.namespace, labels=labels)
            while not hub.synced:
                self._take(hub, seen, TICK_S)
            said = self._clock()
            while left or running:
                for name in list(left)[: max(0, self._settings.parallel - len(running))]:
                    order, context = left[name]
                    if self._start(order, context, seen, say):
                        del left[name]
                        running[name] = _Running(order, self._clock())
                self._take(hub, seen, TICK_S)
                self._guard()
                for name, entry in list(running.items()):
                    built = self._look(entry, seen)
                    if built is not None:
                        del running[name]
                        done[name] = built
                        say(f"{entry.order.title}: {built.problem or 'built'} ({self._age(entry)})")
                if running and self._clock() - said >= SAY_EVERY_S:
                    said = self._clock()
                    for entry in running.values():
                        say(f"{entry.order.title}: {self._doing(entry, seen)} ({self._age(entry)})")
        finally:
            hub.close()
        return [done[order.name] for order in orders]

    def remove_others(self, names: Sequence[str]) -> bool:
        """Remove Jobs and contexts that no order of this run is about, and finished ones; whether there were any."""
        labels = ",".join(f"{key}={value}" for key, value in sorted(self._settings.labels.items()))
        others = [
            (kind, item["metadata"]["name"])
            for kind in (self._jobs, self._maps)
            for item in self._client.list(kind, namespace=self._settings.namespace, labels=labels).items
            if item["metadata"]["name"] not in {*names, job_objects.ca_name(self._settings)}
        ]
        for kind, name in others:
            self._guard()
            self._client.delete(kind, name, self._settings.namespace)
        return bool(others)

    def _take(self, hub: WatchHub, seen: _Seen, timeout: float) -> None:
        for event in hub.next(timeout):
            seen.take(event.object.get("kind", ""), event.object, event.type == "DELETED")

    def _start(self, order: Order, context: Obj, seen: _Seen, say: Callable[[str], None]) -> bool:
        """Make sure that the order's Job is there; False while a failed one of before is still going away."""
        namespace = self._settings.namespace
        live = seen.jobs.get(order.name)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            return False
        if live is not None and condition(live, "Failed"):
            self._client.delete(self._jobs, order.name, namespace, uid=live["metadata"]["uid"])
            return False
        if live is not None:
            say(f"{order.title}: goes on with the build that an earlier run began")
            return True
        with suppress(AlreadyExists):  # it is immutable, and named after its content
            self._client.create(context)
        try:
            job = self._client.create(job_objects.job_object(order, self._settings))
        except AlreadyExists:
            return False  # the watch will tell
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": order.name, "uid": job["metadata"]["uid"]}
        self._client.patch(self._maps, order.name, namespace, {"metadata": {"ownerReferences": [owner]}})
        say(f"{order.title}: building {order.target}")
        return True

    def _look(self, entry: _Running, seen: _Seen) -> Built | None:
        """How a build has ended, or None while it goes on."""
        order = entry.order
        job = seen.jobs.get(order.name)
        if job is None:
            # Its event has not come yet, or somebody took it away.
            if self._clock() - entry.began < self._settings.grace:
                return None
            return Built(order, f"its Job {self._settings.namespace}/{order.name} was removed by somebody else")
        if condition(job, "Complete"):
            self._client.delete(self._jobs, order.name, self._settings.namespace, uid=job["metadata"]["uid"])
            return Built(order)
        failed = condition(job, "Failed")
        if failed:
            return self._failed(order, failed, seen.pod(order.name))
        return self._stuck(entry, job, seen.pod(order.name))

    def _failed(self, order: Order, failed: Obj, pod: Obj | None) -> Built:
        log = self._log(pod)
        reason = failed.get("reason")
        if reason == "DeadlineExceeded":
            why = f"it took longer than {self._settings.timeout} s"
        else:
            why = log[-1] if log else str(failed.get("message") or reason)
        return Built(order, f"the build failed: {why}", log)

    def _stuck(self, entry: _Running, job: Obj, pod: Obj | None) -> Built | None:
        """A pod that cannot start for longer than the patience ends the build."""
        verdict = judge(pod) if pod is not None else None
        if verdict is None or verdict.outcome is not Outcome.TROUBLE or verdict.reason == "Failed":
            entry.trouble_since = None
            return None
        now = self._clock()
        entry.trouble_since = entry.trouble_since or now
        if now - entry.trouble_since < self._settings.grace:
            return None
        self._client.delete(self._jobs, entry.order.name, self._settings.namespace, uid=job["metadata"]["uid"])
        return Built(entry.order, f"the build cannot start: {verdict.message}")

    def _doing(self, entry: _Running, seen: _Seen) -> str:
        """What the build is at: its last line, else what its pod waits for."""
        pod = seen.pod(entry.order.name)
        if pod is None:
            return "its pod is not there yet"
        if (pod.get("status") or {}).get("phase") == "Running":
            log = self._log(pod, 1)
            if log:
                return log[-1]
        return judge(pod).message

    def _log(self, pod: Obj | None, lines: int = LOG_LINES) -> list[str]:
        if pod is None:
            return []
        try:
            text = self._client.logs(
                self._settings.namespace, pod["metadata"]["name"], container=job_objects.CONTAINER, tail=lines
            )
        except ApiError:
            text = _last_words(pod)
        return [line for line in (line.strip() for line in text.splitlines()) if line][-lines:]

    def _age(self, entry: _Running) -> str:
        return f"{self._clock() - entry.began:.0f} s"


def _last_words(pod: Obj) -> str:
    """What the kubelet kept of the container's log."""
    for status in (pod.get("status") or {}).get("containerStatuses") or []:
        ended = (status.get("state") or {}).get("terminated") or {}
        if ended.get("message"):
            return str(ended["message"])
    return ""
