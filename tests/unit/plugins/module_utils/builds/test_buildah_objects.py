# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a build by a Job with buildah."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders import (
    buildah_objects,
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
    BuildahSettings,
    BuildScope,
    BuildSettings,
    PodSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.account import (
    Credentials,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryMirror,
    RegistryPolicy,
    Trust,
)

INPUTS = Inputs(
    kernel="6.1.0+deb",
    arch="arm64",
    containerfile="FROM scratch\n",
    args={"B": "2", "A": "1"},
    files={"src/kmod.c": "int x;"},
)
ORDER = BuildOrder(
    "build-6-1-0-aaaaaa-0123456789", "6-1-0-aaaaaa", "registry.example/kmod:6.1.0", INPUTS
)
SETTINGS = BuildSettings(
    BuildScope("kmod", "driver_container", "kmod"),
    PodSettings(pull_secrets=("pull",)),
    buildah=BuildahSettings(image="builder:1"),
    push_secret="push",
)
DIGEST = f"sha256:{'0a' * 32}"
ACCOUNT = Credentials("me", "secret-of-me")
POLICY = RegistryPolicy(
    ca="PEM",
    keyring=Keyring([("registry.example", ACCOUNT)]),
    mirrors=[RegistryMirror("quay.io", ["m.test:5000/q"], source=False)],
    trusts=[Trust("m.test:5000", ca="OWN")],
)


def job_object(order: BuildOrder, *, apparmor_field: bool = True, **buildah: Any) -> dict[str, Any]:
    """The Job, as the policy wants it."""
    return buildah_objects.job_object(
        order,
        replace(SETTINGS, buildah=replace(SETTINGS.buildah, **buildah)),
        POLICY,
        apparmor_field=apparmor_field,
    )


def environment_of(job: dict[str, Any]) -> dict[str, str]:
    """The variables of the container that builds."""
    (build,) = job["spec"]["template"]["spec"]["containers"]
    return {entry["name"]: entry["value"] for entry in build["env"]}


def test_the_context_lies_where_the_containerfile_expects_it() -> None:
    context, job = buildah_objects.context_object(ORDER, SETTINGS, POLICY), job_object(ORDER)
    volume = job["spec"]["template"]["spec"]["volumes"][0]["configMap"]
    assert volume["name"] == ORDER.name
    files = {item["path"]: context["data"][item["key"]] for item in volume["items"]}
    assert len(files) == len(context["data"])
    assert {
        path: files[path] for path in ("Containerfile", "files/src/kmod.c", "authorities/ca.crt")
    } == {
        "Containerfile": "FROM scratch\n",
        "files/src/kmod.c": "int x;",
        "authorities/ca.crt": "PEM",
    }
    assert files["certs.d/m.test:5000/ca.crt"] == "OWN"
    assert 'location = "m.test:5000/q"' in files["registries.conf"]


def test_a_context_that_no_configmap_holds_is_refused() -> None:
    order = BuildOrder(
        "b", "g", "t", Inputs("6.1.0", "amd64", "FROM scratch\n", files={"big": "x" * 1_000_000})
    )
    with pytest.raises(InvalidInput, match="put the sources into a git repository"):
        buildah_objects.context_object(order, SETTINGS, POLICY)


def test_arguments_and_labels_are_the_same_for_the_same_inputs() -> None:
    pod = job_object(ORDER)["spec"]["template"]["spec"]
    options = pod["containers"][0]["command"][4:]
    assert options[:4] == ["--build-arg", "A=1", "--build-arg", "B=2"]
    assert f"hardware-enablement.io/inputs={INPUTS.hash}" in options
    assert "hardware-enablement.io/kernel=6.1.0+deb" in options


def test_secrets_are_mounted_and_nowhere_else() -> None:
    job = job_object(ORDER)
    pod = job["spec"]["template"]["spec"]
    assert [volume["secret"]["secretName"] for volume in pod["volumes"] if "secret" in volume] == [
        ORDER.name
    ]
    context, secret = (
        make(ORDER, SETTINGS, POLICY)
        for make in (buildah_objects.context_object, buildah_objects.secret_object)
    )
    assert secret is not None
    assert not any(text in json.dumps([job, context]) for text in ACCOUNT.secrets)
    auths = json.loads(base64.b64decode(secret["data"]["auth.json"]))["auths"]
    assert auths == {"registry.example/kmod": ACCOUNT.entry}
    assert buildah_objects.secret_object(ORDER, SETTINGS, RegistryPolicy()) is None
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    assert pod["automountServiceAccountToken"] is False
    assert "secretKeyRef" not in json.dumps(job)


