# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""runtime-hook: the list of what containers get, made into a CDI specification by a real shell on a node
that is a folder; and what its options change."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    OPENSHIFT_APIS,
    REPO,
    Render,
    renderer,
)

RECIPES = REPO / "recipes"
SPECIFY = RECIPES / "runtime-hook" / "program" / "specify.sh"
KIND = "hardware-enablement.io/acme"


class Node:
    """A node with files, and the specification that is made there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "cdi").mkdir()
        for name in ("dev/acme0", "usr/lib64/libacme.so.1", "usr/bin/acme-info", "opt/acme/a"):
            file = folder / "host" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def specify(self, *lines: str) -> tuple[int, str]:
        """Exit code and last line for a list."""
        inventory = self.folder / "inventory"
        inventory.write_text("# comment\n" + "".join(f"{line}\n" for line in lines))
        env = {"HOST": str(self.folder / "host"), "OUT": str(self.folder / "cdi"), "KIND": KIND}
        command = ["/bin/sh", str(SPECIFY), str(inventory)]
        done = subprocess.run(
            command,
            env={**env, "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.splitlines()[-1]

    @property
    def specification(self) -> dict[str, Any]:
        """As the container runtime reads it."""
        (file,) = [file for file in (self.folder / "cdi").iterdir() if file.suffix == ".json"]
        return dict(json.loads(file.read_text()))


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """With a device, a library, a program and a folder."""
    return Node(tmp_path)


@pytest.fixture(scope="module")
def runtime_hook() -> Render:
    """Renders the recipe."""
    return renderer(RECIPES / "runtime-hook")


def paths(mounts: Sequence[dict[str, Any]]) -> list[str]:
    """Where things are in a container, which is where they are on the node."""
    assert all(mount["hostPath"] == mount["containerPath"] for mount in mounts)
    assert all("ro" in mount["options"] for mount in mounts)
    return [mount["containerPath"] for mount in mounts]


def test_each_line_is_a_part_of_the_specification(node: Node) -> None:
    said = node.specify(
        "device /dev/acme0",
        "library libacme.so.1",
        "library? libabsent.so",
        "binary /usr/bin/acme-info",
        "directory /opt/acme",
        "variable ACME_MODE=fast",
        "variable LD_PRELOAD=@libacme.so.1",
    )
    assert said[0] == 0, said
    made = node.specification
    assert (made["kind"], [each["name"] for each in made["devices"]]) == (KIND, ["all"])
    edits = made["containerEdits"]
    assert edits["deviceNodes"] == [{"path": "/dev/acme0"}]
    assert paths(edits["mounts"]) == ["/usr/lib64/libacme.so.1", "/usr/bin/acme-info", "/opt/acme"]
    assert edits["env"] == ["ACME_MODE=fast", "LD_PRELOAD=/usr/lib64/libacme.so.1"]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["device /dev/acme1"], "the node has no device /dev/acme1: is the driver installed"),
        (["library libother.so"], "the node has no library libother.so"),
        (["variable LD_PRELOAD=@libother.so"], "the node has no library libother.so"),
        (["variable LD_PRELOAD"], "expected NAME=VALUE"),
        (["device acme0"], "expected an absolute path"),
        (["file /etc/acme"], "expected device, library, binary, directory or variable"),
        (['variable A="b'], "are allowed here"),
        (["directory /opt/../etc"], "and no .."),
        (["library? libabsent.so"], "there is nothing to give to containers"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    node: Node, lines: list[str], says: str
) -> None:
    code, said = node.specify(*lines)
    assert code == 1
    assert says in said
    assert list((node.folder / "cdi").iterdir()) == []


def test_without_the_injector_there_is_the_specification_alone(runtime_hook: Render) -> None:
    rendering = runtime_hook(injector_enabled=False, inventory=["device /dev/acme0"])
    assert {item["metadata"]["name"] for item in rendering.objects("DaemonSet")} == {"hook"}
    assert not rendering.objects("ValidatingAdmissionPolicy")
    assert not list(rendering.validation_pods())


def test_another_list_starts_the_hook_anew(runtime_hook: Render) -> None:
    def template(*lines: str) -> str:
        return str(runtime_hook(inventory=list(lines)).one("DaemonSet", "hook")["spec"]["template"])

    assert template("device /dev/a") != template("device /dev/b")


def test_nothing_is_privileged_and_openshift_is_told(runtime_hook: Render) -> None:
    rendering = runtime_hook(platform="openshift", apis=OPENSHIFT_APIS)
    constraints = rendering.objects("SecurityContextConstraints")
    accounts = {user for item in constraints for user in item["users"]}
    assert accounts == {
        "system:serviceaccount:runtime-hook:hook",
        "system:serviceaccount:runtime-hook:injector",
    }
    assert not any(item["allowPrivilegedContainer"] for item in constraints)
    for _state, spec in rendering.pod_specs():
        for container in spec["containers"]:
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}


def test_onload_is_this_recipe_with_a_list_and_nodes_of_its_own() -> None:
    onload, base = (
        load(read_bundle(RECIPES / name, RECIPES), name) for name in ("onload", "runtime-hook")
    )
    assert onload.states == base.states
    assert onload.namespace == "onload"
    assert "variable LD_PRELOAD=@libonload.so" in onload.options["inventory"].default
