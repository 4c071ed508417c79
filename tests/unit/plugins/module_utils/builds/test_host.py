# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What image_build asks of the program that builds, and what it makes of its end.

The program is another process, and only what crosses that edge is looked at here: a shell script
called buildah keeps its arguments and what it was given to build, and answers as it is told to. No
image comes of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.host import TASK
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import (
    GitSource,
    Inputs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import (
    BuildOrder,
    SecretNames,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from tests.unit.patience import PATIENCE_S

Obj = dict[str, Any]

DIGEST = f"sha256:{'ab' * 32}"
TARGET = "registry.example/kmod:6.1.0-abc"
INPUTS = Inputs(
    kernel="6.1.0",
    arch="arm64",
    containerfile="ARG BASE\nFROM ${BASE}\n",
    base="registry.example/base@sha256:1",
    args={"KERNEL": "6.1.0", "NOTE": "two words"},
    files={"Makefile": "all:\n", "src/kmod.c": "int x;\n"},
)
# Each call leaves a folder: its arguments, one a line, and copies of the files that it was given.
SCRIPT = """#!/bin/sh
here={folder}/calls/$1
mkdir -p "$here"
for argument in "$@"; do echo "$argument"; done > "$here/arguments"
before=
for argument in "$@"; do
  case "$before" in
    --file) cp "$argument" "$here/Containerfile" ;;
    --digestfile) echo {digest} > "$argument" ;;
  esac
  before="$argument"
done
if [ -n "$SSL_CERT_DIR" ]; then cp -r "${{SSL_CERT_DIR##*:}}" "$here/authorities"; fi
if [ -n "$CONTAINERS_REGISTRIES_CONF" ]; then cp "$CONTAINERS_REGISTRIES_CONF" "$here/registries.conf"; fi
if [ "$1" = build ]; then cp -r "$before" "$here/context"; fi
. {folder}/behaviour
"""


@dataclass
class Program:
    """A program in a folder, first on PATH."""

    folder: Path

    def behave(self, script: str) -> None:
        """What it does after it has kept what it was given; $1 is build or push."""
        (self.folder / "behaviour").write_text(script)

    def arguments(self, what: str) -> list[str]:
        """The arguments of its last call."""
        return (self.folder / "calls" / what / "arguments").read_text().splitlines()

    def kept(self, path: str) -> str:
        """What it was given."""
        return (self.folder / "calls" / path).read_text()


@pytest.fixture
def buildah(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """The program under the name of buildah."""
    program = Program(tmp_path)
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "buildah"
    script.write_text(SCRIPT.format(folder=tmp_path, digest=DIGEST))
    script.chmod(0o755)
    program.behave("exit 0")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return program


def order(inputs: Inputs = INPUTS) -> Obj:
    """What driver_container hands out."""
    return BuildOrder("build-a", "a", TARGET, inputs).to_dict()


def build(given: Obj | None = None, *, check_mode: bool = False, **params: Any) -> Obj:
    """Run the core of image_build."""
    defaults = {
        "order": given or order(),
        "program": "auto",
        "registry_verify": True,
        "timeout": 20,
    }
    return TASK.run({**defaults, **params}, RunContext(check_mode=check_mode))


def test_an_order_becomes_a_build_and_a_push(buildah: Program) -> None:
    assert build() == {"changed": True, "image": TARGET, "digest": DIGEST}
    arguments = buildah.arguments("build")
    assert arguments[:2] == ["build", "--file"]
    assert arguments[3:6] == ["--platform", "linux/arm64", "--build-arg"]
    pairs = list(pairwise(arguments))
    assert [value for flag, value in pairs if flag == "--build-arg"] == [
        "BASE=registry.example/base@sha256:1",
        "KERNEL=6.1.0",
        "NOTE=two words",
    ]
    labels = dict(value.split("=", 1) for flag, value in pairs if flag == "--label")
    assert labels == INPUTS.labels
    assert arguments[-3:-1] == ["--tag", TARGET]
    assert buildah.kept("build/Containerfile") == INPUTS.containerfile
    assert {path: buildah.kept(f"build/context/{path}") for path in INPUTS.files} == INPUTS.files
    pushed = buildah.arguments("push")
    assert pushed[:2] == ["push", "--digestfile"]
    assert pushed[-1] == TARGET
    # Nothing stays.
    assert not Path(arguments[-1]).exists()


def test_both_know_whom_to_trust_and_where_the_credentials_are(buildah: Program) -> None:
    build(registry_ca="PEM", auth_file="/etc/auth.json", registry_verify=False, isolation="chroot")
    for call in ("build", "push"):
        arguments = buildah.arguments(call)
        assert "--tls-verify=false" in arguments
        assert arguments[arguments.index("--authfile") + 1] == "/etc/auth.json"
        assert buildah.kept(f"{call}/authorities/ca.crt") == "PEM"
        assert not (buildah.folder / "calls" / call / "registries.conf").exists()
    arguments = buildah.arguments("build")
    assert arguments[arguments.index("--isolation") + 1] == "chroot"
    assert "--isolation" not in buildah.arguments("push")


def test_both_ask_and_push_to_where_the_mirrors_are(buildah: Program) -> None:
    mirror = {"prefix": "registry.example", "locations": ["m.test:5000"], "source": False}
    registry = {"host": "m.test:5000", "ca": "OWN", "verify": True, "plain_http": False}
    build(registry_ca="PEM", registry_mirrors=[mirror], registries=[registry])
    for call in ("build", "push"):
        assert "--tls-verify=false" not in buildah.arguments(call)
        assert buildah.kept(f"{call}/authorities/ca.crt") == "PEM\nOWN"
        assert 'location = "m.test:5000"' in buildah.kept(f"{call}/registries.conf")
    tag = buildah.arguments("build").index("--tag")
    assert (
        buildah.arguments("build")[tag + 1]
        == buildah.arguments("push")[-1]
        == "m.test:5000/kmod:6.1.0-abc"
    )


def test_check_mode_builds_nothing(buildah: Program) -> None:
    assert build(check_mode=True)["changed"]
    assert not (buildah.folder / "calls").exists()


def test_a_failure_ends_with_the_last_lines(buildah: Program) -> None:
    lines = "for number in $(seq 30); do echo \"line $number\"; done; echo 'no rule for kmod.o' >&2"
    buildah.behave(f"if [ $1 = build ]; then {lines}; exit 2; fi")
    with pytest.raises(
        EnablementError, match=r"the build failed .*: no rule for kmod\.o"
    ) as caught:
        build()
    assert TARGET in str(caught.value)
    log = caught.value.result["log"]
    assert (len(log), log[0], log[-1]) == (20, "line 12", "no rule for kmod.o")
    assert (caught.value.result["phase"], caught.value.result["reason"]) == ("compile", "Failed")
    assert not (buildah.folder / "calls" / "push").exists()
    buildah.behave("if [ $1 = push ]; then echo 'unauthorized'; exit 125; fi")
    with pytest.raises(
        EnablementError, match=r"what was built cannot be pushed .*: unauthorized; give credentials"
    ):
        build()
    buildah.behave(
        "if [ $1 = pull ]; then echo 'x509: certificate signed by unknown authority'; exit 125; fi"
    )
    with pytest.raises(
        EnablementError, match=r"the base image cannot be pulled .*: x509"
    ) as caught:
        build()
    assert (caught.value.result["phase"], caught.value.result["reason"]) == ("base", "NotTrusted")
    buildah.behave("exit 3")
    with pytest.raises(EnablementError, match="exit code 3"):
        build()


def test_secrets_are_files_of_the_steps_and_refused_by_name_where_they_are_not_there(
    buildah: Program, tmp_path: Path
) -> None:
    given = BuildOrder(
        "build-a", "a", TARGET, INPUTS, secrets=SecretNames(files={"license": "acme-license"})
    ).to_dict()
    for params in ({}, {"secrets_dir": str(tmp_path)}):
        with pytest.raises(
            InvalidInput, match="this machine has no files of Secret acme-license; put them into"
        ):
            build(given, **params)
    assert not (buildah.folder / "calls").exists()
    (tmp_path / "acme-license").mkdir()
    build(given, secrets_dir=str(tmp_path))
    arguments = buildah.arguments("build")
    volume = f"{tmp_path}/acme-license:/run/build-secrets/license:ro"
    assert arguments[arguments.index("--volume") + 1] == volume
    assert "acme-license" not in "".join(buildah.arguments("push"))


def test_what_takes_too_long_is_ended_with_all_that_it_started(buildah: Program) -> None:
    buildah.behave(f"sleep 600 & echo $! > {buildah.folder}/child; wait")
    began = time.monotonic()
    with pytest.raises(EnablementError, match="it took longer than 1 s"):
        build(timeout=1)
    assert time.monotonic() - began < 10
    child = Path(f"/proc/{(buildah.folder / 'child').read_text().strip()}/stat")
    deadline = time.monotonic() + PATIENCE_S
    while child.exists() and child.read_text().rpartition(")")[2].split()[0] != "Z":
        assert time.monotonic() < deadline


def test_a_git_context_is_the_folder_at_its_commit(buildah: Program, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "kmod").mkdir(parents=True)
    git = ["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for text in ("first\n", "second\n"):
        (source / "kmod" / "kmod.c").write_text(text)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", text], check=True)
    commit = subprocess.run(
        [*git, "rev-parse", "HEAD~1"], check=True, capture_output=True, text=True
    ).stdout.strip()
    inputs = Inputs("6.1.0", "amd64", "FROM scratch\n", git=GitSource(str(source), commit, "kmod"))
    build(order(inputs))
    assert buildah.kept("build/context/kmod.c") == "first\n"
    build(order(Inputs("6.1.0", "amd64", "", git=GitSource(str(source), commit, "kmod", "kmod.c"))))
    assert buildah.arguments("build")[2].endswith("/context/kmod/kmod.c")
    outside = Inputs(
        "6.1.0", "amd64", "", git=GitSource(str(source), commit, "kmod", "../../outside")
    )
    with pytest.raises(InvalidInput, match="lies outside of its context"):
        build(order(outside))
    gone = Inputs(
        "6.1.0", "amd64", "FROM scratch\n", git=GitSource(str(tmp_path / "nothing"), commit)
    )
    with pytest.raises(EnablementError, match=r"the sources cannot be fetched .*does not exist"):
        build(order(gone))


@pytest.mark.parametrize("path", ["../outside", "/etc/outside"])
def test_nothing_is_written_or_built_outside_of_the_context(buildah: Program, path: str) -> None:
    with pytest.raises(InvalidInput, match="lies outside of its context"):
        build({**order(), "files": {path: ""}})
    assert not (buildah.folder / "calls").exists()


@pytest.mark.usefixtures("buildah")
def test_what_is_no_order_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it has no containerfile, args, labels, files, arch"):
        build({"target": TARGET})


def test_without_a_program_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    with pytest.raises(EnablementError, match="it has no buildah and no podman"):
        build()
    with pytest.raises(EnablementError, match="it has no podman;"):
        build(program="podman")
