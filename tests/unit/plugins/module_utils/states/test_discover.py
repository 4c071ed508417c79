# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nfd_info tells the tasks that follow, besides the nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    NFD_INFO,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation import (
    discover,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    serving,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

RECIPE = """\
apiVersion: hardware-enablement.io/v1
name: toy
namespace: toy
selector: {any_of: [{card: "yes"}]}
options:
  pinned: {type: bool, default: false}
states:
  images:
    role: state_driver_container
    per: kernel
    image: registry.test/driver:1
    lookup: "{{ 'controller' if options.pinned else 'never' }}"
  report:
    role: state
    requires: [images]
"""


@pytest.fixture
def api() -> Iterator[FakeServer]:
    with serving() as server:
        yield server


@pytest.mark.parametrize(("pinned", "looked_up"), [(False, []), (True, ["images"])])
def test_it_says_whose_images_are_looked_up_since_only_then_there_is_a_task_for_it(
    api: FakeServer, pinned: bool, looked_up: list[str]
) -> None:
    ScriptedCluster(api, runs.card_node(card="yes"))
    given = {"bundle": {"recipe.yml": RECIPE}, "options": {"pinned": pinned}}
    assert runs.run(discover.TASK, NFD_INFO, api, **given)["image_states"] == looked_up