def test_secrets_of_a_build_are_files_of_its_steps_and_of_git_alone() -> None:
    git = GitSource("git@git.example:driver.git", "a" * 40)
    secrets = SecretNames(
        "git-login", ["known_hosts", "ssh-privatekey"], {"license": "acme-license"}
    )
    order = replace(ORDER, inputs=replace(INPUTS, git=git), secrets=secrets)
    pod = job_object(order)["spec"]["template"]["spec"]
    (build,) = pod["containers"]
    named = {volume["name"]: volume["secret"] for volume in pod["volumes"] if "secret" in volume}
    folders = {
        mount["mountPath"]: named[mount["name"]]
        for mount in build["volumeMounts"]
        if mount["name"] in named
    }
    assert {folder: secret["secretName"] for folder, secret in folders.items()} == {
        "/auth": order.name,
        "/run/build-secrets/license": "acme-license",
        "/run/git-secret": "git-login",
    }
    # ssh takes no other.
    assert folders["/run/git-secret"]["defaultMode"] == 0o400
    command = build["command"]
    volume = command[command.index("--volume") + 1]
    assert volume == "/run/build-secrets/license:/run/build-secrets/license:ro"
    (login,) = [entry["value"] for entry in build["env"] if entry["name"] == "GIT_SSH_COMMAND"]
    assert "-i /run/git-secret/ssh-privatekey" in login
    # No secret is an input.
    assert order.inputs.hash == replace(order, secrets=SecretNames()).inputs.hash


def test_it_builds_on_the_kernels_architecture() -> None:
    assert job_object(ORDER)["spec"]["template"]["spec"]["nodeSelector"] == {
        "kubernetes.io/arch": "arm64"
    }


def test_a_build_that_failed_is_not_tried_again_but_one_that_lost_its_node_is() -> None:
    spec = job_object(ORDER)["spec"]
    assert [rule["action"] for rule in spec["podFailurePolicy"]["rules"]] == ["Ignore", "FailJob"]
    assert spec["activeDeadlineSeconds"] == 1800
    assert spec["template"]["spec"]["restartPolicy"] == "Never"


def test_git_is_pinned() -> None:
    inputs = Inputs(
        "6.1.0", "amd64", "FROM scratch\n", git=GitSource("https://git.example/x", "a" * 40, "kmod")
    )
    job = job_object(BuildOrder("b", "g", "t", inputs))
    environment = environment_of(job)
    assert (environment["GIT_URL"], environment["GIT_COMMIT"], environment["GIT_FOLDER"]) == (
        "https://git.example/x",
        "a" * 40,
        "kmod",
    )
    assert environment["GIT_CONTAINERFILE"] == ""


def test_a_containerfile_of_the_repository_is_built_where_it_lies() -> None:
    inputs = Inputs(
        "6.1.0", "amd64", "", git=GitSource("https://git.example/x", "a" * 40, "kmod", "Dockerfile")
    )
    job = job_object(BuildOrder("b", "g", "t", inputs))
    (build,) = job["spec"]["template"]["spec"]["containers"]
    assert environment_of(job)["GIT_CONTAINERFILE"] == "Dockerfile"
    assert (
        'buildah build --file "${GIT_CONTAINERFILE:-/context/Containerfile}" '
        in build["command"][2]
    )


def test_it_is_pushed_to_where_the_policy_says() -> None:
    order = replace(ORDER, target="quay.io/kmod:1")
    assert environment_of(job_object(order))["TARGET"] == "m.test:5000/q/kmod:1"
    assert environment_of(job_object(ORDER))["TARGET"] == ORDER.target
    unverified = replace(POLICY, verify=False)
    job = buildah_objects.job_object(ORDER, SETTINGS, unverified, apparmor_field=True)
    assert environment_of(job)["VERIFY"] == "--tls-verify=false"


@pytest.mark.parametrize(
    ("given", "field", "annotation"),
    [
        ("Unconfined", {"type": "Unconfined"}, "unconfined"),
        ("RuntimeDefault", {"type": "RuntimeDefault"}, "runtime/default"),
        (
            "Localhost/buildah",
            {"type": "Localhost", "localhostProfile": "buildah"},
            "localhost/buildah",
        ),
    ],
)
def test_apparmors_profile_is_a_field_or_of_old_an_annotation(
    given: str, field: dict[str, str], annotation: str
) -> None:
    new = job_object(ORDER, apparmor=given)["spec"]["template"]
    assert new["spec"]["containers"][0]["securityContext"]["appArmorProfile"] == field
    assert "annotations" not in new["metadata"]
    old = job_object(ORDER, apparmor=given, apparmor_field=False)["spec"]["template"]
    assert "appArmorProfile" not in old["spec"]["containers"][0]["securityContext"]
    assert list(old["metadata"]["annotations"].items()) == [
        ("container.apparmor.security.beta.kubernetes.io/build", annotation)
    ]


def test_only_what_buildah_needs_is_allowed() -> None:
    pod = job_object(ORDER)["spec"]["template"]["spec"]
    assert pod["containers"][0]["securityContext"] == {
        "runAsUser": 0,
        "seccompProfile": {"type": "Unconfined"},
        "appArmorProfile": {"type": "Unconfined"},
    }
    more = job_object(ORDER, capabilities=("SYS_ADMIN",), seccomp="Localhost/b.json")["spec"][
        "template"
    ]["spec"]
    context = more["containers"][0]["securityContext"]
    assert context["capabilities"] == {"add": ["SYS_ADMIN"]}
    assert context["seccompProfile"] == {"type": "Localhost", "localhostProfile": "b.json"}
