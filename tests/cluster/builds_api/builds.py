# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds: made from a BuildConfig, led through their phases, with a log.

Facts: openshift-apiserver, pkg/build/apiserver/buildgenerator/generator.go and registry/buildlog;
openshift-controller- manager, pkg/build/controller/build/build_controller.go, policy and common.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Sequence
from copy import deepcopy

from tests.cluster.api import Api, ApiError
from tests.cluster.builds_api import stored
from tests.cluster.builds_api.execution import PREFIX, Executor, Outcome, Run, StoppedError
from tests.cluster.builds_api.image_streams import ImageStreams, repository, target_of
from tests.cluster.builds_api.stored import Obj, path_of, stamp

LOG = logging.getLogger(__name__)
CONFIG_LABEL = "openshift.io/build-config.name"
NUMBER_ANNOTATION = "openshift.io/build.number"
TERMINAL = ("Complete", "Failed", "Error", "Cancelled")
_COPIED = (
    "source",
    "strategy",
    "output",
    "resources",
    "postCommit",
    "completionDeadlineSeconds",
    "nodeSelector",
)
_CANCELLED = Outcome("Cancelled", "CancelledBuild", "The build was cancelled by the user.")
_NO_OUTPUT = {"reason": "InvalidOutputReference", "message": "Output image could not be resolved."}
_CONFIG_CHANGE = "Build configuration change"
_SNIPPET_LINES = 5
_LOOK_AGAIN_S = 0.5


