# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build does: nothing but take its time and push, unless an annotation says otherwise.
README.md lists them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.cluster.builds_api.pushing import PushError
from tests.cluster.builds_api.stored import Obj

PREFIX = "simulation.hardware-enablement.test/"
# How the reasons of openshift/api, build/v1/consts.go, read as sentences in openshift/builder.
_MESSAGES = {
    "DockerBuildFailed": "Dockerfile build strategy has failed.",
    "PushImageToRegistryFailed": "Failed to push the image to the registry.",
}


class StoppedError(Exception):
    """The build was cancelled or deleted: nobody waits for its outcome any more."""


@dataclass(frozen=True)
class Hold:
    """Why a build's pod does not start, as the Build's status.reason and message; both may be
    empty."""

    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class Outcome:
    """How a build ended. phase: one of the last. digest, labels: of the image that was pushed."""

    phase: str
    reason: str = ""
    message: str = ""
    digest: str = ""
    labels: Mapping[str, str] | None = None


def failure(reason: str) -> Outcome:
    """An Outcome with the sentence that belongs to its reason."""
    return Outcome("Failed", reason, _MESSAGES[reason])


def values_of(items: Sequence[Obj] | None) -> dict[str, str]:
    """Name -> value of a Build's list of variables, arguments or labels."""
    return {item["name"]: item.get("value", "") for item in items or ()}


@dataclass(frozen=True)
class Run:
    """A build that runs. behaviour: annotations without their prefix. say: writes a line into the
    build's log."""

    build: Obj
    behaviour: Mapping[str, str]
    say: Callable[[str], None]
    ended: threading.Event

    def wait(self, seconds: float) -> None:
        """Wait; raises StoppedError."""
        if self.ended.wait(seconds):
            raise StoppedError


class Executor(Protocol):
    """Runs builds."""

    def hold(self, build: Obj, behaviour: Mapping[str, str]) -> Hold | None:
        """Why the build's pod does not start; None: it starts."""

    def run(self, run: Run) -> Outcome:
        """Run a build to its end; raises StoppedError when it is ended from outside."""


class Simulated:
    """Builds that take their time.

    found(plural, namespace, name): a Secret or ConfigMap, or None. push(build, labels): the digest of an image that
    was really pushed, or None; raises PushError.
    """

    def __init__(
        self,
        found: Callable[[str, str, str], Obj | None],
        push: Callable[[Obj, Mapping[str, str]], str | None],
    ) -> None:
        self._found = found
        self._push = push

    def hold(self, build: Obj, behaviour: Mapping[str, str]) -> Hold | None:
        """A build waits for the Secrets and ConfigMaps that it names, as its pod would."""
        namespace = build["metadata"]["namespace"]
        push = (build["spec"]["output"].get("pushSecret") or {}).get("name")
        if push and self._found("secrets", namespace, push) is None:
            return Hold("MissingPushSecret", "Missing push secret.")
        if any(self._found(plural, namespace, name) is None for plural, name in mounted(build)):
            return Hold()
        if behaviour.get("behaviour") == "pending":
            return Hold("", behaviour.get("message", ""))
        return None

    def run(self, run: Run) -> Outcome:
        """Say where the build is, wait, then push or fail."""
        base = values_of(run.build["spec"]["strategy"]["dockerStrategy"].get("buildArgs")).get(
            "BASE", "scratch"
        )
        run.say(f"Pulling image {base} ...")
        run.wait(float(run.behaviour.get("seconds", 1)))
        if run.behaviour.get("behaviour") == "fail":
            run.say(run.behaviour["message"])
            run.say(
                'error: build error: building at STEP "RUN make": while running runtime: exit status 1'
            )
            return failure("DockerBuildFailed")
        labels = values_of(run.build["spec"]["output"].get("imageLabels"))
        try:
            digest = self._push(run.build, labels) or _made_up_digest(run.build)
        except PushError as error:
            run.say(str(error))
            return failure("PushImageToRegistryFailed")
        run.say("Push successful")
        return Outcome("Complete", digest=digest, labels=labels)


def mounted(build: Obj) -> list[tuple[str, str]]:
    """(plural, name) of the Secrets and ConfigMaps without which the build's pod does not start."""
    source, strategy = build["spec"]["source"], build["spec"]["strategy"]["dockerStrategy"]
    secrets = [item["secret"]["name"] for item in source.get("secrets") or []]
    secrets += [
        holder["name"]
        for holder in (source.get("sourceSecret"), strategy.get("pullSecret"))
        if holder
    ]
    maps = [item["configMap"]["name"] for item in source.get("configMaps") or []]
    return [("secrets", name) for name in secrets] + [("configmaps", name) for name in maps]


def _made_up_digest(build: Obj) -> str:
    """The digest of an image that exists nowhere."""
    made_of = json.dumps({"uid": build["metadata"]["uid"], "spec": build["spec"]}, sort_keys=True)
    return f"sha256:{hashlib.sha256(made_of.encode()).hexdigest()}"
