# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of image_build: build one order of driver_container on this machine, with podman or
buildah, and push it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Optional

from .._errors import EnablementError, InvalidInput
from .._json import Obj, part
from .._registry.image_names import parse
from .._registry.policy import RegistryPolicy
from .._registry.registries_conf import SYSTEM_AUTHORITIES, authorities, registries_conf
from .._runs.context import RunContext
from .._runs.task import Task
from .builders.secret_mounts import mounted
from .failures import NO_PROGRAM, TIMED_OUT, BuildFailure, BuildPhase, classify, failure
from .git import QUIET
from .git_credentials import git_environment
from .orders import SecretNames
from .registry_policy import RegistryAccessRequest, given_policy

LOG_LINES = 20
_PROGRAMS = ("buildah", "podman")
_KEYS = ("target", "containerfile", "args", "labels", "files", "arch")


@dataclass(frozen=True)
class ImageBuildRequest:
    """What image_build is to do. order: as driver_container hands it out. secrets_dir: a folder for
    each Secret. auth_file: the program's credentials."""

    order: Mapping[str, Any]
    program: Literal["auto", "buildah", "podman"]
    registry: RegistryAccessRequest
    timeout: int
    secrets_dir: Optional[str] = None
    auth_file: Optional[str] = None
    isolation: Optional[Literal["chroot", "oci", "rootless"]] = None


@dataclass(frozen=True)
class _ProgramRun:
    """How programs are run. where: what their errors name. timeout: seconds for each. variables:
    beside those of this process."""

    where: str
    timeout: float
    variables: Mapping[str, str]

    def run(self, command: Sequence[str], step: BuildPhase) -> None:
        """Run a program to its end. Raises EnablementError, whose result tells phase, reason and the
        last lines."""
        try:
            # A session of its own: what runs too long is ended with all that it has started.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
                env={**os.environ, **QUIET, **self.variables},
            )
        except FileNotFoundError:
            raise self._error(failure(step, NO_PROGRAM, f"{command[0]} is missing"), []) from None
        with process:
            try:
                output, _nothing = process.communicate(timeout=self.timeout)
            except subprocess.TimeoutExpired:
                why = f"it took longer than {self.timeout:.0f} s"
                raise self._error(failure(step, TIMED_OUT, why), []) from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        if process.returncode:
            lines = (line.strip() for line in output.splitlines())
            log = [line for line in lines if line][-LOG_LINES:]
            raise self._error(classify(step, log, f"exit code {process.returncode}"), log)

    def _error(self, found: BuildFailure, log: Sequence[str]) -> EnablementError:
        what, _colon, why = found.text.partition(": ")
        error = EnablementError(what, where=self.where, why=why, todo=found.advice)
        error.result.update(log=list(log), phase=found.phase.value, reason=found.reason)
        return error


def run(request: ImageBuildRequest, context: RunContext) -> Obj:
    """Build and push; the digest is that of what was pushed."""
    order = request.order
    missing = [key for key in _KEYS if key not in order]
    if missing:
        raise InvalidInput(
            "the order cannot be built",
            why=f"it has no {', '.join(missing)}",
            todo="pass an entry of the result orders of driver_container",
        )
    policy = given_policy(request.registry)
    program = _program(request.program)
    if context.check_mode:
        return {"changed": True, "image": order["target"], "digest": ""}
    given = Path(request.secrets_dir) if request.secrets_dir else None
    mounts = _mounts(order, given)
    with _workspace() as folder:
        context_folder = _write_context(order, folder, float(request.timeout), given)
        containerfile = _containerfile(order, folder, context_folder)
        trust, variables = _trust(request.auth_file, folder, policy)
        place = str(policy.push_place(parse(order["target"])))
        programs = _ProgramRun(place, float(request.timeout), variables)
        platform = ["--platform", f"linux/{order['arch']}"]
        if order.get("base"):
            pull = [program, "pull", "--quiet", *platform, *trust, order["base"]]
            programs.run(pull, BuildPhase.BASE)
        build = [program, "build", "--file", str(containerfile), *platform, *trust]
        if request.isolation:
            build += ["--isolation", request.isolation]
        build += [*_arguments(order), *mounts, "--tag", place, str(context_folder)]
        programs.run(build, BuildPhase.COMPILE)
        digest = folder / "digest"
        push = [program, "push", *trust, "--digestfile", str(digest), place]
        programs.run(push, BuildPhase.PUSH)
        return {"changed": True, "image": order["target"], "digest": digest.read_text().strip()}


