# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What may be done with builds beyond storing them: start one from its BuildConfig, read its log.

Facts: openshift-apiserver, pkg/build/apiserver/registry/{buildconfiginstantiate,buildlog}.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from tests.cluster.builds_api.images import newest, target_of
from tests.cluster.builds_api.instantiate import NUMBER_ANNOTATION, instantiate
from tests.cluster.builds_api.kinds import BUILD_CONFIGS, BUILDS, IMAGE_STREAMS, Obj
from tests.cluster.builds_api.logs import Logs
from tests.cluster.builds_api.messages import TEXT, Answer, Request
from tests.cluster.builds_api.objects import Objects, Place, Writer
from tests.cluster.builds_api.refusals import RefusalError, bad_request
from tests.cluster.builds_api.strategies import TERMINAL

# As managedFields name OpenShift's API server.
API_SERVER = "openshift-apiserver"
_WAIT_FOR_START_S = 30.0


class Building:
    """The subresources of BuildConfigs and Builds."""

    def __init__(self, objects: Objects, logs: Logs) -> None:
        self._objects = objects
        self._logs = logs

    def instantiate(self, config: Place, request: Obj, *, dry_run: bool = False) -> Obj:
        """Make the next Build of a BuildConfig by a BuildRequest; raises RefusalError."""
        writer = Writer(API_SERVER, dry_run)
        with self._objects.store.lock:
            changed, build = instantiate(self._objects.get(config), request, self._image_of)
            made = self._objects.create(
                Place(BUILDS, config.namespace, build["metadata"]["name"]), build, writer
            )

            def count(obj: Obj) -> None:
                obj["status"]["lastVersion"] = changed["status"]["lastVersion"]

            self._objects.change(config, writer, count)
            return made

    def log(self, build: Obj, request: Request) -> Answer:
        """A build's log as text; with follow, until the build ends. Raises RefusalError where there
        is none."""
        if request.asks("previous"):
            build = self._objects.get(_previous(build))
        build = self._started(build, wait_s=0.0 if request.asks("nowait") else _WAIT_FOR_START_S)
        phase = build["status"]["phase"]
        name = build["metadata"]["name"]
        if phase == "Cancelled":
            raise bad_request(f"build {name} was cancelled. No logs are available.")
        if phase == "Error":
            raise bad_request(f"build {name} is in an error state. No logs are available.")
        if phase in ("New", "Pending"):
            if request.asks("nowait"):
                return Answer(200, b"", TEXT)
            text = f"timed out waiting for build {name} to start after {_WAIT_FOR_START_S:.0f}s"
            raise RefusalError(504, "Timeout", text, {"retryAfterSeconds": 1})
        return Answer(200, self._lines(build, request), TEXT)

    def _lines(self, build: Obj, request: Request) -> Iterator[bytes]:
        tail = request.query.get("tailLines", "")
        uid = build["metadata"]["uid"]

        def goes_on() -> bool:
            found = self._current(build)
            return found is not None and found["status"]["phase"] not in TERMINAL

        follow = goes_on if request.asks("follow") else None
        return self._logs.read(uid, tail=int(tail) if tail.isdigit() else None, follow=follow)

    def _started(self, build: Obj, wait_s: float) -> Obj:
        """The build once it is neither New nor Pending, or as it is after wait_s seconds."""
        until = time.monotonic() + wait_s
        store = self._objects.store
        with store.lock:
            while (
                build["status"]["phase"] in ("New", "Pending")
                and (left := until - time.monotonic()) > 0
            ):
                store.lock.wait(left)
                build = self._current(build) or self._objects.get(_place(build))
        return build

    def _current(self, build: Obj) -> Obj | None:
        """The same build now, or None when it is gone."""
        meta = build["metadata"]
        found = self._objects.store.get(BUILDS, meta["namespace"], meta["name"])
        return found if found and found["metadata"]["uid"] == meta["uid"] else None

    def _image_of(self, reference: Obj, namespace: str) -> str:
        """The image that an ObjectReference means; raises RefusalError (422)."""
        kind, name = reference["kind"], reference["name"]
        if kind == "DockerImage":
            return str(name)
        target = target_of(reference, namespace)
        stream = self._objects.store.get(IMAGE_STREAMS, target.namespace, target.stream)
        event = newest(stream, target.tag) if stream and kind == "ImageStreamTag" else None
        if event is None:
            why = (
                "unable to find latest tagged image"
                if stream
                else f'imagestreams "{target.stream}" not found'
            )
            text = f"Error resolving {kind} {name} in namespace {target.namespace}: {why}"
            causes = [{"field": "from", "message": text}]
            raise RefusalError(422, "Invalid", text, {"kind": kind, "name": name, "causes": causes})
        return str(event["dockerImageReference"])


def _place(build: Obj) -> Place:
    return Place(BUILDS, build["metadata"]["namespace"], build["metadata"]["name"])


def _previous(build: Obj) -> Place:
    number = int(build["metadata"]["annotations"][NUMBER_ANNOTATION])
    name = f"{build['status']['config']['name']}-{number - 1}"
    return Place(BUILDS, build["metadata"]["namespace"], name)


def config_of(build: Obj) -> Place | None:
    """Where a build's BuildConfig is; None for a build that was made by hand."""
    config = build["status"].get("config")
    return Place(BUILD_CONFIGS, config["namespace"], config["name"]) if config else None
