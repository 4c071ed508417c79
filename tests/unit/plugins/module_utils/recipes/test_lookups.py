# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recipes say of look-ups and builds, and what options make of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    is_looked_up,
    settled,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)

NAMED = '    image: "registry.io/driver:{{ options.version }}-{{ kernel.tag }}"\n'
PROVEN = f"{NAMED}    validate: [image: {{}}]\n"


def state_of(files: dict[str, str], added: str, **options: Any) -> Any:
    """The state that names images, with more keys, under these options."""
    changed = {
        **files,
        "recipe.yml": files["recipe.yml"].replace(NAMED, PROVEN + added),
        "build/Containerfile": "\n",
    }
    recipe = load(changed, "toy")
    return settled(recipe, resolve(recipe, options)).states["build"]


@pytest.mark.parametrize(
    ("added", "lookup"),
    [
        ("", "never"),
        ("    lookup: node\n", "node"),
        (
            "    build: {repository: registry.io/own, containerfile: build/Containerfile}\n",
            "controller",
        ),
        ("    lookup: \"{{ 'imagestream' if options.mode == 'fast' else 'never' }}\"\n", "never"),
    ],
)
def test_only_what_is_looked_up_has_an_image_to_prove(
    files: dict[str, str], added: str, lookup: str
) -> None:
    state = state_of(files, added)
    assert state.images.lookup == lookup
    assert is_looked_up(state) is (lookup != "never")
    assert [proof.kind for proof in state.proofs.validate] == (
        [] if lookup == "never" else ["image"]
    )


def test_an_option_turns_look_ups_on(files: dict[str, str]) -> None:
    state = state_of(
        files, "    lookup: \"{{ 'node' if options.mode == 'fast' else 'never' }}\"\n", mode="fast"
    )
    assert (state.images.lookup, len(state.proofs.validate)) == ("node", 1)


def test_what_a_template_gives_is_looked_at(files: dict[str, str]) -> None:
    with pytest.raises(
        InvalidInput,
        match=r"cannot look its images up \(toy/recipe.yml, states.build.lookup\): 'slow'",
    ):
        state_of(files, '    lookup: "{{ options.mode }}"\n')


@pytest.mark.parametrize(
    ("added", "said"),
    [
        (
            "    lookup: never\n    build: {repository: r.io/a, containerfile: build/Containerfile}\n",
            "states.build.lookup: expected another one, since what is built has to be looked up, found never",
        ),
        (
            "    build: {repository: r.io/a, git: {url: 'https://g.io/a', ref: main}}\n",
            "states.build.build.containerfile: expected one, or git.containerfile, found neither",
        ),
        ("    image_labels: [version]\n", "states.build.image_labels: expected a mapping"),
    ],
)
def test_mistakes(files: dict[str, str], added: str, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        state_of(files, added)
    assert said in str(caught.value)


def test_a_state_without_images_says_nothing_of_them(files: dict[str, str]) -> None:
    files["recipe.yml"] = files["recipe.yml"].replace(NAMED, "    no_image: buy one\n")
    with pytest.raises(
        InvalidInput,
        match=r"states\.build\.no_image: expected image or build with it, found neither",
    ):
        load(files, "toy")
