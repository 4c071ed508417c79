# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A node leaves by evidence or by a person's word, never because a label is gone."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.options import (
    resolve,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.loading.recipe import (
    RecipeDevices,
    RecipeNodes,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.strays import (
    MembershipRequest,
    Strays,
    find_strays,
    refuse_left_out_in_use,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.intent import (
    Intent,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.preparation.prepare import (
    Prepared,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.recipes.group_bench import (
    Bench,
)

RECIPE = replace(
    Bench().recipe,
    nodes=RecipeNodes(selector=({"gpu": "yes"},)),
    devices=RecipeDevices(resources=("toy.example.com/*",)),
)
MARK, SINCE = "hardware-enablement.io/toy.node-kernel", "2026-01-01T00:00:00Z"
NOTED, HOUR = 1767225600.0, 3600.0


class World:
    """Nodes that carry our mark, and whether a pod holds a device on node "n"."""

    def __init__(self, labels: dict[str, str], noted: str | None, held: bool) -> None:
        annotations = {"hardware-enablement.io/toy.vanished": noted} if noted else {}
        self.node = {
            "metadata": {"name": "n", "labels": {MARK: "k", **labels}, "annotations": annotations}
        }
        spec = {
            "nodeName": "n",
            "containers": [{"resources": {"limits": {"toy.example.com/card": 1}}}],
        }
        self.pods = [{"metadata": {"namespace": "a", "name": "p"}, "spec": spec}] if held else []
        self.asked: list[str] = []

    def kind(self, _api: str, kind: str) -> str:
        return kind

    def list(
        self, kind: str, labels: str = "", fields: str = "", leanly: bool = False, kept: Any = None
    ) -> Any:
        # Of thousands nothing is kept in full.
        assert leanly or kept
        self.asked.append(labels or fields)
        return SimpleNamespace(items=[self.node] if kind == "Node" else self.pods)


def find(
    labels: dict[str, str] | None = None,
    noted: str | None = SINCE,
    held: bool = False,
    age: float = 2 * HOUR,
    matching: frozenset[str] = frozenset({"other"}),
    options: dict[str, Any] | None = None,
    **params: Any,
) -> tuple[Strays, World]:
    """The strays of a cluster in which only node "n" may be one."""
    world = World(labels or {}, noted, held)
    prepared = Prepared(RECIPE, Intent(resolve(RECIPE, options or {}), "toy"), "applyset")
    given = MembershipRequest(**{"vanished_grace": HOUR, **params})
    return find_strays(cast(Client, world), prepared, given, matching, lambda: NOTED + age), world


@pytest.mark.parametrize(
    ("case", "leaves"),
    [
        ({}, True),
        ({"age": HOUR - 1}, False),
        ({"held": True}, False),
        ({"noted": None}, False),
        ({"noted": "yesterday"}, False),
        ({"matching": frozenset()}, False),
        ({"matching": frozenset(), "allow_empty": True, "age": 0}, True),
        ({"matching": frozenset(), "allow_empty": True, "held": True}, False),
        ({"age": 0, "held": True, "release_nodes": ["n"]}, True),
    ],
)
def test_it_leaves_when_the_time_is_over_and_nothing_holds_a_device(
    case: dict[str, Any], leaves: bool
) -> None:
    strays, _world = find(**case)
    assert (list(strays.leaving), list(strays.vanished)) == ((["n"], []) if leaves else ([], ["n"]))
    if not leaves:
        known = case.get("noted", SINCE) == SINCE
        assert strays.vanished["n"].since == (NOTED if known else NOTED + case.get("age", 2 * HOUR))
        assert ("pod a/p hold" in strays.vanished["n"].text) is case.get("held", False)


def test_what_has_the_hardware_is_no_stray_and_cannot_be_released() -> None:
    strays, _world = find({"gpu": "yes"})
    assert (strays.objects, strays.leaving, strays.vanished) == ({}, {}, {})
    with pytest.raises(InvalidInput, match="other cannot be released"):
        find(release_nodes=["other"])


def test_the_api_server_is_asked_for_strays_alone() -> None:
    _strays, world = find({"gpu": "yes"})
    assert world.asked == [f"{MARK},gpu!=yes"]
    _strays, world = find({"gpu": "yes", "zone": "a"}, options={"node_selector": {"zone": "a"}})
    assert world.asked == [f"{MARK},gpu!=yes", f"{MARK},zone!=a"]


def test_whom_the_options_leave_out_leaves_unless_devices_are_in_use() -> None:
    strays, world = find({"gpu": "yes"}, held=True, options={"node_selector": {"zone": "a"}})
    assert strays.leaving == {
        "n": "the options leave it out (node_selector, hardware_labels), or a taint of its role does"
    }
    prepared = Prepared(RECIPE, Intent(resolve(RECIPE, {}), "toy"), "applyset")
    with pytest.raises(
        EnablementError,
        match=r"leave out n, where devices are in use \(node_selector, hardware_labels\) \(pod a/p",
    ):
        refuse_left_out_in_use(cast(Client, world), prepared, strays)
    # A label of hardware_labels that a person sets is that person's word; one of Node Feature
    # Discovery is none.
    for name, leaves in (("site", True), ("feature.node.kubernetes.io/site", False)):
        strays, world = find({"gpu": "yes"}, held=True, options={"hardware_labels": [{name: "a"}]})
        assert ("n" in strays.leaving) is leaves
        assert world.asked[0] == f"{MARK},{name}!=a"
    released, world = find(
        {"gpu": "yes"}, held=True, options={"node_selector": {"zone": "a"}}, release_nodes=["n"]
    )
    refuse_left_out_in_use(cast(Client, world), prepared, released)


def test_a_node_that_comes_and_goes_during_a_run() -> None:
    strays, _world = find(age=0)

    def facts(name: str, **labels: str) -> NodeFacts:
        return NodeFacts.from_object({"metadata": {"name": name, "labels": labels}})

    assert strays.counts(facts("n"))
    assert strays.lost(facts("n", gpu="yes")) is None
    assert strays.lost(facts("n")) == strays.vanished["n"]
    assert strays.lost(facts("late")) is not None
    gone, _world = find()
    assert (gone.counts(facts("n")), gone.counts(facts("n", gpu="yes"))) == (False, True)
