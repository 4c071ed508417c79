# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu-dra: what differs from nvidia-gpu, and that nothing else does."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.load import load
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    Recipe,
)
from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO

RECIPES = REPO / "recipes"
CHANGED = {"device_plugin", "device_plugin_validation"}


@pytest.fixture(scope="module")
def recipes() -> tuple[Recipe, Recipe]:
    """nvidia-gpu, nvidia-gpu-dra."""
    base, dra = (
        load(read_bundle(RECIPES / name, RECIPES), name)
        for name in ("nvidia-gpu", "nvidia-gpu-dra")
    )
    return base, dra


def test_only_how_pods_get_gpus_is_another(recipes: tuple[Recipe, Recipe]) -> None:
    base, dra = recipes
    assert base.states.keys() - dra.states.keys() == {"mps"}
    same = dra.states.keys() - CHANGED
    assert {name for name in same if dra.states[name] != base.states[name]} == set()


def test_no_resource_is_asked_for_and_claims_are_seen(recipes: tuple[Recipe, Recipe]) -> None:
    _base, dra = recipes
    assert dra.resources == ()
    assert dra.device_access.dra_drivers == ("gpu.nvidia.com",)
    proofs = [proof.kind for name in sorted(CHANGED) for proof in dra.states[name].validate]
    assert proofs == ["rollout", "resource_slices", "workload"]
