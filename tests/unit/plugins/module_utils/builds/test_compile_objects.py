# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build by an ordinary pod, and for whom there is none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders import (
    compile_objects,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders.restricted import (
    compilable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import (
    GitSource,
    Inputs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import BuildOrder
from ansible_collections.hardware.enablement.plugins.module_utils._builds.settings import (
    BuildSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Compile,
)

COMPILE = Compile('make NAME="a b"', "out", "/opt/modules")
INPUTS = Inputs(
    kernel="6.1.0",
    arch="arm64",
    containerfile="FROM scratch\n",
    base="registry.example/base@sha256:aa",
    base_digest="sha256:aa",
    args={"KERNEL": "6.1.0"},
    files={"src/kmod.c": "int x;"},
    compile=COMPILE,
)
ORDER = BuildOrder(
    "build-6-1-0-aaaaaa-0123456789", "6-1-0-aaaaaa", "registry.example/kmod:6.1.0", INPUTS
)
SETTINGS = BuildSettings(
    "kmod",
    "driver_container",
    "builds",
    image="builder:1",
    push_secret="push",
    pull_secrets=("pull",),
)


def pod(settings: BuildSettings = SETTINGS, order: BuildOrder = ORDER) -> dict[str, Any]:
    """The pod's specification."""
    found: dict[str, Any] = compile_objects.job_object(order, settings, COMPILE)["spec"][
        "template"
    ]["spec"]
    return found


def test_the_pod_is_as_restricted_namespaces_want_it() -> None:
    found = pod()
    assert found["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 65534,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    for container in (*found["initContainers"], *found["containers"]):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["image"] == INPUTS.base
    # OpenShift gives a user itself, and refuses others.
    assert "runAsUser" not in pod(replace(SETTINGS, user=None))["securityContext"]


def test_no_secret_is_in_reach_of_the_pod() -> None:
    found = pod()
    assert found["automountServiceAccountToken"] is False
    assert {key for volume in found["volumes"] for key in volume} == {
        "name",
        "configMap",
        "emptyDir",
    }
    assert "push" not in json.dumps(found)
    assert found["imagePullSecrets"] == [{"name": "pull"}]


def test_command_and_context_are_read_and_arguments_are_its_environment() -> None:
    context = compile_objects.context_object(ORDER, SETTINGS, COMPILE)
    assert context["data"] == {"compile": 'make NAME="a b"\n', "file-0": "int x;"}
    items = pod()["volumes"][0]["configMap"]["items"]
    assert items == [
        {"key": "compile", "path": "compile"},
        {"key": "file-0", "path": "files/src/kmod.c"},
    ]
    (build,) = pod()["initContainers"]
    environment = {entry["name"]: entry["value"] for entry in build["env"]}
    assert (environment["KERNEL"], environment["BASE"], environment["OUTPUT"]) == (
        "6.1.0",
        INPUTS.base,
        "out",
    )


def test_a_git_context_is_fetched_at_its_commit() -> None:
    inputs = replace(INPUTS, files={}, git=GitSource("https://git.example/x", "a" * 40, "kmod"))
    (build,) = pod(order=replace(ORDER, inputs=inputs))["initContainers"]
    environment = {entry["name"]: entry["value"] for entry in build["env"]}
    assert (environment["GIT_COMMIT"], environment["GIT_FOLDER"]) == ("a" * 40, "kmod")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"compile": None}, r"the recipe has no build\.compile"),
        (
            {"compile": replace(COMPILE, unsupported="packages are installed")},
            "packages are installed",
        ),
        ({"base": ""}, "no base image to compile in"),
    ],
)
def test_who_cannot_be_built_by_compiling_is_refused(change: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidInput, match=f"{why}.*; set builder to"):
        compilable(replace(ORDER, inputs=replace(INPUTS, **change)))
    assert compilable(ORDER) is COMPILE
