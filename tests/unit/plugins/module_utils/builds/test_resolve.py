# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order in which images are looked for, and what is said where none fits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import (
    INPUTS_LABEL,
    KERNEL_LABEL,
    Inputs,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import (
    BuildOrder,
    Found,
    Source,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.resolve import (
    Find,
    ForeignImage,
    Search,
    WantedBuild,
    WantedImage,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._json import Obj
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    WrongArchitecture,
)

INPUTS = Inputs(kernel="6.1.0", arch="amd64", containerfile="FROM scratch\n")
PREBUILT, TARGET = "vendor.example/driver:1-6.1.0", "own.example/driver:6.1.0-abc"
WANTED = WantedImage(
    "6-1-0-aaaaaa", "6.1.0", "amd64", [ForeignImage(PREBUILT)], WantedBuild(INPUTS, TARGET)
)
ORDER = BuildOrder("build-a", "6-1-0-aaaaaa", TARGET, INPUTS)
OURS = {KERNEL_LABEL: "6.1.0", INPUTS_LABEL: INPUTS.hash}


class Registry:
    """Images by reference: labels, None for unknown ones."""

    def __init__(self, images: dict[str, dict[str, str] | None]) -> None:
        self.images = images
        self.asked: list[tuple[str, str]] = []

    def find(self, reference: str, arch: str) -> Found | None:
        self.asked.append((reference, arch))
        if reference not in self.images:
            return None
        pinned = reference if "@" in reference else f"{reference.partition(':')[0]}@sha256:1"
        return Found(pinned, pinned.partition("@")[2], self.images[reference])


def searching(wanted: WantedImage, find: Find, known: Obj | None = None) -> Search:
    """A search where the images that a key has signed are those that say so in their name."""

    def unsigned(reference: str, key: str) -> str:
        return "" if f"signed-by-{key}" in reference else f"{reference} is not signed"

    return Search(wanted, find, unsigned, known or {})


def test_a_prebuilt_image_that_the_key_has_not_signed_is_as_good_as_none() -> None:
    signed = "vendor.example/signed-by-us:6.1.0"
    either = [ForeignImage(PREBUILT, key="us"), ForeignImage(signed, key="us")]
    registry = Registry({PREBUILT: {}, signed: {}, TARGET: OURS})
    found = searching(replace(WANTED, prebuilt=either), registry.find).result()
    assert (found.image, found.source) == ("vendor.example/signed-by-us@sha256:1", Source.PREBUILT)
    assert found.tried == ("vendor.example/driver@sha256:1 is not signed",)
    found = searching(replace(WANTED, prebuilt=either[:1]), registry.find).result()
    assert found.source is Source.BUILT_BEFORE
    none = searching(replace(WANTED, prebuilt=either[:1], build=None), registry.find).result()
    assert none.problem.startswith(
        "no image fits kernel 6.1.0: vendor.example/driver@sha256:1 is not"
    )


def test_a_prebuilt_image_comes_first() -> None:
    registry = Registry({PREBUILT: {}, TARGET: OURS})
    found = searching(WANTED, registry.find).result()
    assert (found.image, found.source, found.inputs) == (
        "vendor.example/driver@sha256:1",
        Source.PREBUILT,
        "",
    )
    assert registry.asked == [(PREBUILT, "amd64")]


def test_candidates_are_looked_up_in_their_order() -> None:
    other, last = "vendor.example/compiles:1", "vendor.example/never:1"
    wanted = replace(WANTED, prebuilt=[*map(ForeignImage, (PREBUILT, other, last))])
    registry = Registry({other: {}, last: {}, TARGET: OURS})
    found = searching(wanted, registry.find).result()
    assert (found.image, found.source) == ("vendor.example/compiles@sha256:1", Source.PREBUILT)
    assert found.tried == (f"{PREBUILT} does not exist",)
    assert registry.asked == [(PREBUILT, "amd64"), (other, "amd64")]


def test_then_one_that_was_built_from_the_same() -> None:
    found = searching(WANTED, Registry({TARGET: OURS}).find).result()
    assert (found.image, found.source) == ("own.example/driver@sha256:1", Source.BUILT_BEFORE)
    assert found.inputs == INPUTS.hash
    assert found.tried == (f"{PREBUILT} does not exist",)


@pytest.mark.parametrize(
    ("known", "kept"),
    [
        ({"image": "own.example/driver@sha256:0", "inputs": INPUTS.hash}, True),
        ({"image": "own.example/driver@sha256:0", "inputs": "other"}, False),
        ({"image": "own.example/driver@sha256:gone", "inputs": INPUTS.hash}, False),
        # A person has named another repository since.
        ({"image": "own.example/before@sha256:0", "inputs": INPUTS.hash}, False),
    ],
)
def test_what_runs_and_was_made_from_the_same_stays_while_it_is_there(
    known: dict[str, str], kept: bool
) -> None:
    registry = Registry(
        dict.fromkeys((TARGET, "own.example/driver@sha256:0", "own.example/before@sha256:0"), OURS)
    )
    found = searching(WANTED, registry.find, known).result()
    assert found.source is Source.BUILT_BEFORE
    assert found.image == (known["image"] if kept else "own.example/driver@sha256:1")


def test_then_a_build() -> None:
    found = searching(WANTED, Registry({}).find).result()
    assert (found.image, found.source, found.problem) == (TARGET, Source.WOULD_BUILD, "")


def test_else_what_was_tried() -> None:
    found = searching(
        replace(WANTED, build=None, no_build="it cannot be built"), Registry({}).find
    ).result()
    assert (found.image, found.source) == ("", Source.NONE)
    assert (
        found.problem
        == f"no image fits kernel 6.1.0: {PREBUILT} does not exist; it cannot be built"
    )
    nothing = searching(WantedImage("g", "6.1.0", "amd64"), Registry({}).find).result()
    assert (
        nothing.problem == "no image fits kernel 6.1.0: the recipe names no image and builds none"
    )


def test_a_tag_that_was_moved_to_another_kernels_image_is_not_used() -> None:
    registry = Registry(
        {PREBUILT: {KERNEL_LABEL: "6.2.0"}, TARGET: {**OURS, KERNEL_LABEL: "6.3.0"}}
    )
    found = searching(WANTED, registry.find).result()
    assert found.source is Source.WOULD_BUILD
    assert found.tried == (
        f"{PREBUILT} was built for kernel 6.2.0",
        f"{TARGET} was built for kernel 6.3.0",
    )


def test_a_vendors_own_labels_tell_its_images_apart_and_what_we_build_need_not_have_them() -> None:
    wanted = replace(WANTED, prebuilt=[ForeignImage(PREBUILT, {"version": "1-6.1.0"})])
    for labels in ({"version": "1-6.1.0"}, {}, None):
        assert (
            searching(wanted, Registry({PREBUILT: labels}).find).result().source is Source.PREBUILT
        )
    registry = Registry(
        {PREBUILT: {"version": "1-6.2.0\nnext line"}, TARGET: {**OURS, "version": "9"}}
    )
    found = searching(wanted, registry.find).result()
    assert found.source is Source.BUILT_BEFORE
    assert found.tried == (
        f"{PREBUILT} is another one: its label version is 1-6.2.0 next line, not 1-6.1.0",
    )


def test_the_recipes_advice_comes_last() -> None:
    search = searching(replace(WANTED, build=None, todo="buy one"), Registry({}).find)
    assert (
        search.result().problem == f"no image fits kernel 6.1.0: {PREBUILT} does not exist; buy one"
    )
    assert (
        search.no_image("; or wait")
        == f"no image fits kernel 6.1.0: {PREBUILT} does not exist; or wait; buy one"
    )


def test_an_image_of_other_inputs_is_built_anew() -> None:
    found = searching(WANTED, Registry({TARGET: {**OURS, INPUTS_LABEL: "0"}}).find).result()
    assert found.source is Source.WOULD_BUILD
    assert found.tried[-1] == f"{TARGET} was built from something else"


def test_labels_that_cannot_be_read_do_not_count() -> None:
    found = searching(WANTED, Registry({TARGET: None}).find).result()
    assert found.source is Source.BUILT_BEFORE


def test_after_a_build_the_registry_has_the_last_word() -> None:
    registry = Registry({})
    search = searching(WANTED, registry.find)
    search.result()
    assert search.built(ORDER).problem == (
        f"{TARGET} is built, but not in the registry ({TARGET} does not exist); "
        "look at the builder's rights to push and run again"
    )
    registry.images[TARGET] = OURS
    built = search.built(ORDER)
    assert (built.image, built.source) == ("own.example/driver@sha256:1", Source.BUILT)


def test_what_kept_the_inputs_from_being_known_matters_only_without_a_prebuilt_image() -> None:
    trouble = EnablementError("the base image cannot be looked up")
    wanted = replace(WANTED, build=None, no_build=trouble)
    assert searching(wanted, Registry({PREBUILT: {}}).find).result().source is Source.PREBUILT
    with pytest.raises(EnablementError, match="the base image"):
        searching(wanted, Registry({}).find).result()


def test_an_image_for_another_architecture_is_as_good_as_none() -> None:
    registry = Registry({TARGET: OURS})

    def find(reference: str, arch: str) -> Found | None:
        if reference == PREBUILT:
            raise WrongArchitecture(f"Cannot look up {PREBUILT}", why="it is there for arm64 only")
        return registry.find(reference, arch)

    found = searching(WANTED, find).result()
    assert found.source is Source.BUILT_BEFORE
    assert found.tried == (f"Cannot look up {PREBUILT}: it is there for arm64 only",)
