# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Leads builds through their phases: New, Pending, Running and one of the ends.

Facts: openshift-controller-manager, pkg/build/controller/build/build_controller.go.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tests.cluster.builds_api import images, policy
from tests.cluster.builds_api.building import Building, config_of
from tests.cluster.builds_api.clock import NANOSECONDS, seconds, stamp
from tests.cluster.builds_api.executor import Executor, Outcome, Run, StoppedError
from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, IMAGE_STREAMS, Obj
from tests.cluster.builds_api.logs import Logs
from tests.cluster.builds_api.objects import Objects, Place, Writer
from tests.cluster.builds_api.plays import PREFIX
from tests.cluster.builds_api.refusals import RefusalError
from tests.cluster.builds_api.strategies import TERMINAL
from tests.cluster.errors import ClusterError

LOG = logging.getLogger(__name__)
# As managedFields name OpenShift's controllers.
_WRITER = Writer("openshift-controller-manager")
_AGAIN_S = 1.0
_CANCELLED = Outcome("Cancelled", "CancelledBuild", "The build was cancelled by the user.")
_NO_OUTPUT = ("InvalidOutputReference", "Output image could not be resolved.")


class Controller:
    """One thread that looks at all builds whenever something changes, and one for each build that
    runs.

    annotations: those of a namespace, for how the builds in it behave.
    """

    def __init__(
        self,
        objects: Objects,
        logs: Logs,
        building: Building,
        executor: Executor,
        annotations: Callable[[str], Mapping[str, str]],
    ) -> None:
        self._objects = objects
        self._store = objects.store
        self._logs = logs
        self._building = building
        self._executor = executor
        self._annotations = annotations
        self._runs: dict[str, threading.Event] = {}  # by uid, what ends them
        self._since: dict[str, float] = {}  # by uid, when a build became Pending

    def follow(self) -> None:
        """Look at everything, now and after each change, for ever."""
        seen, pause = -1, 0.0
        while True:
            with self._store.lock:
                if self._store.version == seen:
                    self._store.lock.wait(pause or None)
                seen = self._store.version
            try:
                pause = self.look()
            except Exception:
                LOG.exception("looking again soon")
                pause = _AGAIN_S

    def look(self) -> float:
        """One look at everything; after how many seconds another one is due without a change, 0 for
        never."""
        for config in self._store.list(BUILD_CONFIGS):
            self._try(partial(self._trigger, config))
        builds = self._store.list(BUILDS)
        self._forget({build["metadata"]["uid"] for build in builds})
        active = [build for build in builds if build["status"]["phase"] not in TERMINAL]
        for build in active:
            siblings = [other for other in builds if config_of(other) == config_of(build)]
            self._try(partial(self._advance, build, siblings))
        for config in self._store.list(BUILD_CONFIGS):
            self._try(partial(self._prune, config, builds))
        waits = any(
            build["status"]["phase"] in ("New", "Pending") for build in self._store.list(BUILDS)
        )
        limited = any(build["spec"].get("completionDeadlineSeconds") for build in active)
        return _AGAIN_S if waits or limited else 0.0

    def _try(self, step: Callable[[], None]) -> None:
        """What fails for one object is tried again at the next look, and keeps nothing else from
        going on."""
        try:
            step()
        except (ClusterError, RefusalError, StoppedError) as error:
            # The API server is away, or somebody was faster.
            LOG.info("looking again: %s", error)

    def _trigger(self, config: Obj) -> None:
        """A new BuildConfig with a ConfigChange trigger builds at once."""
        triggers = config["spec"].get("triggers") or []
        if config["status"]["lastVersion"] or not any(
            item["type"] == "ConfigChange" for item in triggers
        ):
            return
        meta = config["metadata"]
        cause = [{"message": "Build configuration change"}]
        request = {"metadata": {"name": meta["name"]}, "lastVersion": 0, "triggeredBy": cause}
        self._building.instantiate(Place(BUILD_CONFIGS, meta["namespace"], meta["name"]), request)

    def _forget(self, uids: set[str]) -> None:
        """End the runs of builds that were deleted, and their logs."""
        for uid in set(self._runs) - uids:
            self._runs.pop(uid).set()
        for uid in self._logs.uids() - uids:
            self._logs.remove(uid)
        self._since = {uid: moment for uid, moment in self._since.items() if uid in uids}

    def _advance(self, build: Obj, siblings: Sequence[Obj]) -> None:
        status = build["status"]
        if status.get("cancelled") or build in policy.superseded(siblings):
            self._finish(build, _CANCELLED)
        elif self._overdue(build):
            self._finish(
                build, Outcome("Failed", "GenericBuildFailed", "The build's deadline has passed.")
            )
        elif status["phase"] == "New":
            if policy.may_start(build, siblings):
                self._make_pending(build)
        elif status["phase"] == "Pending":
            self._make_running(build)
        elif build["metadata"]["uid"] not in self._runs:
            # It ran when this server was stopped.
            self._start(build, seconds(status["startTimestamp"]))

    def _overdue(self, build: Obj) -> bool:
        deadline = build["spec"].get("completionDeadlineSeconds")
        started = build["status"].get("startTimestamp")
        return bool(deadline and started and time.time() > seconds(started) + deadline)

    def _make_pending(self, build: Obj) -> None:
        reference = _output(build)
        if reference and build["spec"]["output"]["to"]["kind"] == "ImageStreamTag":
            target = images.target_of(build["spec"]["output"]["to"], build["metadata"]["namespace"])
            if self._store.get(IMAGE_STREAMS, target.namespace, target.stream) is None:
                self._set(build, partial(_say, *_NO_OUTPUT))
                return
        name = build["metadata"]["name"]

        def change(obj: Obj) -> None:
            obj["metadata"].setdefault("annotations", {})["openshift.io/build.pod-name"] = (
                f"{name}-build"
            )
            obj["status"]["phase"] = "Pending"
            if reference:
                obj["status"]["outputDockerImageReference"] = reference
            _say("", "", obj)

        self._set(build, change)

    def _make_running(self, build: Obj) -> None:
        uid = build["metadata"]["uid"]
        since = self._since.setdefault(uid, time.time())
        hold = self._executor.hold(build, self._plays(build), time.time() - since)
        if hold is not None:
            self._set(build, partial(_say, hold.reason, hold.message))
            return
        now = time.time()

        def change(obj: Obj) -> None:
            obj["status"].update(phase="Running", startTimestamp=stamp(now))
            _say("", "", obj)

        self._start(self._set(build, change), now)

    def _start(self, build: Obj, started: float) -> None:
        uid = build["metadata"]["uid"]
        ended = self._runs[uid] = threading.Event()
        said = len(self._logs.lines(uid))
        run = Run(build, self._plays(build), started, said, partial(self._logs.append, uid), ended)
        threading.Thread(
            target=self._run, args=(run,), name=f"build-{build['metadata']['name']}", daemon=True
        ).start()

    def _run(self, run: Run) -> None:
        try:
            outcome = self._executor.run(run)
        except StoppedError:
            return
        except Exception:
            LOG.exception("build %s broke its executor", run.build["metadata"]["name"])
            outcome = Outcome(
                "Error", "GenericBuildFailed", "The test cluster's executor broke: see its log."
            )
        self._finish(run.build, outcome)

    def _finish(self, build: Obj, outcome: Outcome) -> None:
        """Write how it ended, unless it has ended or gone meanwhile."""
        uid = build["metadata"]["uid"]
        lines = self._logs.lines(uid)
        if outcome.digest:
            self._tag(build, outcome)
        try:
            self._set(build, partial(_end, outcome, lines))
        except (RefusalError, StoppedError) as error:
            LOG.info("build %s has ended otherwise: %s", build["metadata"]["name"], error)
        event = self._runs.pop(uid, None)
        if event is not None:
            event.set()
        self._logs.wake()

    def _tag(self, build: Obj, outcome: Outcome) -> None:
        """Make the pushed image known, and let the output's image stream point at it."""
        now = stamp()
        pushed = build["status"]["outputDockerImageReference"]
        repository = pushed.rpartition(":")[0] if ":" in pushed.rpartition("/")[2] else pushed
        reference = f"{repository}@{outcome.digest}"
        to = build["spec"]["output"]["to"]
        with self._store.lock:
            self._store.put(
                images.IMAGES, images.image(outcome.digest, reference, outcome.labels or {}, now)
            )
            if to["kind"] != "ImageStreamTag":
                return
            target = images.target_of(to, build["metadata"]["namespace"])
            stream = self._store.get(IMAGE_STREAMS, target.namespace, target.stream)
            if stream is not None:
                tagged = images.tagged(stream, target.tag, reference, outcome.digest, now)
                if tagged is not stream:
                    self._store.put(IMAGE_STREAMS, tagged)

    def _prune(self, config: Obj, builds: Sequence[Obj]) -> None:
        meta = config["metadata"]
        mine = [
            build
            for build in builds
            if config_of(build) == Place(BUILD_CONFIGS, meta["namespace"], meta["name"])
        ]
        for build in policy.outdated(config, mine):
            LOG.info("pruning build %s", build["metadata"]["name"])
            self._objects.delete(
                _place(build), {"preconditions": {"uid": build["metadata"]["uid"]}}, dry_run=False
            )

    def _plays(self, build: Obj) -> dict[str, str]:
        """How the build behaves: what its namespace says, over that its BuildConfig, over that it
        itself."""
        place = config_of(build)
        config = self._store.get(BUILD_CONFIGS, place.namespace, place.name) if place else None
        levels = [self._annotations(build["metadata"]["namespace"])]
        levels += [obj["metadata"].get("annotations") or {} for obj in (config, build) if obj]
        found: dict[str, str] = {}
        for level in levels:
            found |= {
                key.removeprefix(PREFIX): value
                for key, value in level.items()
                if key.startswith(PREFIX)
            }
        return found

    def _set(self, build: Obj, change: Callable[[Obj], None]) -> Obj:
        """Change the build, if it is still the same one and has not ended; raises RefusalError,
        StoppedError."""
        uid = build["metadata"]["uid"]

        def change_same(obj: Obj) -> None:
            if obj["metadata"]["uid"] != uid or obj["status"]["phase"] in TERMINAL:
                raise StoppedError
            change(obj)

        return self._objects.change(_place(build), _WRITER, change_same)


