# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulated executor: builds that behave as annotations say, with a log like a real one's.
README.md lists them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.cluster.builds_api.executor import Hold, Outcome, Run, failure, values_of
from tests.cluster.builds_api.images import made_up_digest
from tests.cluster.builds_api.kinds import Obj
from tests.cluster.builds_api.pushing import PushError

PREFIX = "play.hardware-enablement.test/"
NORMAL, FAIL, ERROR, CANCELLED, PENDING = PLAYS = (
    "normal",
    "fail",
    "error",
    "cancelled",
    "pending",
)
# Not simulated: buildah.py.
BUILDAH = "buildah"
_SECONDS = 1.0


@dataclass(frozen=True)
class Play:
    """How a build behaves. seconds: from its start to its end (of `pending`: until its pod starts,
    0 = never).

    message: the last lines of a failing build's log.
    """

    name: str = NORMAL
    seconds: float = _SECONDS
    exit_code: int = 1
    message: str = ""
    reason: str = ""


def parse_play(values: Mapping[str, str]) -> Play:
    """A Play from annotations without their prefix; ValueError says what is wrong."""
    name = values.get("play", NORMAL)
    if name not in PLAYS:
        raise ValueError(f"unknown play {name!r}: expected one of {', '.join(PLAYS)}")
    unknown = set(values) - {"play", "seconds", "exit-code", "message", "reason"}
    if unknown:
        raise ValueError(f"play {name!r} has unknown parameters: {', '.join(sorted(unknown))}")
    default = 0.0 if name == PENDING else _SECONDS
    return Play(
        name,
        float(values.get("seconds", default)),
        int(values.get("exit-code", 1)),
        values.get("message", ""),
        values.get("reason", ""),
    )


class Simulated:
    """Plays builds.

    found(plural, namespace, name): a Secret or ConfigMap, or None. push(build, labels): the digest
    of an image that was really pushed, or None; raises PushError.
    """

    def __init__(
        self,
        found: Callable[[str, str, str], Obj | None],
        push: Callable[[Obj, Mapping[str, str]], str | None],
    ) -> None:
        self._found = found
        self._push = push

    def hold(self, build: Obj, plays: Mapping[str, str], waited_s: float) -> Hold | None:
        """A build waits for the Secrets and ConfigMaps that it names, as its pod would."""
        play = _play(plays)
        namespace = build["metadata"]["namespace"]
        push = (build["spec"]["output"].get("pushSecret") or {}).get("name")
        if push and self._found("secrets", namespace, push) is None:
            return Hold("MissingPushSecret", "Missing push secret.")
        if any(self._found(plural, namespace, name) is None for plural, name in mounted(build)):
            return Hold()
        if play.name == PENDING and (not play.seconds or waited_s < play.seconds):
            return Hold(play.reason, play.message)
        return None

    def run(self, run: Run) -> Outcome:
        """Say the log's lines in time, push, then the outcome."""
        play = _play(run.plays)
        lines = script(run.build, play)
        seconds = play.seconds if play.name != PENDING else _SECONDS
        for number, line in enumerate(lines, 1):
            if number > run.said:
                run.wait(run.started + seconds * number / (len(lines) + 1))
                run.say(line)
        run.wait(run.started + seconds)
        if play.name == CANCELLED:
            return Outcome("Cancelled", "CancelledBuild", "The build was cancelled by the user.")
        if play.name == ERROR:
            return failure("Error", play.reason or "BuildPodDeleted")
        if play.name == FAIL:
            return failure("Failed", play.reason or "DockerBuildFailed")
        return self._pushed(run)

    def _pushed(self, run: Run) -> Outcome:
        output = run.build["spec"]["output"]
        target = run.build["status"].get("outputDockerImageReference")
        if not target:
            return Outcome("Complete")
        labels = values_of(output.get("imageLabels"))
        try:
            pushed = self._push(run.build, labels)
        except PushError as error:
            run.say(str(error))
            return failure("Failed", "PushImageToRegistryFailed")
        digest = pushed or made_up_digest(
            {"uid": run.build["metadata"]["uid"], "spec": run.build["spec"]}
        )
        run.say(f"Successfully pushed {re.sub(':[^:/]+$', '', target)}@{digest}")
        run.say("Push successful")
        return Outcome("Complete", digest=digest, labels=labels)


def mounted(build: Obj) -> list[tuple[str, str]]:
    """(plural, name) of the Secrets and ConfigMaps without which the build's pod does not start."""
    source = build["spec"]["source"]
    strategy: Obj = next(
        (value for key, value in build["spec"]["strategy"].items() if key != "type"), {}
    )
    secrets = [item["secret"]["name"] for item in source.get("secrets") or []]
    secrets += [
        holder["name"]
        for holder in (source.get("sourceSecret"), strategy.get("pullSecret"))
        if holder
    ]
    maps = [item["configMap"]["name"] for item in source.get("configMaps") or []]
    return [("secrets", name) for name in secrets] + [("configmaps", name) for name in maps]


def script(build: Obj, play: Play) -> list[str]:
    """The log of a build until its image is pushed."""
    spec = build["spec"]
    meta = build["metadata"]
    source = spec["source"]
    lines = [f'Cloning "{source["git"]["uri"]}" ...'] if "git" in source else []
    steps = _steps(source.get("dockerfile") or "FROM scratch")
    base = next((step.split()[1] for step in steps if step.upper().startswith("FROM ")), "scratch")
    base = ((spec["strategy"].get("dockerStrategy") or {}).get("from") or {}).get("name", base)
    lines += ['Caching blobs under "/var/cache/blobs".', f"Pulling image {base} ..."]
    last = max(1, len(steps) // 2) if play.name == FAIL else len(steps)
    lines += [f"STEP {number}/{len(steps)}: {step}" for number, step in enumerate(steps[:last], 1)]
    if play.name == FAIL:
        said = play.message or "make: *** [Makefile:2: modules] Error 2"
        command = steps[last - 1]
        where = f'error: build error: building at STEP "{command}"'
        status = f"{where}: while running runtime: exit status {play.exit_code}"
        return [*lines, *said.splitlines(), status]
    lines += [
        f"COMMIT temp.builder.openshift.io/{meta['namespace']}/{meta['name']}:{meta['uid'][:8]}"
    ]
    target = build["status"].get("outputDockerImageReference")
    return [*lines, f"Pushing image {target} ..."] if target else lines


def _steps(dockerfile: str) -> list[str]:
    """The instructions of a Dockerfile, each on one line."""
    joined = re.sub(r"\\\s*\n\s*", "", dockerfile)
    return [
        line.strip()
        for line in joined.splitlines()
        if line.strip() and not line.lstrip().startswith("#")
    ]


def _play(values: Mapping[str, str]) -> Play:
    try:
        return parse_play(values)
    except ValueError as error:
        # Whoever wrote the annotation reads it in the build's log and status.
        return Play(FAIL, 0.0, message=str(error), reason="GenericBuildFailed")