def _mounts(order: Mapping[str, Any], given: Path | None) -> list[str]:
    """The options that show a build its Secrets. Raises InvalidInput where this machine lacks one."""
    folders = mounted(_secret_names(order)).items()
    volumes = [f"{_secret(given, name)}:{folder}:ro" for folder, name in folders]
    return [text for volume in volumes for text in ("--volume", volume)]


def _arguments(order: Mapping[str, Any]) -> list[str]:
    """The options for build arguments and labels, in a stable order."""
    options: list[str] = []
    for flag, values in (("--build-arg", order["args"]), ("--label", order["labels"])):
        for name, value in sorted(values.items()):
            options += [flag, f"{name}={value}"]
    return options


def _program(wanted: str) -> str:
    names = _PROGRAMS if wanted == "auto" else (wanted,)
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    raise EnablementError(
        "nothing can be built on this machine",
        why=f"it has no {' and no '.join(names)}",
        todo="install one of them, or build elsewhere (build_host)",
    )


@contextmanager
def _workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="hardware-enablement-") as folder:
        yield Path(folder)


def _secret_names(order: Mapping[str, Any]) -> SecretNames:
    return SecretNames(**part(order, "secrets"))


def _secret(given: Path | None, name: str) -> Path:
    """The folder with a Secret's files. Raises InvalidInput where this machine has none."""
    if given is None or not (given / name).is_dir():
        raise InvalidInput(
            "the order cannot be built",
            why=f"this machine has no files of Secret {name}",
            todo=f"put them into a folder {name}, a file for each key, and name the folder above as secrets_dir",
        )
    return given / name


def _write_context(
    order: Mapping[str, Any], folder: Path, timeout: float, given: Path | None
) -> Path:
    """The folder to build in: the files of the order, or its commit."""
    target = folder / "context"
    target.mkdir()
    git = order.get("git")
    if git:
        variables = _credentials(git["url"], _secret_names(order).git, given)
        programs = _ProgramRun(git["url"], timeout, variables)
        for command in (
            ["git", "clone", "--quiet", "--no-checkout", "--", git["url"], str(target)],
            ["git", "-C", str(target), "checkout", "--quiet", git["commit"]],
        ):
            programs.run(command, BuildPhase.SOURCES)
        return _inside(target, str(git.get("folder", "")))
    for path, text in order["files"].items():
        file = _inside(target, path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return target


def _credentials(url: str, name: str, given: Path | None) -> dict[str, str]:
    if not name:
        return {}
    folder = _secret(given, name)
    return git_environment(url, name, {file.name for file in folder.iterdir()}, str(folder))


def _containerfile(order: Mapping[str, Any], folder: Path, context_folder: Path) -> Path:
    """The order's own, else the one of its commit."""
    if order.get("git") and order["git"].get("containerfile"):
        return _inside(context_folder, str(order["git"]["containerfile"]))
    written = folder / "Containerfile"
    written.write_text(order["containerfile"])
    return written


def _inside(folder: Path, path: str) -> Path:
    found = (folder / path).resolve()
    if not found.is_relative_to(folder.resolve()):
        raise InvalidInput("the order cannot be built", why=f"{path} lies outside of its context")
    return found


def _trust(
    auth_file: str | None, folder: Path, policy: RegistryPolicy
) -> tuple[list[str], dict[str, str]]:
    """Options and variables about whom to ask and trust, and as whom to log in; credentials stay in
    their file."""
    options = [] if policy.verify else ["--tls-verify=false"]
    if auth_file:
        options += ["--authfile", auth_file]
    variables = {}
    if authorities(policy):
        # Beside the programs' own settings, which an option would take the place of.
        (folder / "authorities").mkdir()
        (folder / "authorities" / "ca.crt").write_text(authorities(policy))
        variables["SSL_CERT_DIR"] = f"{SYSTEM_AUTHORITIES}:{folder / 'authorities'}"
    configuration = registries_conf(policy)
    if configuration != registries_conf(RegistryPolicy()):  # else the machine's own stays
        (folder / "registries.conf").write_text(configuration)
        variables["CONTAINERS_REGISTRIES_CONF"] = str(folder / "registries.conf")
    return options, variables


TASK = Task(ImageBuildRequest, run)
