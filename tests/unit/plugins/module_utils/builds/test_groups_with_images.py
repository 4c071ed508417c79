# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that looks for the images of one state does not make the record forget those of another
one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from ansible_collections.hardware.enablement.plugins.module_utils._builds.container import (
    groups_with_images,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.discovery import Discovery
from ansible_collections.hardware.enablement.plugins.module_utils._states.record import (
    image_entries,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    FILES,
    Bench,
)

HOOK = """\
  hook:
    role: state_runtime_hook
    image: "r.io/hook:{{ runtime.name }}"
"""


def test_images_of_groups_by_other_facts_stay_in_the_record() -> None:
    recipe = (
        FILES["recipe.yml"]
        .replace("  hook:\n    role: state_runtime_hook\n", HOOK)
        .replace("per: runtime", "per: [kernel, runtime]")
    )
    bench = Bench({**FILES, "recipe.yml": recipe})
    discovery = cast(
        Discovery, SimpleNamespace(coarse=lambda per: bench.grouping.coarse(bench.groups, per))
    )
    groups = {
        state: [group.id for group in discovery.coarse(per)]
        for state, per in (("build", ["kernel"]), ("hook", ["kernel", "runtime"]))
    }
    known = [
        {"state": state, "group": group, "image": "i", "problem": ""}
        for state in groups
        for group in groups[state]
    ]
    assert len(known) == 3
    record = {"status": {"images": known}}
    assert image_entries.merge(record, [], groups_with_images(bench.recipe, discovery)) == known
