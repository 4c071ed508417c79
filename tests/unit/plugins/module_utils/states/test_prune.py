# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is pruned, and above all what is not."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    GROUP_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    ObjectKey,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.cleanup.prune import (
    GroupsOfNodes,
    candidates,
    decide,
)

DRIVER = ObjectKey("apps/v1", "DaemonSet", "demo", "driver-old")
CONFIG = ObjectKey("v1", "ConfigMap", "demo", "config")
NAMESPACE = ObjectKey("v1", "Namespace", "", "demo")
LIVE = {
    DRIVER: {"metadata": {"labels": {GROUP_LABEL: "old"}}},
    CONFIG: {"metadata": {}},
    NAMESPACE: {"metadata": {}},
}


def test_what_is_wanted_stays_and_namespaces_always() -> None:
    assert candidates(LIVE, {CONFIG}) == [DRIVER]
    assert candidates(LIVE, set()) == [DRIVER, CONFIG]


def test_what_nothing_wants_goes() -> None:
    assert decide(
        [CONFIG, DRIVER], LIVE, GroupsOfNodes({"new"}, set()), nodes_match=True, allow_empty=False
    ).delete == (
        CONFIG,
        DRIVER,
    )


def test_a_kernel_that_runs_somewhere_keeps_its_objects() -> None:
    pruning = decide(
        [CONFIG, DRIVER], LIVE, GroupsOfNodes({"old"}, set()), nodes_match=True, allow_empty=False
    )
    assert pruning.delete == (CONFIG,)
    assert "group old" in pruning.keep[DRIVER]


def test_what_the_options_turn_off_goes_although_nodes_are_of_its_group() -> None:
    live = {DRIVER: {"metadata": {"labels": {GROUP_LABEL: "old", STATE_LABEL: "driver"}}}}
    for off, deleted in (
        (("driver", "old"), (DRIVER,)),
        (("driver", "new"), ()),
        (("plugin", "old"), ()),
    ):
        pruning = decide(
            [DRIVER],
            live,
            GroupsOfNodes({"old"}, set(), turned_off={off}),
            nodes_match=True,
            allow_empty=False,
        )
        assert pruning.delete == deleted


def test_nothing_goes_while_no_node_matches() -> None:
    pruning = decide(
        [CONFIG, DRIVER], LIVE, GroupsOfNodes(set(), set()), nodes_match=False, allow_empty=False
    )
    assert pruning.delete == ()
    assert set(pruning.keep) == {CONFIG, DRIVER}


def test_allow_empty_means_it() -> None:
    assert decide(
        [DRIVER], LIVE, GroupsOfNodes({"old"}, set()), nodes_match=False, allow_empty=True
    ).delete == (DRIVER,)


def test_the_group_of_a_node_that_has_vanished_is_kept_whatever_is_allowed() -> None:
    for off in (set(), {(None, "old")}):
        pruning = decide(
            [CONFIG, DRIVER],
            LIVE,
            GroupsOfNodes(set(), {"old"}, turned_off=off),
            nodes_match=False,
            allow_empty=True,
        )
        assert (pruning.delete, list(pruning.keep)) == ((CONFIG,), [DRIVER])
