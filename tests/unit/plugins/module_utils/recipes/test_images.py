# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which image a state has: candidates in order, build arguments of the user, and none where the
state is disabled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.building import (
    render_build,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_images,
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.sample import (
    SAMPLE_GROUPS,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.variables import (
    named_images,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{example.com/card: null}]}
options:
  deployed: {type: bool, default: true}
  precompiled: {type: str, default: ""}
  arguments: {type: dict, default: {}}
states:
  image:
    role: state_driver_container
    per: kernel
    enabled: deployed
    image:
      - "{{ options.precompiled }}"
      - registry.example.com/compiles:{{ os.version }}
    build:
      repository: registry.example.com/own
      containerfile: build/Containerfile
      args: {KERNEL: "{{ kernel.raw }}", LEVEL: "1"}
      args_from: arguments
  driver:
    role: state_driver
    requires: [image]
    per: kernel
    assets: [driver/it.yaml.j2]
""".replace("  image:\n    role", "  container:\n    role").replace(
    "requires: [image]", "requires: [container]"
)

DRIVER = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: driver{{ group.suffix }}}
data: {image: {{ image | quote }}}
"""


def recipe(text: str = RECIPE) -> Recipe:
    return load(
        {"recipe.yml": text, "driver/it.yaml.j2": DRIVER, "build/Containerfile": "FROM scratch\n"},
        "toy",
    )


def facts(options: Mapping[str, Any], **more: Any) -> RenderFacts:
    return RenderFacts("toy", resolve(recipe(), options), SAMPLE_GROUPS[:1], "", **more)


def named(options: Mapping[str, Any]) -> list[str]:
    found = recipe()
    return named_images(
        found,
        found.states["container"],
        facts(options),
        SAMPLE_GROUPS[0],
        found.source.templates,
    )


def test_candidates_in_order_without_those_that_give_nothing() -> None:
    assert named({}) == ["registry.example.com/compiles:24.04"]
    assert named({"precompiled": "r.example.com/p:1"}) == [
        "r.example.com/p:1",
        "registry.example.com/compiles:24.04",
    ]


def test_the_first_counts_where_nothing_is_looked_up() -> None:
    assert render_images(recipe(), "container", facts({"precompiled": "r.example.com/p:1"})) == {
        SAMPLE_GROUPS[0].id: "r.example.com/p:1"
    }


def test_one_text_is_one_candidate() -> None:
    single = RECIPE.replace('image:\n      - "{{ options.precompiled }}"\n      - ', "image: ")
    assert len(recipe(single).states["container"].images.templates) == 1


def test_an_empty_list_is_refused() -> None:
    text = RECIPE.replace(
        '      - "{{ options.precompiled }}"\n      - registry.example.com/compiles:{{ os.version }}\n',
        "",
    )
    with pytest.raises(InvalidInput, match=r"container\.image"):
        recipe(text.replace("image:\n", "image: []\n"))


def test_build_arguments_of_the_user_win() -> None:
    given = facts({"arguments": {"LEVEL": 2, "MODE": "fast"}})
    build = render_build(recipe(), recipe().states["container"], given, SAMPLE_GROUPS[0])
    assert build is not None
    assert build.args == {"KERNEL": SAMPLE_GROUPS[0].system.kernel, "LEVEL": "2", "MODE": "fast"}


@pytest.mark.parametrize("wrong", [{"A B": "1"}, {"A": ["1"]}, {"A": None}])
def test_build_arguments_that_are_none_are_refused(wrong: Mapping[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="option arguments of recipe toy cannot be used"):
        render_build(
            recipe(), recipe().states["container"], facts({"arguments": wrong}), SAMPLE_GROUPS[0]
        )


def test_the_option_of_build_arguments_is_a_mapping() -> None:
    with pytest.raises(
        InvalidInput, match=r"build\.args_from: expected an option of type dict, found precompiled"
    ):
        recipe(RECIPE.replace("args_from: arguments", "args_from: precompiled"))


def test_a_disabled_state_is_asked_for_no_image() -> None:
    broken = RECIPE.replace(
        "registry.example.com/compiles:{{ os.version }}", '"{{ options.precompiled }} is none"'
    )
    with pytest.raises(InvalidInput, match="is no image reference"):
        render_images(recipe(broken), "container", facts({}))
    assert render_images(recipe(broken), "container", facts({"deployed": False})) == {}
    assert render_state(recipe(broken), "driver", facts({"deployed": False})).objects == ()
