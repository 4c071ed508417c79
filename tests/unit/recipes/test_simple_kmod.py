# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recipes/simple-kmod builds, and from what."""

from __future__ import annotations

import gzip
import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.wanted import BuildInputs
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.building import (
    RenderedBuild,
    render_build,
    stage_images,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import (
    GROUPS,
    REPO,
    group_of,
    renderer,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import container, host_paths

KERNEL = "6.1.0-40-amd64"
# No Secret is named, so none is asked for.
NO_SECRETS: Any = None


@pytest.fixture(name="kmod", scope="module")
def _kmod() -> Any:
    """Renders recipes/simple-kmod."""
    return renderer(REPO / "recipes" / "simple-kmod")


def wanted(rendering: Any) -> Any:
    """What a kernel wants, where no base image is there."""
    state = rendering.recipe.states["driver_container"]
    return BuildInputs(
        rendering.recipe, state, rendering.facts, lambda _reference, _group: None, NO_SECRETS
    ).of(GROUPS[0])


@pytest.mark.parametrize(("build", "said"), [(True, "what it lacks"), (False, "turn build on")])
def test_a_kernel_without_an_image_is_told_what_can_be_done(
    kmod: Any, build: bool, said: str
) -> None:
    todo = wanted(kmod(repository="registry.example/kmod", build=build)).todo
    assert "prebuilt_repository" in todo
    assert said in todo


def build_of(
    rendering: Any, kernel: str, os_id: str, os_version: str, arch: str = "amd64"
) -> RenderedBuild:
    """How the image of a kernel is built."""
    state = rendering.recipe.states["driver_container"]
    build = render_build(
        rendering.recipe,
        state,
        rendering.facts,
        group_of("g", kernel, os_id=os_id, os_version=os_version, arch=arch),
    )
    assert build is not None
    return build


@pytest.mark.parametrize(
    ("os_id", "os_version", "base"),
    [
        ("ubuntu", "24.04", "docker.io/library/ubuntu:24.04"),
        ("debian", "12", "docker.io/library/debian:12"),
        ("fedora", "44", "docker.io/library/fedora:44"),
        ("almalinux", "9.6", "docker.io/library/almalinux:9.6"),
        ("rocky", "9.6", "docker.io/rockylinux/rockylinux:9.6"),
        ("centos", "9", "quay.io/centos/centos:stream9"),
        ("rhel", "9.6", "registry.access.redhat.com/ubi9/ubi:9.6"),
    ],
)
def test_packages_come_into_the_distributions_own_image(
    kmod: Any, os_id: str, os_version: str, base: str
) -> None:
    rendering = kmod(repository="registry.example/kmod")
    assert build_of(rendering, "6.1.0-40-amd64", os_id, os_version).base == base


@pytest.mark.parametrize(
    ("os_id", "kernel", "backports"),
    [
        ("debian", "6.1.0-53-rt-amd64", False),
        ("debian", "6.1.0-53-cloud-amd64", False),
        ("debian", "6.12.95+deb12-rt-amd64", True),
        ("debian", "6.1.0-0.deb11.21-amd64", True),
        ("ubuntu", "6.8.0-60-generic", False),
        ("ubuntu", "6.8.0-60-generic-64k", False),
        ("ubuntu", "6.8.1-1015-realtime", False),
    ],
)
def test_header_packages_of_debian_and_ubuntu_are_called_like_the_kernel(
    kmod: Any, os_id: str, kernel: str, backports: bool
) -> None:
    build = build_of(kmod(repository="registry.example/kmod"), kernel, os_id, "12")
    assert build.args == {"KERNEL": kernel}
    assert '"linux-headers-${KERNEL}"' in build.containerfile
    assert '"HEADERS=/lib/modules/${KERNEL}/build"' in build.containerfile
    assert ("-backports main" in build.containerfile) == backports


@pytest.mark.parametrize(
    ("kernel", "arch"),
    [
        ("5.14.0-570.12.1.el9_6.x86_64", "amd64"),
        ("5.14.0-570.12.1.el9_6.x86_64+rt", "amd64"),
        ("5.14.0-570.12.1.el9_6.aarch64+64k", "arm64"),
    ],
)
@pytest.mark.parametrize("headers", ["packages", "dtk"])
def test_red_hats_headers_are_found_by_what_uname_says(
    kmod: Any, kernel: str, arch: str, headers: str
) -> None:
    # Their packages are kernel-devel, kernel-rt-devel and kernel-64k-devel; each provides
    # kernel-devel-uname-r.
    build = build_of(
        kmod(repository="registry.example/kmod", headers=headers), kernel, "rhel", "9.6", arch
    )
    assert build.args == {"KERNEL": kernel}
    assert ('"kernel-devel-uname-r = ${KERNEL}"' in build.containerfile) == (headers == "packages")
    assert '"HEADERS=/usr/src/kernels/${KERNEL}"' in build.containerfile


def test_a_base_image_with_headers_has_to_be_named(kmod: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"cannot build its images .*: it is given no base image, and its Contai"
    ):
        build_of(
            kmod(repository="registry.example/kmod", headers="base_image"), "6.1.0", "debian", "12"
        )


@pytest.mark.parametrize("path", ["", "/opt/firmware"])
def test_the_kernels_firmware_path_is_mounted_only_where_it_is_changed(
    kmod: Any, path: str
) -> None:
    rendering = kmod(repository="registry.example/kmod", firmware_path=path)
    spec = rendering.one("DaemonSet", f"simple-kmod-{GROUPS[0].id}")["spec"]["template"]["spec"]
    paths = host_paths(spec)
    assert (
        paths.get("firmware-search-path") == "/sys/module/firmware_class/parameters/path"
    ) == bool(path)
    assert {mount["name"] for mount in container(spec, "driver")["volumeMounts"]} == {*paths, "run"}


def test_no_option_is_run_by_a_shell(kmod: Any) -> None:
    rendering = kmod(
        repository="registry.example/kmod", modules=["a; injected"], softdeps=["$(injected)"]
    )
    spec = rendering.one("DaemonSet", f"simple-kmod-{GROUPS[0].id}")["spec"]["template"]["spec"]
    scripts = [
        container(spec, "driver")["args"][0],
        rendering.pod("driver_validation")["spec"]["containers"][0]["args"][0],
    ]
    assert not any("injected" in script for script in scripts)


@pytest.mark.parametrize(
    ("headers", "folder", "possible"),
    [
        ("base_image", "/lib/modules/${KERNEL}/build", True),
        ("dtk", "/usr/src/kernels/${KERNEL}", True),
        ("packages", "/lib/modules/${KERNEL}/build", False),
    ],
)
def test_all_builders_run_the_same_commands(
    kmod: Any, headers: str, folder: str, possible: bool
) -> None:
    rendering = kmod(
        repository="registry.example/kmod", headers=headers, base_image="registry.example/base:1"
    )
    found = build_of(rendering, "6.8.0-60-generic", "ubuntu", "24.04")
    assert found.compile is not None
    assert found.compile.command == f'make "KERNEL=${{KERNEL}}" "HEADERS={folder}"'
    assert f"\nRUN {found.compile.command}\n" in found.containerfile
    assert found.containerfile.endswith(
        f"COPY --from=build /src/{found.compile.output} {found.compile.into}"
    )
    assert (found.compile.unsupported == "") is possible


SIGNING = {"sign_key_secret": "own-key", "sign_cert_secret": "own-cert"}


def signed(**options: Any) -> RenderedBuild:
    """The build of one kernel with signed modules."""
    rendering = renderer(REPO / "recipes" / "simple-kmod")(
        repository="registry.example/kmod", **{**SIGNING, **options}
    )
    return build_of(rendering, KERNEL, "debian", "12")


def test_modules_are_signed_in_a_step_of_their_own_which_no_layer_keeps(kmod: Any) -> None:
    plain = build_of(kmod(repository="registry.example/kmod"), KERNEL, "debian", "12")
    made = signed()
    assert (plain.secrets, made.secrets) == ({}, {"sign-key": "own-key", "sign-cert": "own-cert"})
    stages = made.containerfile.split("\nFROM ")
    assert [stage.partition("\n")[0] for stage in stages[1:]] == [
        "${BASE} AS build",
        "build AS module-signer",
        "${BASE}",
    ]
    # What is pushed is the last stage.
    assert "sign-file" not in stages[-1]
    assert "build-secrets" not in "".join(stages[:2] + stages[3:])
    assert "Secret other-key" in signed(sign_key_secret="other-key").containerfile


def test_the_compiler_stays_behind_where_modules_are_put_on_another_image() -> None:
    rendering = renderer(REPO / "recipes" / "simple-kmod")
    options = {"repository": "registry.example/kmod", "headers": "dtk"}
    last = [
        build_of(rendering(**options, **own), KERNEL, "rhcos", "9.6").containerfile
        for own in ({}, {"runtime_image": "registry.example/ubi:1"})
    ]
    assert [text.rpartition("\nFROM ")[2].partition("\n")[0] for text in last] == [
        "${BASE}",
        "registry.example/ubi:1",
    ]
    assert last[1] == last[0].replace("\nFROM ${BASE}\n", "\nFROM registry.example/ubi:1\n")
    assert stage_images(last[1]) == {"registry.example/ubi:1"}
    with_packages = {**options, "headers": "packages", "runtime_image": "registry.example/ubi:1"}
    text = build_of(rendering(**with_packages), KERNEL, "debian", "12").containerfile
    assert "install" not in text.rpartition("\nFROM ")[2]


def test_images_of_others_are_signed_and_nothing_is_compiled() -> None:
    made = signed(
        sign_unsigned_repository="registry.example/bare", sign_image="registry.example/sign:1"
    )
    assert made.base == f"registry.example/bare:{KERNEL}"
    assert "make" not in made.containerfile
    assert "FROM registry.example/sign:1 AS module-signer" in made.containerfile


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sign_key_secret": "k"}, "one of the two is not named; set sign_key_secret and"),
        ({"sign_cert_secret": "c"}, "one of the two is not named; set sign_key_secret and"),
        (
            {"sign_unsigned_repository": "r/u"},
            "set sign_key_secret, sign_cert_secret and sign_image",
        ),
        (
            {**SIGNING, "sign_unsigned_repository": "r/u"},
            "set sign_key_secret, sign_cert_secret and",
        ),
        (
            {**SIGNING, "build": False},
            "modules are signed in a build, and build is off; turn it on",
        ),
    ],
)
def test_half_of_what_signing_needs_is_refused(kmod: Any, options: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        assert kmod(repository="registry.example/kmod", **options).objects


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({}, True),
        ({"headers": "base_image", "base_image": "r/base:1"}, True),
        (SIGNING, False),
        ({"prebuilt_repository": "r/signed"}, False),
    ],
)
def test_nodes_that_take_signed_modules_only_get_no_others(
    kmod: Any, options: Any, refused: bool
) -> None:
    groups = (GROUPS[0], replace(GROUPS[1], system=replace(GROUPS[1].system, signed_only=True)))
    expected = (
        pytest.raises(InvalidInput, match="take signed modules only, and nothing signs these; set")
        if refused
        else nullcontext()
    )
    with expected:
        assert kmod(repository="registry.example/kmod", groups=groups, **options).objects
    assert kmod(repository="registry.example/kmod", **options).objects


