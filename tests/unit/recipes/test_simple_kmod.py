# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What recipes/simple-kmod builds, and from what."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils.builds.wanted import Wishes
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import GROUPS, REPO, renderer


@pytest.fixture(name="kmod", scope="module")
def _kmod() -> Any:
    """Renders recipes/simple-kmod."""
    return renderer(REPO / "recipes" / "simple-kmod")


def wanted(rendering: Any) -> Any:
    """What a kernel wants, where no base image is there."""
    state = rendering.recipe.states["driver_container"]
    return Wishes(rendering.recipe, state, rendering.facts, lambda _reference, _group: None).of(GROUPS[0])


@pytest.mark.parametrize(("build", "said"), [(True, "what it lacks"), (False, "turn build on")])
def test_a_kernel_without_an_image_is_told_what_can_be_done(kmod: Any, build: bool, said: str) -> None:
    todo = wanted(kmod(repository="registry.example/kmod", build=build)).todo
    assert "prebuilt_repository" in todo
    assert said in todo
