# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a build does, behind one interface: simulated, or for real."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tests.cluster.builds_api.kinds import Obj

# How the reasons of openshift/api, build/v1/consts.go, read as sentences in openshift/builder.
_MESSAGES = {
    "DockerBuildFailed": "Dockerfile build strategy has failed.",
    "FetchSourceFailed": "Failed to fetch the input source.",
    "PullBuilderImageFailed": "Failed pulling builder image.",
    "PushImageToRegistryFailed": "Failed to push the image to the registry.",
    "GenericBuildFailed": "Generic Build failure - check logs for details.",
    "OutOfMemoryKilled": "The build pod was killed due to an out of memory condition.",
    "BuildPodDeleted": "The pod for this build was deleted before the build completed.",
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
    """How a build ended. phase: Complete, Failed, Error or Cancelled. digest, labels: of the image
    that was pushed."""

    phase: str
    reason: str = ""
    message: str = ""
    digest: str = ""
    labels: Mapping[str, str] | None = None


def failure(phase: str, reason: str) -> Outcome:
    """An Outcome with the sentence that belongs to its reason."""
    return Outcome(phase, reason, _MESSAGES.get(reason, _MESSAGES["GenericBuildFailed"]))


def values_of(items: Sequence[Obj] | None) -> dict[str, str]:
    """Name -> value of a Build's list of variables, arguments or labels."""
    return {item["name"]: item.get("value", "") for item in items or ()}


@dataclass(frozen=True)
class Run:
    """A build that runs.

    plays: the annotations that say how it behaves, without their prefix. started: seconds since the
    epoch. A run may be taken up again by another process: so many lines were said before. say:
    writes a line into the build's log.
    """

    build: Obj
    plays: Mapping[str, str]
    started: float
    said: int
    say: Callable[[str], None]
    ended: threading.Event

    def wait(self, until: float) -> None:
        """Wait until a moment (seconds since the epoch); raises StoppedError."""
        if self.ended.wait(max(0.0, until - time.time())):
            raise StoppedError


class Executor(Protocol):
    """Runs builds."""

    def hold(self, build: Obj, plays: Mapping[str, str], waited_s: float) -> Hold | None:
        """Why the build's pod does not start, after it has waited so long; None: it starts."""

    def run(self, run: Run) -> Outcome:
        """Run a build to its end; raises StoppedError when it is ended from outside."""