@pytest.mark.parametrize("end", ["", ".gz"])
def test_what_signs_opens_and_closes_a_compressed_module(tmp_path: Path, end: str) -> None:
    """The program is one that shows what it was given; the real one signs in the level kubelet."""
    module = tmp_path / f"signed/opt/modules/{KERNEL}/card.ko{end}"
    module.parent.mkdir(parents=True)
    module.write_bytes(gzip.compress(b"module\n") if end else b"module\n")
    tool = tmp_path / "usr/local/bin/sign-file"
    tool.parent.mkdir(parents=True)
    tool.write_text('#!/bin/sh\necho "signed $1 ${2##*/} ${3##*/} ${4##*/}" >> "$4"\n')
    tool.chmod(0o755)
    assert run_signing(tmp_path) == (0, "")
    found = module.read_bytes()
    text = (gzip.decompress(found) if end else found).decode()
    assert text == "module\nsigned sha256 key cert card.ko\n"
    assert [each.name for each in module.parent.iterdir()] == [module.name]


def test_what_signs_says_what_is_missing(tmp_path: Path) -> None:
    assert run_signing(tmp_path) == (
        1,
        "the image that signs has no sign-file, which comes with a kernel's headers\n",
    )
    tool = tmp_path / "usr/local/bin/sign-file"
    tool.parent.mkdir(parents=True)
    tool.touch()
    said = f"the image has no /opt/modules/{KERNEL}/*.ko* to sign\n"
    assert run_signing(tmp_path) == (1, said)


def run_signing(folder: Path) -> tuple[int, str]:
    """Exit code and words of the step that signs, where this folder is the root."""
    lines = signed().containerfile.partition("AS module-signer\n")[2].splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("RUN "))
    end = next(number for number, line in enumerate(lines) if line.startswith("FROM "))
    script = "\n".join(lines[begin:end]).removeprefix("RUN ")
    for path in ("/usr/", "/lib/", "/signed/"):
        script = script.replace(f" {path}", f" {folder}{path}")
    script = script.replace("file#/signed", f"file#{folder}/signed")
    ran = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr
