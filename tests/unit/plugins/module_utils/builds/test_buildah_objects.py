# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build by a Job with buildah."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.builds.builders import buildah_objects
from ansible_collections.hardware.enablement.plugins.module_utils.builds.inputs import GitSource, Inputs
from ansible_collections.hardware.enablement.plugins.module_utils.builds.model import Order
from ansible_collections.hardware.enablement.plugins.module_utils.builds.settings import BuildSettings
from ansible_collections.hardware.enablement.plugins.module_utils.errors import InvalidInput

INPUTS = Inputs(
    kernel="6.1.0+deb",
    arch="arm64",
    containerfile="FROM scratch\n",
    args={"B": "2", "A": "1"},
    files={"src/kmod.c": "int x;"},
)
ORDER = Order("build-6-1-0-aaaaaa-0123456789", "6-1-0-aaaaaa", "registry.example/kmod:6.1.0", INPUTS)
SETTINGS = BuildSettings(
    "kmod", "driver_container", "kmod", image="builder:1", push_secret="push", pull_secrets=("pull",), ca="PEM"
)


def test_the_context_lies_where_the_containerfile_expects_it() -> None:
    context, job = buildah_objects.context_object(ORDER, SETTINGS), buildah_objects.job_object(ORDER, SETTINGS)
    assert context["data"] == {"Containerfile": "FROM scratch\n", "file-0": "int x;", "ca.crt": "PEM"}
    volume = job["spec"]["template"]["spec"]["volumes"][0]
    assert volume["configMap"] == {
        "name": ORDER.name,
        "items": [{"key": "Containerfile", "path": "Containerfile"}, {"key": "file-0", "path": "files/src/kmod.c"}],
    }


def test_a_context_that_no_configmap_holds_is_refused() -> None:
    order = Order("b", "g", "t", Inputs("6.1.0", "amd64", "FROM scratch\n", files={"big": "x" * 1_000_000}))
    with pytest.raises(InvalidInput, match="put the sources into a git repository"):
        buildah_objects.context_object(order, SETTINGS)


def test_arguments_and_labels_are_the_same_for_the_same_inputs() -> None:
    pod = buildah_objects.job_object(ORDER, SETTINGS)["spec"]["template"]["spec"]
    options = pod["containers"][0]["command"][4:]
    assert options[:4] == ["--build-arg", "A=1", "--build-arg", "B=2"]
    assert f"hardware-enablement.io/inputs={INPUTS.hash}" in options
    assert "hardware-enablement.io/kernel=6.1.0+deb" in options


def test_secrets_are_mounted_and_nowhere_else() -> None:
    job = buildah_objects.job_object(ORDER, SETTINGS)
    pod = job["spec"]["template"]["spec"]
    assert [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume] == ["push"]
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["automountServiceAccountToken"] is False
    assert "secretKeyRef" not in json.dumps(job)


def test_it_builds_on_the_kernels_architecture() -> None:
    assert buildah_objects.job_object(ORDER, SETTINGS)["spec"]["template"]["spec"]["nodeSelector"] == {
        "kubernetes.io/arch": "arm64"
    }


def test_a_build_that_failed_is_not_tried_again_but_one_that_lost_its_node_is() -> None:
    spec = buildah_objects.job_object(ORDER, SETTINGS)["spec"]
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == ["Ignore", "FailJob"]
    assert spec["activeDeadlineSeconds"] == 1800
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_git_is_pinned() -> None:
    inputs = Inputs("6.1.0", "amd64", "FROM scratch\n", git=GitSource("https://git.example/x", "a" * 40, "kmod"))
    job = buildah_objects.job_object(Order("b", "g", "t", inputs), SETTINGS)
    environment = {entry["name"]: entry["value"] for entry in job["spec"]["template"]["spec"]["containers"][0]["env"]}
    assert (environment["GIT_URL"], environment["GIT_COMMIT"], environment["GIT_FOLDER"]) == (
        "https://git.example/x",
        "a" * 40,
        "kmod",
    )
    assert environment["GIT_CONTAINERFILE"] == ""


def test_a_containerfile_of_the_repository_is_built_where_it_lies() -> None:
    inputs = Inputs("6.1.0", "amd64", "", git=GitSource("https://git.example/x", "a" * 40, "kmod", "Dockerfile"))
    job = buildah_objects.job_object(Order("b", "g", "t", inputs), SETTINGS)
    (build,) = job["spec"]["template"]["spec"]["containers"]
    environment = {entry["name"]: entry["value"] for entry in build["env"]}
    assert environment["GIT_CONTAINERFILE"] == "Dockerfile"
    assert 'buildah build --file "${GIT_CONTAINERFILE:-/context/Containerfile}" ' in build["command"][2]
