# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernels for which a recipe names no image."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.check import (
    check,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.lookups import (
    settled,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.render import (
    render_state,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.templates.render_facts import (
    ClusterApi,
    RenderFacts,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.image_facts import (
    with_images,
)
from tests.unit.recipes.checks import TYPES
from tests.unit.recipes.conftest import coarse, group_of

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: card
namespace: card
selector: {any_of: [{card: "yes"}]}
options: {build: {type: bool, default: true, description: Build}}
states:
  driver:
    role: state_driver
    per: kernel
    image: '{% if kernel.raw == "1.2.3" %}registry.example.com/card:1{% endif %}'
    NO_IMAGE
    assets: [driver.yaml.j2]
    validate: [{rollout: {}}]
"""
DRIVER = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: "card-{{ kernel.id }}"}
spec:
  selector: {matchLabels: {app: card}}
  template:
    metadata: {labels: {app: card}}
    spec: {containers: [{name: driver, image: {{ image | to_json }}}]}
"""


BUILD = """\
build: {repository: r/c, containerfile: driver.yaml.j2, enabled: build}
    lookup: '{{ "controller" if options.build else "never" }}'"""


def files_of(said: str) -> dict[str, str]:
    """The recipe, with one line about what happens without an image."""
    return {"recipe.yml": RECIPE.replace("NO_IMAGE", said), "driver.yaml.j2": DRIVER}


@pytest.mark.parametrize(("said", "wrong"), [("no_image: build one", False), ("timeout: 5", True)])
def test_a_recipe_may_have_images_for_kernels_that_no_check_knows(said: str, wrong: bool) -> None:
    found = check(files_of(said), "card", {}, TYPES)
    assert any("has no image for group" in each.message for each in found.errors) == wrong
    assert bool(found.errors) == wrong


@pytest.mark.parametrize("said", ["no_image: build one", BUILD])
def test_where_nothing_is_looked_up_a_kernel_without_an_image_is_refused(said: str) -> None:
    options = {"build": False}
    recipe = settled(load(files_of(said), "card"), options)
    facts = RenderFacts(
        namespace="card",
        options=resolve(recipe, options),
        groups=[group_of("6-8-0", "6.8.0")],
        applyset_id="applyset-test",
        cluster={"platform": "kubernetes"},
        coarse=coarse,
        driver_toolkits={},
        api=ClusterApi(),
    )
    known, missing = with_images(recipe, facts, None, lambda: pytest.fail("nothing is read"))
    assert missing == {}
    with pytest.raises(InvalidInput) as caught:
        render_state(recipe, "driver", known)
    assert caught.value.why == "nothing names one"