class Builds:
    """One thread that looks at all builds after each change, and one for each build that runs."""

    def __init__(self, api: Api, streams: ImageStreams, executor: Executor) -> None:
        self._api, self._streams, self._executor = api, streams, executor
        self._changed = threading.Event()
        # By uid: what ends a build that runs, and what it has said.
        self._runs: dict[str, threading.Event] = {}
        self._logs: dict[str, list[str]] = {}

    def instantiate(self, namespace: str, name: str, request: Obj) -> Obj:
        """The next Build of a BuildConfig, by a BuildRequest; raises ApiError."""
        asked = (request.get("metadata") or {}).get("name")
        if asked != name:
            raise ApiError(
                400, f"the name of the BuildRequest ({asked}) must be that on the URL ({name})"
            )
        config = self._api.get(path_of("BuildConfig", namespace, name))
        number = config["status"]["lastVersion"] + 1
        body = stored.to_stored(json.dumps(build_of(config, request, number)).encode())
        made = self._api.request("POST", path_of("Build", namespace), json.loads(body))
        self._api.patch(
            path_of("BuildConfig", namespace, name), {"status": {"lastVersion": number}}
        )
        served: Obj = json.loads(stored.to_served(json.dumps(made).encode()))
        return served

    def log(self, namespace: str, name: str, tail: int) -> str:
        """A build's last lines, or all (0); raises ApiError where there is no log."""
        build = self._api.get(path_of("Build", namespace, name))
        phase = build["status"]["phase"]
        if phase == "Cancelled":
            raise ApiError(400, f"build {name} was cancelled. No logs are available.")
        if phase in ("New", "Pending"):
            raise ApiError(504, f"timed out waiting for build {name} to start after 30s")
        return "".join(f"{line}\n" for line in self._logs.get(build["metadata"]["uid"], [])[-tail:])

    def changed(self) -> None:
        """Something may have been written."""
        self._changed.set()

    def follow(self) -> None:
        """Look at everything, now and after each change, for ever."""
        while True:
            waits = True
            try:
                waits = self._look()
            except ApiError as error:
                # The API server does not know the kinds yet, is away, or somebody was faster.
                LOG.info("looking again: %s", error)
            self._changed.wait(_LOOK_AGAIN_S if waits else None)
            self._changed.clear()

    def _look(self) -> bool:
        """One look at everything; whether something goes on."""
        self._streams.import_all()
        builds: list[Obj] = self._api.get(path_of("Build"))["items"]
        for uid in set(self._runs) - {build["metadata"]["uid"] for build in builds}:
            self._runs.pop(uid).set()
        for build in builds:
            if build["status"]["phase"] not in TERMINAL:
                self._advance(
                    build, [other for other in builds if _config_of(other) == _config_of(build)]
                )
        for config in self._api.get(path_of("BuildConfig"))["items"]:
            if starts_by_itself(config):
                self._start(config)
            for build in outdated(config, builds):
                self._api.delete(_path(build))
        return any(build["status"]["phase"] not in TERMINAL for build in builds)

    def _start(self, config: Obj) -> None:
        name, namespace = config["metadata"]["name"], config["metadata"]["namespace"]
        request = {"metadata": {"name": name}, "triggeredBy": [{"message": _CONFIG_CHANGE}]}
        self.instantiate(namespace, name, request)
        self.changed()

    def _advance(self, build: Obj, siblings: Sequence[Obj]) -> None:
        phase, uid = build["status"]["phase"], build["metadata"]["uid"]
        if build["status"].get("cancelled"):
            self._finish(build, _CANCELLED)
        elif phase == "New":
            if may_start(build, siblings):
                self._make_pending(build)
        elif phase == "Pending":
            self._make_running(build)
        elif uid not in self._runs:
            self._finish(
                build,
                Outcome(
                    "Error", "BuildPodDeleted", "The server of the test cluster was started again."
                ),
            )

    def _make_pending(self, build: Obj) -> None:
        to = build["spec"].get("output", {}).get("to") or {}
        namespace = to.get("namespace") or build["metadata"]["namespace"]
        reference = to.get("name", "")
        if to.get("kind") == "ImageStreamTag":
            target = target_of(reference, namespace)
            if self._streams.find(namespace, target.stream) is None:
                self._set(build, _NO_OUTPUT)
                return
            reference = f"{repository(namespace, target.stream)}:{target.tag}"
        said = {"reason": None, "message": None}
        self._set(build, {"phase": "Pending", "outputDockerImageReference": reference, **said})

    def _make_running(self, build: Obj) -> None:
        behaviour = self._behaviour(build)
        hold = self._executor.hold(build, behaviour)
        if hold is not None:
            self._set(build, {"reason": hold.reason or None, "message": hold.message or None})
            return
        uid = build["metadata"]["uid"]
        said = {"reason": None, "message": None}
        running = self._set(build, {"phase": "Running", "startTimestamp": stamp(), **said})
        say, ended = (
            self._logs.setdefault(uid, []).append,
            self._runs.setdefault(uid, threading.Event()),
        )
        run = Run(running, behaviour, say, ended)
        threading.Thread(target=self._run, args=(run,), daemon=True).start()

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
        self.changed()

    def _finish(self, build: Obj, outcome: Outcome) -> None:
        """Write how it ended, unless it has ended or gone meanwhile."""
        status: Obj = {"phase": outcome.phase, "completionTimestamp": stamp()}
        status |= {"reason": outcome.reason or None, "message": outcome.message or None}
        lines = self._logs.get(build["metadata"]["uid"], [])
        if outcome.phase == "Failed" and lines:
            status["logSnippet"] = "\n".join(lines[-_SNIPPET_LINES:])
        if outcome.digest:
            self._tag(build, outcome)
            status["output"] = {"to": {"imageDigest": outcome.digest}}
        try:
            self._set(build, status)
        except ApiError as error:
            LOG.info("build %s has ended otherwise: %s", build["metadata"]["name"], error)
        ended = self._runs.get(build["metadata"]["uid"])
        if ended is not None:
            ended.set()

    def _tag(self, build: Obj, outcome: Outcome) -> None:
        to = build["spec"]["output"]["to"]
        if to["kind"] == "ImageStreamTag":
            target = target_of(to["name"], to.get("namespace") or build["metadata"]["namespace"])
            reference = f"{repository(target.namespace, target.stream)}@{outcome.digest}"
            self._streams.take(target, reference, outcome.digest, outcome.labels or {})

    def _behaviour(self, build: Obj) -> dict[str, str]:
        """What its namespace says, over that its BuildConfig."""
        namespace = self._api.get(f"/api/v1/namespaces/{build['metadata']['namespace']}")
        found: dict[str, str] = {}
        for obj in (namespace, build):
            annotations = obj["metadata"].get("annotations") or {}
            found |= {
                key.removeprefix(PREFIX): text
                for key, text in annotations.items()
                if key.startswith(PREFIX)
            }
        return found

    def _set(self, build: Obj, status: Obj) -> Obj:
        """Change the status, if it is still the same build and has not ended; raises ApiError."""
        patch = {"metadata": {"uid": build["metadata"]["uid"]}, "status": status}
        changed: Obj = self._api.patch(_path(build), patch)
        return changed


