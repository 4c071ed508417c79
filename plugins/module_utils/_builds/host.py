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
from pathlib import Path
from typing import Any

from .._errors import EnablementError, InvalidInput
from .._json import Obj
from .._registry.image_names import parse
from .._registry.policy import RegistryPolicy
from .._registry.registries_conf import SYSTEM_AUTHORITIES, authorities, registries_conf
from .._runs.context import RunContext
from .._runs.task import Task
from .builders.secret_mounts import mounted
from .failures import MISSING, TIMED_OUT, BuildFailure, BuildPhase, classify, failure
from .git import QUIET
from .git_credentials import git_environment
from .orders import SecretNames
from .registry_policy import given_policy

LOG_LINES = 20
_PROGRAMS = ("buildah", "podman")
_KEYS = ("target", "containerfile", "args", "labels", "files", "arch")


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Build and push; the digest is that of what was pushed."""
    order = params["order"]
    missing = [key for key in _KEYS if key not in order]
    if missing:
        raise InvalidInput(
            "the order cannot be built",
            why=f"it has no {', '.join(missing)}",
            todo="pass an entry of the result orders of driver_container",
        )
    policy = given_policy(params)
    program = _program(params["program"])
    platform = ["--platform", f"linux/{order['arch']}"]
    if context.check_mode:
        return {"changed": True, "image": order["target"], "digest": ""}
    given = Path(params["secrets_dir"]) if params.get("secrets_dir") else None
    volumes = [
        f"{_secret(given, name)}:{folder}:ro"
        for folder, name in mounted(_secret_names(order)).items()
    ]
    with _workspace() as folder:
        context_folder = _write_context(order, folder, float(params["timeout"]), given)
        containerfile = _containerfile(order, folder, context_folder)
        trust, variables = _trust(params, folder, policy)
        place, timeout = str(policy.push_place(parse(order["target"]))), float(params["timeout"])
        if order.get("base"):
            _run(
                [program, "pull", "--quiet", *platform, *trust, order["base"]],
                BuildPhase.BASE,
                place,
                timeout,
                variables,
            )
        build = [program, "build", "--file", str(containerfile), *platform, *trust]
        if params.get("isolation"):
            build += ["--isolation", str(params["isolation"])]
        for flag, values in (("--build-arg", order["args"]), ("--label", order["labels"])):
            for name, value in sorted(values.items()):
                build += [flag, f"{name}={value}"]
        for volume in volumes:
            build += ["--volume", volume]
        _run(
            [*build, "--tag", place, str(context_folder)],
            BuildPhase.COMPILE,
            place,
            timeout,
            variables,
        )
        digest = folder / "digest"
        push = [program, "push", *trust, "--digestfile", str(digest), place]
        _run(push, BuildPhase.PUSH, place, timeout, variables)
        return {"changed": True, "image": order["target"], "digest": digest.read_text().strip()}


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
    return SecretNames(**(order.get("secrets") or {}))


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
        for command in (
            ["git", "clone", "--quiet", "--no-checkout", "--", git["url"], str(target)],
            ["git", "-C", str(target), "checkout", "--quiet", git["commit"]],
        ):
            _run(command, BuildPhase.SOURCES, git["url"], timeout, variables)
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
    params: Mapping[str, Any], folder: Path, policy: RegistryPolicy
) -> tuple[list[str], dict[str, str]]:
    """Options and variables about whom to ask and trust, and as whom to log in; credentials stay in
    their file."""
    options = [] if policy.verify else ["--tls-verify=false"]
    if params.get("auth_file"):
        options += ["--authfile", str(params["auth_file"])]
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


def _run(
    command: Sequence[str],
    step: BuildPhase,
    where: str,
    timeout: float,
    variables: Mapping[str, str],
) -> None:
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
            env={**os.environ, **QUIET, **variables},
        )
    except FileNotFoundError:
        raise _error(failure(step, MISSING, f"{command[0]} is missing"), where, []) from None
    with process:
        try:
            output, _nothing = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            raise _error(
                failure(step, TIMED_OUT, f"it took longer than {timeout:.0f} s"), where, []
            ) from None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        log = [line for line in (line.strip() for line in output.splitlines()) if line][-LOG_LINES:]
        raise _error(classify(step, log, f"exit code {process.returncode}"), where, log)


def _error(found: BuildFailure, where: str, log: Sequence[str]) -> EnablementError:
    what, _colon, why = found.text.partition(": ")
    error = EnablementError(what, where=where, why=why, todo=found.advice)
    error.result.update(log=list(log), phase=found.phase.value, reason=found.reason)
    return error


TASK = Task(None, run)
