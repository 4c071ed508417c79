# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which of nvidia-gpu's driver images are looked up and built, and from what."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.wanted import BuildInputs
from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.building import (
    RenderedBuild,
    render_build,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    settled,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import GROUPS

REPOSITORY = "registry.example/gpu/driver"
COMMIT = "06a208ca9747c82b1ba99b76ecdcf2469b0a0207"
# No Secret is named, so none is asked for.
NO_SECRETS: Any = None


def state_of(rendering: Any) -> Any:
    """driver_container under these options."""
    return settled(rendering.recipe, rendering.facts.options).states["driver_container"]


def build_of(rendering: Any, group: int = 0) -> RenderedBuild | None:
    """How its image is built for one of two kernels."""
    return render_build(rendering.recipe, state_of(rendering), rendering.facts, GROUPS[group])


def wanted_of(rendering: Any, group: int = 0) -> Any:
    """What one of two kernels wants."""
    made = BuildInputs(
        rendering.recipe,
        state_of(rendering),
        rendering.facts,
        lambda _reference, _group: None,
        NO_SECRETS,
    )
    return made.of(GROUPS[group])


@pytest.mark.parametrize(
    ("options", "lookup"),
    [
        ({}, "never"),
        ({"driver_lookup": True}, "controller"),
        ({"driver_build": True, "driver_build_repository": REPOSITORY}, "controller"),
        ({"driver_lookup": True, "driver_build": True, "driver_enabled": False}, "never"),
    ],
)
def test_images_are_looked_up_and_proven_only_where_somebody_says_so(
    nvidia_gpu: Any, options: dict[str, Any], lookup: str
) -> None:
    state = state_of(nvidia_gpu(**options))
    assert state.images.lookup == lookup
    assert [proof.kind for proof in state.proofs.validate] == (
        ["image"] if lookup == "controller" else []
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "{{ options.driver_build_repository }} names no repository to push to"),
        (
            {"driver_build_repository": REPOSITORY, "driver_build_git": ""},
            "neither a Containerfile nor a git repository that has one",
        ),
        (
            {"driver_build_repository": REPOSITORY, "driver_build_git": "https://me:pw@git.test"},
            "has a password in it",
        ),
    ],
)
def test_a_build_of_which_nothing_can_come_is_refused_before_anything_is_applied(
    nvidia_gpu: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        nvidia_gpu(driver_build=True, **options)
    assert said in str(caught.value)
    assert "pw" not in str(caught.value)


def test_nothing_is_built_by_default(nvidia_gpu: Any) -> None:
    assert build_of(nvidia_gpu(driver_lookup=True)) is None


@pytest.mark.parametrize(
    ("group", "folder"), [(0, "ubuntu24.04/precompiled"), (1, "ubuntu22.04/precompiled")]
)
def test_a_build_takes_the_folder_of_the_nodes_distribution(
    nvidia_gpu: Any, group: int, folder: str
) -> None:
    build = build_of(nvidia_gpu(driver_build=True, driver_build_repository=REPOSITORY), group)
    assert build is not None
    assert (build.repository, build.base, build.base_arg, build.containerfile) == (
        REPOSITORY,
        "",
        "BASE_IMAGE",
        "",
    )
    assert build.git is not None
    assert (build.git.ref, build.git.folder, build.git.containerfile) == (
        COMMIT,
        folder,
        "Dockerfile",
    )
    # The build arguments of that Dockerfile.
    assert build.args == {
        "DRIVER_BRANCH": "595",
        "DRIVER_VERSION": "595.91.07",
        "KERNEL_VERSION": GROUPS[group].system.kernel,
        "TARGETARCH": "amd64",
    }


@pytest.mark.parametrize(
    ("kernel", "os_id", "argument"),
    [
        ("6.12.38+deb13-amd64", "debian", "BASE_IMAGE"),
        ("5.14.0-570.el9_6.x86_64", "almalinux", "DRIVER_TOOLKIT_IMAGE"),
    ],
)
def test_the_arguments_of_a_build_go_by_the_family_of_the_kernel(
    nvidia_gpu: Any, kernel: str, os_id: str, argument: str
) -> None:
    system = replace(GROUPS[0].system, kernel=kernel, os_id=os_id, os_version="9.6")
    group = replace(GROUPS[0], system=system)
    rendering = nvidia_gpu(groups=(group,), driver_build=True, driver_build_repository=REPOSITORY)
    build = render_build(rendering.recipe, state_of(rendering), rendering.facts, group)
    assert build is not None
    assert build.base_arg == argument
    assert ("RHEL_VERSION" in build.args) is (argument == "DRIVER_TOOLKIT_IMAGE")


def test_a_containerfile_of_ones_own_counts_with_and_without_a_repository(nvidia_gpu: Any) -> None:
    text = 'FROM scratch\nRUN echo "{{ options }}" # \\\n  && true'
    own = {
        "driver_build": True,
        "driver_build_repository": REPOSITORY,
        "driver_build_containerfile": text,
    }
    for more in ({}, {"driver_build_git": ""}):
        build = build_of(nvidia_gpu(**own, **more))
        assert build is not None
        assert build.containerfile == text
        assert (build.git is None) == bool(more)
    # The repository's own does not count, then.
    assert wanted_of(nvidia_gpu(**own)).build.inputs.git.containerfile == ""


SIGNING = {
    "driver_build": True,
    "driver_build_repository": REPOSITORY,
    "sign_key_secret": "own-key",
    "sign_cert_secret": "own-cert",
}
UNSIGNED = {
    "sign_unsigned_repository": "registry.example/bare/driver",
    "sign_image": "registry.example/sign:1",
}


def test_images_of_others_are_signed_in_a_step_that_no_layer_keeps(nvidia_gpu: Any) -> None:
    build = build_of(nvidia_gpu(**SIGNING, **UNSIGNED))
    assert build is not None
    assert (build.base, build.base_arg, build.git) == (
        "registry.example/bare/driver:595-6.8.0-60-generic-ubuntu24.04",
        "BASE_IMAGE",
        None,
    )
    assert build.secrets == {"sign-key": "own-key", "sign-cert": "own-cert"}
    stages = build.containerfile.split("\nFROM ")
    assert [stage.partition("\n")[0] for stage in stages[1:]] == [
        "${BASE_IMAGE} AS unsigned",
        "registry.example/sign:1 AS module-signer",
        "${BASE_IMAGE}",
    ]
    modules = "/lib/modules/6.8.0-60-generic"
    assert f"/signed{modules}/extra/drivers/video/nvidia/*.ko*" in stages[2]
    # What is pushed is the last stage.
    assert stages[3].splitlines()[1:] == [f"COPY --from=module-signer /signed{modules} {modules}"]


def test_the_unsigned_image_of_nvidia_is_no_candidate(nvidia_gpu: Any) -> None:
    rendering = nvidia_gpu(**SIGNING, **UNSIGNED, driver_precompiled=True)
    assert not wanted_of(rendering).prebuilt


def test_a_containerfile_of_ones_own_is_given_the_key(nvidia_gpu: Any) -> None:
    build = build_of(nvidia_gpu(**SIGNING, driver_build_containerfile="FROM scratch"))
    assert build is not None
    assert (build.containerfile, build.secrets.keys()) == (
        "FROM scratch",
        {"sign-key", "sign-cert"},
    )
    unsigned = build_of(nvidia_gpu(driver_build=True, driver_build_repository=REPOSITORY))
    assert unsigned is not None
    assert unsigned.secrets == {}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sign_key_secret": "k"}, "one of the two is not named; set sign_key_secret and"),
        (UNSIGNED, "set sign_key_secret, sign_cert_secret, sign_image and driver_build"),
        (
            {**SIGNING, **UNSIGNED, "driver_build": False},
            "set sign_key_secret, sign_cert_secret, sign_image and driver_build",
        ),
        (SIGNING, "NVIDIA's Dockerfiles take no key from a Secret"),
    ],
)
def test_half_of_what_signing_needs_is_refused(nvidia_gpu: Any, options: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        assert nvidia_gpu(**options).objects


def test_images_of_nvidia_have_to_be_for_the_kernel_as_their_own_label_says(
    nvidia_gpu: Any,
) -> None:
    compiled, compiling = "595-6.8.0-60-generic-ubuntu24.04", "595.91.07-ubuntu24.04"
    wanted = wanted_of(nvidia_gpu(driver_lookup=True, driver_precompiled=True))
    assert {each.reference: each.labels for each in wanted.prebuilt} == {
        f"nvcr.io/nvidia/driver:{compiled}": {"version": "595-6.8.0-60-generic"},
        f"nvcr.io/nvidia/driver:{compiling}": {},
    }
    for others in (
        {"driver_image": "registry.example/driver:1"},
        {"driver_images": {"6.8.0-60-generic": "registry.example/driver:1"}},
        {"driver_precompiled": False},
    ):
        prebuilt = wanted_of(nvidia_gpu(driver_lookup=True, **others)).prebuilt
        assert [each.labels for each in prebuilt if each.labels] == []
    rendering = nvidia_gpu(driver_lookup=True, driver_precompiled=True)
    made = BuildInputs(
        rendering.recipe,
        state_of(rendering),
        rendering.facts,
        lambda _reference, _group: None,
        NO_SECRETS,
    )
    system = replace(GROUPS[0].system, os_id="rhel", os_version="9.6")
    other = made.of(replace(GROUPS[0], system=system))
    assert [each.labels for each in other.prebuilt if each.labels] == []


@pytest.mark.parametrize(
    ("options", "references"),
    [
        # A way back to compiling, where the registry has none for the kernel.
        (
            {"driver_precompiled": True},
            ["595-6.8.0-60-generic-ubuntu24.04", "595.91.07-ubuntu24.04"],
        ),
        ({}, ["595.91.07-ubuntu24.04"]),
        # What has none is built.
        ({"driver_build": True}, ["595-6.8.0-60-generic-ubuntu24.04"]),
    ],
)
def test_which_images_are_looked_for(
    nvidia_gpu: Any, options: dict[str, Any], references: list[str]
) -> None:
    rendering = nvidia_gpu(driver_lookup=True, driver_build_repository=REPOSITORY, **options)
    prebuilt = wanted_of(rendering).prebuilt
    assert [each.reference.partition(":")[2] for each in prebuilt] == references


def test_a_kernel_without_an_image_is_told_what_can_be_done(nvidia_gpu: Any) -> None:
    todo = wanted_of(nvidia_gpu(driver_lookup=True)).todo
    for option in ("driver_version", "driver_branch", "driver_images", "driver_build"):
        assert option in todo
    building = nvidia_gpu(driver_build=True, driver_build_repository=REPOSITORY)
    assert "driver_build" not in wanted_of(building).todo