def _place(build: Obj) -> Place:
    return Place(BUILDS, build["metadata"]["namespace"], build["metadata"]["name"])


def _output(build: Obj) -> str:
    """Where the build pushes its image, "" for nowhere."""
    to = build["spec"]["output"].get("to")
    if not to:
        return ""
    if to["kind"] == "DockerImage":
        return str(to["name"])
    target = images.target_of(to, build["metadata"]["namespace"])
    return f"{images.repository(target.namespace, target.stream)}:{target.tag}"


def _say(reason: str, message: str, obj: Obj) -> None:
    """Set or take away status.reason and status.message."""
    for key, value in (("reason", reason), ("message", message)):
        if value:
            obj["status"][key] = value
        else:
            obj["status"].pop(key, None)


def _end(outcome: Outcome, lines: Sequence[str], obj: Obj) -> None:
    """Write the outcome into a Build. lines: its log."""
    now = stamp()
    status = obj["status"]
    started = status.setdefault("startTimestamp", now)
    status.update(
        phase=outcome.phase,
        completionTimestamp=now,
        duration=int(seconds(now) - seconds(started)) * NANOSECONDS,
    )
    _say(outcome.reason, outcome.message, obj)
    if outcome.phase in ("Failed", "Error") and lines:
        status["logSnippet"] = policy.snippet(lines)
    if outcome.digest:
        status["output"] = {"to": {"imageDigest": outcome.digest}}
    if outcome.phase == "Cancelled":
        status["cancelled"] = True
