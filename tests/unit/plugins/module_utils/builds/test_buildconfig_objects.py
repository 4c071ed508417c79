# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build on OpenShift, and what references mean there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders import (
    buildconfig_objects as objects,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import (
    GitSource,
    Inputs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import (
    BuildOrder,
    SecretNames,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.settings import (
    BuildScope,
    BuildSettings,
    PodSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.streams import (
    StreamTag,
    is_internal,
    stream_tag,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.system import coreos_build
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    RegistryPolicy,
    Trust,
)

INTERNAL = "image-registry.openshift-image-registry.svc:5000"
INPUTS = Inputs(
    "6.1.0", "arm64", "FROM scratch\n", files={"Makefile": "all:", "src/a.c": "1", "src/b.c": "2"}
)
ORDER = BuildOrder("build-a", "a", "registry.example/kmod:1", INPUTS)
SETTINGS = BuildSettings(
    BuildScope("kmod", "driver_container", "kmod"),
    PodSettings(pull_secrets=("pull", "other")),
    push_secret="push",
)


def spec(
    order: BuildOrder = ORDER,
    settings: BuildSettings = SETTINGS,
    policy: RegistryPolicy | None = None,
) -> dict[str, Any]:
    """The BuildConfig's specification."""
    found: dict[str, Any] = objects.build_config(order, settings, policy or RegistryPolicy())[
        "spec"
    ]
    return found


def test_each_folder_of_the_context_is_a_configmap_and_lies_where_it_was() -> None:
    maps = {
        item["metadata"]["name"]: item["data"] for item in objects.context_objects(ORDER, SETTINGS)
    }
    assert maps == {"build-a-0": {"Makefile": "all:"}, "build-a-1": {"a.c": "1", "b.c": "2"}}
    folders = {
        item["configMap"]["name"]: item["destinationDir"] for item in spec()["source"]["configMaps"]
    }
    assert folders == {"build-a-0": "", "build-a-1": "src"}


def test_git_is_pinned_and_fetched_through_the_proxy() -> None:
    inputs = Inputs(
        "6.1.0", "amd64", "FROM scratch\n", git=GitSource("https://git.example/x", "a" * 40, "kmod")
    )
    settings = replace(SETTINGS, proxy={"HTTPS_PROXY": "http://proxy.test:1", "NO_PROXY": "a,b"})
    source = spec(replace(ORDER, inputs=inputs), settings)["source"]
    assert source["git"] == {
        "uri": "https://git.example/x",
        "ref": "a" * 40,
        "httpsProxy": "http://proxy.test:1",
        "noProxy": "a,b",
    }
    assert (source["contextDir"], source["dockerfile"]) == ("kmod", "FROM scratch\n")


def test_secrets_go_to_git_and_to_the_steps_and_into_no_layer() -> None:
    git = GitSource("https://git.example/x", "a" * 40)
    secrets = SecretNames("git-login", ["password"], {"license": "acme-license"})
    found = spec(replace(ORDER, inputs=replace(INPUTS, git=git), secrets=secrets))
    assert found["source"]["sourceSecret"] == {"name": "git-login"}
    # What source.secrets names, a COPY would put into the image.
    assert "secrets" not in found["source"]
    (volume,) = found["strategy"]["dockerStrategy"]["volumes"]
    assert volume["mounts"] == [{"destinationPath": "/run/build-secrets/license"}]
    assert volume["source"] == {"type": "Secret", "secret": {"secretName": "acme-license"}}


def test_a_dockerfile_of_the_repository_is_named() -> None:
    inputs = Inputs(
        "6.1.0",
        "amd64",
        "",
        git=GitSource("https://git.example/x", "a" * 40, "kmod", "Dockerfile.kmod"),
    )
    found = spec(replace(ORDER, inputs=inputs))
    assert "dockerfile" not in found["source"]
    # Relative to contextDir (openshift/api, build/v1/types.go: DockerBuildStrategy).
    assert found["strategy"]["dockerStrategy"]["dockerfilePath"] == "Dockerfile.kmod"
    assert "dockerfilePath" not in spec()["strategy"]["dockerStrategy"]


@pytest.mark.parametrize(
    ("push", "pull", "used"), [("push", ("pull",), "push"), ("", ("pull", "b"), "pull")]
)
def test_one_secret_pulls(push: str, pull: tuple[str, ...], used: str) -> None:
    settings = replace(SETTINGS, push_secret=push, pods=PodSettings(pull_secrets=pull))
    docker = spec(settings=settings)["strategy"]["dockerStrategy"]
    assert docker["pullSecret"] == {"name": used}


def test_without_secrets_none_is_named() -> None:
    found = spec(settings=replace(SETTINGS, push_secret="", pods=PodSettings()))
    assert "pullSecret" not in found["strategy"]["dockerStrategy"]
    assert "pushSecret" not in found["output"]


def test_what_goes_to_the_internal_registry_goes_to_an_image_stream() -> None:
    order = replace(ORDER, target=f"{INTERNAL}/drivers/kmod:6.1.0")
    output = spec(order)["output"]
    assert output["to"] == {"kind": "ImageStreamTag", "name": "kmod:6.1.0", "namespace": "drivers"}
    # The builder's own account may push there, and a secret for another registry would be in its
    # way.
    assert "pushSecret" not in output
    stream = objects.image_stream(order) or {}
    assert stream["metadata"] == {"name": "kmod", "namespace": "drivers"}
    assert objects.image_stream(ORDER) is None
    assert spec()["output"]["to"] == {"kind": "DockerImage", "name": ORDER.target}


def test_references_of_image_streams() -> None:
    assert stream_tag(f"{INTERNAL}/a/b:c") == StreamTag("a", "b", "c")
    assert stream_tag("quay.example/org/a/b").name == "b:latest"
    for reference, why in (
        ("quay.example/b:c", "no namespace"),
        (f"{INTERNAL}/a/b@sha256:{'1' * 64}", "a digest"),
    ):
        with pytest.raises(EnablementError, match=why):
            stream_tag(reference)
    assert is_internal(f"{INTERNAL}/a/b:c")
    assert is_internal("image-registry.openshift-image-registry.svc.cluster.local:5000/a/b")
    assert not is_internal("default-route-openshift-image-registry.apps.example/a/b")


def test_the_release_of_a_node() -> None:
    assert coreos_build("Red Hat Enterprise Linux CoreOS 9.6.20250805-0 (Plow)") == "9.6.20250805-0"
    assert (
        coreos_build("Red Hat Enterprise Linux CoreOS 416.94.202410211619-0")
        == "416.94.202410211619-0"
    )
    assert coreos_build("Red Hat Enterprise Linux 9.6 (Plow)") == ""


def test_it_is_pushed_to_where_the_policy_says() -> None:
    policy = RegistryPolicy(mirrors=[RegistryMirror("registry.example", ["m.test"], source=False)])
    order = replace(ORDER, target="registry.example/kmod:1")
    assert spec(order, policy=policy)["output"]["to"]["name"] == "m.test/kmod:1"


def test_what_only_the_cluster_can_say_to_its_builds_is_named() -> None:
    order = replace(
        ORDER, target="r.test/kmod:1", inputs=replace(ORDER.inputs, base="quay.io/base:1")
    )
    mirror, trust = RegistryMirror("quay.io", ["m.test"]), Trust("r.test", verify=False)
    policy = RegistryPolicy(mirrors=[mirror], trusts=[trust, Trust("other.test", ca="PEM")])
    mirrors, trusts = objects.not_carried(policy, [order, order])
    assert "do not know the given mirrors of quay.io: make an ImageDigestMirrorSet" in mirrors
    assert "trusted (r.test): name them in additionalTrustedCA" in trusts
    known = RegistryPolicy(
        mirrors=[replace(mirror, of_cluster=True)], trusts=[replace(trust, of_cluster=True)]
    )
    assert objects.not_carried(known, [order]) == []
