# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tags of a command line, as a task gets them."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    State,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.tags import (
    Tags,
)

DRIVER = State("kmod", "state_driver")
FABRIC = State("fabric", "state")
FOREIGN = State("theirs", "somebody.else.role")


@pytest.mark.parametrize(
    ("run", "skip", "driver", "fabric", "validates"),
    [
        (["all"], [], True, True, True),
        (["driver"], [], True, False, False),
        (["kmod"], [], True, False, False),
        (["other"], [], False, True, False),
        (["fabric", "validation"], [], False, True, True),
        (["validation"], [], False, False, True),
        (["all"], ["validation"], True, True, False),
        (["all"], ["driver"], False, True, True),
        (["tagged"], ["kmod"], False, True, True),
    ],
)
def test_tags(run: list[str], skip: list[str], driver: bool, fabric: bool, validates: bool) -> None:
    tags = Tags.of(run, skip)
    assert (tags.selects(DRIVER), tags.selects(FABRIC), tags.validates) == (
        driver,
        fabric,
        validates,
    )


def test_a_playbook_leaves_a_state_to_the_role_of_somebody_else() -> None:
    assert not Tags.of(["all"], None).selects(FOREIGN)
    assert Tags.of(None, None).selects(FOREIGN)
