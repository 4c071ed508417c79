# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Label sets: labels, and taints of a role."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.selectors import (
    NO_ROLE_TAINT,
    label_selector,
    labels_alone,
    matches,
    parse_selector,
    selector_text,
    taints_of,
)

LINUX = {"kubernetes.io/os": "linux"}
ANY_NODE = {**LINUX, NO_ROLE_TAINT: None}
MASTER = {"key": "node-role.kubernetes.io/master", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "is_one"),
    [
        ([], True),
        ([MASTER], False),
        ([{**MASTER, "effect": "NoExecute"}], False),
        ([{**MASTER, "effect": "PreferNoSchedule"}], True),
        # Cordoned, or partitioned for this very hardware.
        ([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], True),
        ([{"key": "example.org/card", "effect": "NoSchedule"}], True),
    ],
)
def test_a_taint_of_a_role_keeps_a_node_out(taints: list[dict[str, str]], is_one: bool) -> None:
    assert matches(LINUX, [ANY_NODE], taints) is is_one
    assert matches(LINUX, [LINUX], taints)
    assert not matches({}, [ANY_NODE], taints)


def test_the_api_server_is_asked_for_labels_alone() -> None:
    assert label_selector(ANY_NODE) == "kubernetes.io/os=linux"
    assert labels_alone(ANY_NODE) == LINUX
    assert parse_selector(selector_text(ANY_NODE)) == ANY_NODE


def test_a_node_without_a_spec_has_no_taints() -> None:
    assert list(taints_of({"metadata": {}})) == []
    assert list(taints_of({"spec": {"taints": [MASTER]}})) == [MASTER]
