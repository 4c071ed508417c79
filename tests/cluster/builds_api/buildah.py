# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The executor that builds: a build whose behaviour is `buildah` is run by buildah, out of the image
`builder`.

Facts: openshift/builder, pkg/build/builder/dockerutil.go: variables follow each FROM, labels are
the last instruction.
"""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.cluster.builds_api.execution import Hold, Outcome, Run, Simulated, failure, values_of
from tests.cluster.builds_api.pushing import known_registry
from tests.cluster.builds_api.stored import Obj
from tests.cluster.errors import ClusterError
from tests.cluster.images.build_host import make_build_host

_FROM = re.compile(r"^FROM\s.*$", re.MULTILINE | re.IGNORECASE)


class Buildah:
    """Builds of Dockerfiles with contexts from ConfigMaps, for root; others are left to the
    simulation.

    found(plural, namespace, name): a Secret or ConfigMap, or None. cluster: its folder.
    """

    def __init__(
        self, simulated: Simulated, found: Callable[[str, str, str], Obj | None], cluster: Path
    ) -> None:
        self._simulated = simulated
        self._found = found
        self._cluster = cluster

    def hold(self, build: Obj, behaviour: Mapping[str, str]) -> Hold | None:
        """As in the simulation, a build waits for what it mounts."""
        return self._simulated.hold(build, behaviour)

    def run(self, run: Run) -> Outcome:
        """Build and push."""
        if run.behaviour.get("behaviour") != "buildah":
            return self._simulated.run(run)
        target = run.build["status"]["outputDockerImageReference"]
        registry = known_registry(self._cluster, target)
        if registry is None:
            run.say(f"error: no registry is known that would take {target}: see use_registry")
            return failure("PushImageToRegistryFailed")
        # Below /tmp, which is the same for the program.
        with tempfile.TemporaryDirectory(prefix="openshift-build-") as name:
            folder = Path(name)
            program = str(make_build_host(folder / "host") / "buildah")
            certificates = folder / "certificates"
            certificates.mkdir()
            (certificates / "ca.crt").write_text(registry.ca)
            trust = [
                f"--cert-dir={certificates}",
                f"--authfile={self._write_logins(run.build, folder)}",
            ]
            command = [
                program,
                "build",
                *trust,
                *self._volumes(run.build, folder),
                *_arguments(run.build),
            ]
            if (
                _say_all(
                    run, [*command, f"--tag={target}", str(self._write_context(run.build, folder))]
                )
                != 0
            ):
                return failure("DockerBuildFailed")
            digest = folder / "digest"
            if _say_all(run, [program, "push", *trust, f"--digestfile={digest}", target]) != 0:
                return failure("PushImageToRegistryFailed")
            run.say("Push successful")
            return Outcome("Complete", digest=digest.read_text().strip(), labels=_labels(run.build))

    def _write_context(self, build: Obj, folder: Path) -> Path:
        """The folder with the Dockerfile and the ConfigMaps' files."""
        source = build["spec"]["source"]
        context = folder / "context"
        for item in source.get("configMaps") or []:
            into = context / (item.get("destinationDir") or "")
            into.mkdir(parents=True, exist_ok=True)
            for name, text in (
                self._get(build, "configmaps", item["configMap"]["name"]).get("data") or {}
            ).items():
                (into / name).write_text(text)
        context.mkdir(exist_ok=True)
        (context / "Dockerfile").write_text(dockerfile_of(build))
        return context

    def _write_logins(self, build: Obj, folder: Path) -> Path:
        """The accounts of the build's pull secret and, over those, of its push secret."""
        logins: Obj = {}
        for holder in (
            build["spec"]["strategy"]["dockerStrategy"].get("pullSecret"),
            build["spec"]["output"].get("pushSecret"),
        ):
            if holder:
                data = self._get(build, "secrets", holder["name"])["data"]
                logins |= json.loads(base64.b64decode(data[".dockerconfigjson"]))["auths"]
        file = folder / "logins.json"
        file.touch(mode=0o600)
        file.write_text(json.dumps({"auths": logins}))
        return file

    def _volumes(self, build: Obj, folder: Path) -> list[str]:
        """Options that show Secrets to the instructions, without their getting into the image."""
        options = []
        for volume in build["spec"]["strategy"]["dockerStrategy"].get("volumes") or []:
            shown = folder / "volumes" / volume["name"]
            shown.mkdir(parents=True, mode=0o700)
            for name, value in self._get(
                build, "secrets", volume["source"]["secret"]["secretName"]
            )["data"].items():
                (shown / name).write_bytes(base64.b64decode(value))
            options += [
                f"--volume={shown}:{mount['destinationPath']}:ro" for mount in volume["mounts"]
            ]
        return options

    def _get(self, build: Obj, plural: str, name: str) -> Obj:
        """What was there when the build's pod started; raises ClusterError where it has gone
        since."""
        namespace = build["metadata"]["namespace"]
        found = self._found(plural, namespace, name)
        if found is None:
            raise ClusterError(
                f"The build {build['metadata']['name']} lacks {plural} {namespace}/{name}: make it again."
            )
        return found


def dockerfile_of(build: Obj) -> str:
    """The Dockerfile that is built: variables and labels are added to the one of the source."""
    strategy = build["spec"]["strategy"]["dockerStrategy"]
    meta = build["metadata"]
    variables = {
        "OPENSHIFT_BUILD_NAME": meta["name"],
        "OPENSHIFT_BUILD_NAMESPACE": meta["namespace"],
    }
    added = _instruction("ENV", {**variables, **values_of(strategy.get("env"))})
    text = _FROM.sub(lambda found: f"{found[0]}\n{added}", build["spec"]["source"]["dockerfile"])
    return f"{text.rstrip()}\n{_instruction('LABEL', _labels(build))}\n"


def _labels(build: Obj) -> dict[str, str]:
    meta = build["metadata"]
    ours = {
        "io.openshift.build.name": meta["name"],
        "io.openshift.build.namespace": meta["namespace"],
    }
    return {**ours, **values_of(build["spec"]["output"].get("imageLabels"))}


def _instruction(keyword: str, values: Mapping[str, str]) -> str:
    # A dollar sign would ask for a variable.
    pairs = (
        f"{json.dumps(name)}={json.dumps(value)}".replace("$", "\\$")
        for name, value in values.items()
    )
    return " ".join([keyword, *pairs])


def _arguments(build: Obj) -> list[str]:
    arguments = values_of(build["spec"]["strategy"]["dockerStrategy"].get("buildArgs"))
    return [f"--build-arg={name}={value}" for name, value in arguments.items()]


def _say_all(run: Run, command: list[str]) -> int:
    """Say what a program says, and return its exit code; ends it with the build, and raises
    StoppedError."""
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        done = threading.Event()

        def end() -> None:
            while not done.is_set():
                if run.ended.wait(0.2):
                    os.killpg(process.pid, signal.SIGKILL)
                    return

        watcher = threading.Thread(target=end, daemon=True)
        watcher.start()
        for line in process.stdout or ():
            run.say(line.rstrip("\n"))
        code = process.wait()
        done.set()
        watcher.join()
    run.wait(0.0)
    return code
