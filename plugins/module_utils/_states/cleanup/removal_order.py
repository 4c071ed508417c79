# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In which order the objects of states go: what would undo the others' work first, what stands on a
driver before the driver. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..._cluster.api_objects.labels import state_of
from ..._cluster.api_objects.objects import ObjectKey, updates_on_delete
from ..._json import Obj
from ..._recipes.loading.recipe import Recipe
from ..._recipes.requirements import all_required


def removal_stages(
    keys: Sequence[ObjectKey], live: Mapping[ObjectKey, Obj], recipe: Recipe
) -> list[list[ObjectKey]]:
    """The keys in up to three lists; those of one go when those of the list before have gone.

    First what the recipe says so of (removed_first). A driver whose module is in use unloads nothing
    when its pod is told to end: modules, mounts and device nodes would stay on the node until it
    reboots. So the drivers' states (those with a DaemonSet that is updated on delete only), and what
    these require, are the last.
    """
    first = {name for name, state in recipe.states.items() if state.order.removed_first}
    drivers = {
        state_of(live[key])
        for key in keys
        if key.kind == "DaemonSet" and updates_on_delete(live[key])
    }
    last = drivers.union(
        *(all_required(recipe, name) for name in drivers.intersection(recipe.states))
    )
    stages: tuple[list[ObjectKey], ...] = ([], [], [])
    for key in keys:
        state = state_of(live[key])
        stages[0 if state in first else 2 if state in last else 1].append(key)
    return [stage for stage in stages if stage]