def build_of(config: Obj, request: Obj, number: int) -> Obj:
    """The Build of a BuildConfig of that number. Pure."""
    meta, name = config["metadata"], config["metadata"]["name"]
    label = name[:63].rstrip("-_.")
    annotations = {
        key: text for key, text in (meta.get("annotations") or {}).items() if key.startswith(PREFIX)
    }
    group = config["apiVersion"]
    return {
        "kind": "Build",
        "apiVersion": group,
        "metadata": {
            "name": f"{name}-{number}",
            "namespace": meta["namespace"],
            "labels": {**(meta.get("labels") or {}), "buildconfig": label, CONFIG_LABEL: label},
            "annotations": {**annotations, NUMBER_ANNOTATION: str(number), CONFIG_LABEL: name},
            "ownerReferences": [
                {
                    "apiVersion": group,
                    "kind": "BuildConfig",
                    "name": name,
                    "uid": meta["uid"],
                    "controller": True,
                }
            ],
        },
        "spec": {
            **{key: deepcopy(config["spec"][key]) for key in _COPIED if key in config["spec"]},
            "serviceAccount": config["spec"].get("serviceAccount") or "builder",
            "triggeredBy": request.get("triggeredBy") or [{"message": "Manually triggered"}],
        },
        "status": {
            "phase": "New",
            "config": {"kind": "BuildConfig", "name": name, "namespace": meta["namespace"]},
        },
    }


def starts_by_itself(config: Obj) -> bool:
    """Whether a BuildConfig's first build comes without being asked for (its trigger ConfigChange;
    later changes of the configuration start none). Pure."""
    triggers = config["spec"].get("triggers") or ()
    is_new = (config.get("status") or {}).get("lastVersion", 0) == 0
    return is_new and any(trigger["type"] == "ConfigChange" for trigger in triggers)


def may_start(build: Obj, siblings: Sequence[Obj]) -> bool:
    """Whether a new build's turn has come, as runPolicy Serial has it. siblings: of the same
    BuildConfig. Pure."""
    before = [other for other in siblings if _number(other) < _number(build)]
    return all(other["status"]["phase"] in TERMINAL for other in before)


def outdated(config: Obj, builds: Sequence[Obj]) -> list[Obj]:
    """The builds of a BuildConfig beyond its history limits. Pure."""
    meta, found = config["metadata"], []
    mine = [build for build in builds if _config_of(build) == (meta["namespace"], meta["name"])]
    for phases, key in (
        (TERMINAL[:1], "successfulBuildsHistoryLimit"),
        (TERMINAL[1:], "failedBuildsHistoryLimit"),
    ):
        ended = sorted((build for build in mine if build["status"]["phase"] in phases), key=_number)
        found += ended[: max(0, len(ended) - config["spec"].get(key, 5))]
    return found


def _config_of(build: Obj) -> tuple[str, str]:
    config = build["status"].get("config") or {}
    return config.get("namespace", ""), config.get("name", "")


def _number(build: Obj) -> int:
    return int((build["metadata"].get("annotations") or {}).get(NUMBER_ANNOTATION, 0))


def _path(build: Obj) -> str:
    return path_of("Build", build["metadata"]["namespace"], build["metadata"]["name"])
