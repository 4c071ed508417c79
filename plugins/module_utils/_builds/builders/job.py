# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds on Kubernetes: one Job per image, which runs buildah."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ..._cluster.api_client.api_errors import AlreadyExists, ApiError
from ..._cluster.api_client.rights import Right
from ..._cluster.api_objects.kinds import Kind
from ..._errors import InvalidInput
from ..._json import Obj, part
from ..._verdicts.conditions import condition
from ..._verdicts.pod_status import (
    IMAGE_REASONS,
    crashed_container,
    judge,
    newest,
    statuses,
)
from ..._verdicts.verdict import Outcome
from ..failures import INTERRUPTED, TIMED_OUT, BuildPhase, classify, failure, reason_of
from ..orders import BuildOrder, Built
from . import buildah_objects
from .cluster import LOG_LINES, REFUSED, ClusterBuilder, RunningBuild, last_lines
from .job_objects import CONTAINER, PHASES
from .means import Means
from .registration import Registration

_JOB_NAME = "batch.kubernetes.io/job-name"


# The Secret with a build's credentials, which goes with its Job.
RIGHTS = (Right("", ("secrets",), ("create", "patch")),)


class JobBuilder(ClusterBuilder):
    """Builds with buildah in Jobs."""

    def __init__(self, means: Means) -> None:
        super().__init__(means)
        self._policy = means.policy
        self._job = self.client.kind("batch/v1", "Job")
        self._pod = self.client.kind("v1", "Pod")
        self._map = self.client.kind("v1", "ConfigMap")
        self._contexts: dict[str, Obj] = {}
        self._secrets: dict[str, Obj | None] = {}
        self._jobs: dict[str, Obj] = {}
        self._pods: dict[str, Obj] = {}

    def owned(self) -> Sequence[Kind]:
        """Jobs, and contexts whose Job was never made."""
        return (self._job, self._map)

    def own_secrets(self) -> Sequence[str]:
        """None: what its pod knows of registries is made with it."""
        return []

    def watched(self) -> Sequence[Kind]:
        """Jobs and their pods."""
        return (self._job, self._pod)

    def prepare(self, orders: Sequence[BuildOrder]) -> None:
        """Refuse what cannot be built here, before anything is written."""
        if not self.settings.buildah.image:
            raise InvalidInput(
                "nothing can be built",
                why="no image with buildah is named",
                todo="set builder_image to one that the nodes can pull",
            )
        for order in orders:
            self._contexts[order.name] = buildah_objects.context_object(
                order, self.settings, self._policy()
            )
            self._secrets[order.name] = buildah_objects.secret_object(
                order, self.settings, self._policy()
            )

    def pod_maker(self, order: BuildOrder) -> Obj | None:
        """The Job."""
        return self._job_object(order)

    def _job_object(self, order: BuildOrder) -> Obj:
        minor = int("".join(filter(str.isdigit, str(self.client.version()["minor"]))))
        has_field = minor >= buildah_objects.APPARMOR_FIELD_SINCE
        return buildah_objects.job_object(
            order, self.settings, self._policy(), apparmor_field=has_field
        )

    def take(self, obj: Obj, *, gone: bool) -> None:
        """Keep Jobs and pods by name."""
        known = self._jobs if obj.get("kind") == "Job" else self._pods
        if gone:
            known.pop(obj["metadata"]["name"], None)
        else:
            known[obj["metadata"]["name"]] = obj

    def start(self, order: BuildOrder, say: Callable[[str], None]) -> bool:
        """Make the context and the Job; one that runs already is of the same inputs, and is gone on
        with."""
        namespace, live = self.settings.scope.namespace, self._jobs.get(order.name)
        if live is not None and live["metadata"].get("deletionTimestamp"):
            return False
        if live is not None and condition(live, "Failed"):
            # Gone together with its context, which must not be taken from under the next one of the
            # same name.
            self.client.delete(
                self._job,
                order.name,
                namespace,
                uid=live["metadata"]["uid"],
                propagation="Foreground",
            )
            return False
        if live is not None:
            self._give(order, live)
            say(f"{order.title}: goes on with the build that an earlier run began")
            return True
        self.client.apply(self._contexts[order.name])
        try:
            job = self.client.create(self._job_object(order))
        except AlreadyExists:
            if self._is_foreign(order):
                raise
            return False  # the watch will tell
        self._give(order, job)
        say(f"{order.title}: building {order.target}")
        return True

    def _is_foreign(self, order: BuildOrder) -> bool:
        """Whether the Job of that name is none of this recipe's builds, so that no watch ever
        tells."""
        live = self.client.get(self._job, order.name, self.settings.scope.namespace) or {}
        labels = part(live, "metadata", "labels")
        return bool(live) and any(
            labels.get(name) != value for name, value in self.settings.scope.labels.items()
        )

    def remnant(self, order: BuildOrder) -> Obj | None:
        """The Job of that name that is being deleted."""
        live = self._jobs.get(order.name)
        return live if live and live["metadata"].get("deletionTimestamp") else None

    def poll(self, entry: RunningBuild) -> Built | None:
        """By the Job's conditions, and by what keeps its pod from starting."""
        order, job = entry.order, self._jobs.get(entry.order.name)
        if job is None:
            # Its event has not come yet, or somebody took it away.
            if self.clock() - entry.began < self.settings.pace.grace:
                return None
            why = (
                f"its Job {self.settings.scope.namespace}/{order.name} was removed by somebody else"
            )
            return Built(order, failure(BuildPhase.START, INTERRUPTED, why))
        if condition(job, "Complete"):
            self._remove(job)
            return Built(order)
        failed = condition(job, "Failed")
        return self._failed(order, failed) if failed else self._stuck(entry, job)

    def doing(self, entry: RunningBuild) -> str:
        """The last line of the build, else what its pod waits for."""
        pod = self._newest_pod(entry.order)
        if pod is None:
            return "its pod is not there yet"
        if _is_building(pod):
            log = self._log(pod, 1)
            return log[-1] if log else judge(pod).message
        warning = self.client.newest_warning(
            self.settings.scope.namespace, "Pod", pod["metadata"]["name"]
        )
        return warning or judge(pod).message

    def _give(self, order: BuildOrder, job: Obj) -> None:
        """Make the Job the context's owner, so that they go together. Its pod waits for the Secret."""
        owner = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "name": order.name,
            "uid": job["metadata"]["uid"],
            "blockOwnerDeletion": True,
        }
        for obj in filter(None, (self._contexts[order.name], self._secrets[order.name])):
            self.client.apply({**obj, "metadata": {**obj["metadata"], "ownerReferences": [owner]}})

    def _failed(self, order: BuildOrder, failed: Obj) -> Built:
        pod = self._newest_pod(order)
        log = self._log(pod, LOG_LINES)
        reason = failed.get("reason")
        if reason == "DeadlineExceeded":
            return Built(
                order,
                failure(
                    BuildPhase.COMPILE,
                    TIMED_OUT,
                    f"it took longer than {self.settings.pace.timeout} s",
                ),
                log,
            )
        if pod is None:
            why = f"its pod is gone ({failed.get('message') or reason})"
            return Built(order, failure(BuildPhase.START, INTERRUPTED, why))
        code, killed = _end(pod)
        if killed:
            return Built(
                order,
                failure(
                    BuildPhase.COMPILE, "OutOfMemory", "it was killed for the memory that it took"
                ),
                log,
            )
        step = PHASES.get(code, BuildPhase.COMPILE)
        return Built(order, classify(step, log, str(failed.get("message") or reason)), log)

    def _stuck(self, entry: RunningBuild, job: Obj) -> Built | None:
        """A pod that cannot start for longer than the patience, or that nobody may make, ends the
        build."""
        now, pod = self.clock(), self._newest_pod(entry.order)
        if pod is None:
            return (
                self._refused(entry, job) if now - entry.began >= self.settings.pace.grace else None
            )
        verdict = judge(pod)
        if verdict.outcome is not Outcome.TROUBLE or verdict.reason == "Failed":
            entry.trouble_since = None
            return None
        entry.trouble_since = entry.trouble_since or now
        if now - entry.trouble_since < self.settings.pace.grace:
            return None
        self._remove(job)
        if verdict.reason in IMAGE_REASONS:
            return Built(
                entry.order, failure(BuildPhase.START, reason_of(verdict.message), verdict.message)
            )
        return Built(entry.order, failure(BuildPhase.START, verdict.reason, verdict.message))

    def _refused(self, entry: RunningBuild, job: Obj) -> Built | None:
        """Admission and quotas refuse pods, not Jobs, and the Job's controller tries again and
        again."""
        why = self.client.newest_warning(self.settings.scope.namespace, "Job", entry.order.name)
        if not why:
            return None
        self._remove(job)
        return Built(entry.order, failure(BuildPhase.START, REFUSED, why))

    def _remove(self, job: Obj) -> None:
        """The Job, and with it its pods and its context."""
        metadata = job["metadata"]
        self.client.delete(
            self._job, metadata["name"], self.settings.scope.namespace, uid=metadata["uid"]
        )

    def _newest_pod(self, order: BuildOrder) -> Obj | None:
        """The last pod that the order's Job has made; None while there is none."""
        return newest(
            pod
            for pod in self._pods.values()
            if part(pod["metadata"], "labels").get(_JOB_NAME) == order.name
        )

    def _log(self, pod: Obj | None, lines: int) -> list[str]:
        if pod is None:
            return []
        name, crashed = pod["metadata"]["name"], crashed_container(pod)
        container = crashed["name"] if crashed else CONTAINER
        try:
            text = self.client.logs(
                self.settings.scope.namespace, name, container=container, tail=lines
            )
        except ApiError:
            text = ""
        return last_lines(text, kept_log(pod), lines)


def _is_building(pod: Obj) -> bool:
    """Whether the container that builds runs."""
    states = (part(status, "state") for status in statuses(pod) if status.get("name") == CONTAINER)
    return any("running" in state for state in states)


def _end(pod: Obj) -> tuple[int, bool]:
    """What the container that failed has ended with, 0 where none did; whether its node killed it
    for its memory."""
    state = next((state for state in _ends(pod) if state.get("exitCode")), {})
    return int(state.get("exitCode", 0)), state.get("reason") == "OOMKilled"


def kept_log(pod: Obj) -> str:
    """What the kubelet kept of the log of a container that ended."""
    return next((str(state["message"]) for state in _ends(pod) if state.get("message")), "")


def _ends(pod: Obj) -> Iterator[Obj]:
    """How its containers ended; {} for one that has not."""
    for status in statuses(pod):
        yield part(status, "state", "terminated")


BUILDER = Registration(
    name="kubernetes",
    how="a Job per kernel with buildah (chroot isolation; images lie on an emptyDir, as overlays where the node allows "
    "them), context in a ConfigMap or from git",
    needs="`hardware_enablement_builder_image`, `hardware_enablement_push_secret`",
    make=JobBuilder,
    fits=lambda _client: True,
)
