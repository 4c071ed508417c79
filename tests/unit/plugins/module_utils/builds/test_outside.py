# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a loop over image_build has registered, as the ends of its orders."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.failures import BuildPhase
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import Inputs
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import BuildOrder
from ansible_collections.hardware.enablement.plugins.module_utils._builds.outside import (
    built_elsewhere,
)

ORDERS = [
    BuildOrder(f"build-{n}", n, f"own.example/driver:{n}", Inputs(n, "amd64", "FROM scratch"))
    for n in "abcde"
]


def test_each_order_has_its_own_end_and_those_without_a_result_none() -> None:
    items = [{"item": order.to_dict()} for order in ORDERS]
    results = [
        {**items[0], "image": "own.example/driver:a", "changed": True},
        {
            **items[1],
            "msg": "the build failed: make.",
            "phase": "compile",
            "reason": "Failed",
            "log": ["make"],
        },
        {**items[2], "msg": "Failed to connect\nto the host", "unreachable": True},
        {**items[3], "msg": "MODULE FAILURE", "phase": "odd"},
    ]
    ends = built_elsewhere(ORDERS, results)
    assert [built.order.group for built in ends] == ["a", "b", "c", "d"]
    assert ends[0].failure is None
    failed = [built.failure for built in ends[1:] if built.failure]
    assert [(each.phase, each.reason, each.is_held) for each in failed] == [
        (BuildPhase.COMPILE, "Failed", True),
        (BuildPhase.START, "Unreachable", False),
        (BuildPhase.START, "Failed", False),
    ]
    assert (failed[0].text, list(ends[1].log)) == ("the build failed: make", ["make"])
    assert failed[1].text == "the build cannot start: Failed to connect to the host"
