# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By which way a node's devices are served: never by two, and never by another one unasked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.device_allocation import (
    NOBODY,
    DeviceAllocation,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.discovery import (
    Discovery,
    discover,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import normal
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.node_affinity import (
    NodeAffinity,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools

MakeNode = Callable[..., dict[str, Any]]

LABEL, MARK = "hardware-enablement.io/toy.device-allocation", "hardware-enablement.io/toy"
GPU = [{"gpu": "yes"}]


def ways(wanted: str, recorded: str = "plugin", **pools: str) -> DeviceAllocation:
    """A plugin, which is usual, or dra."""
    return DeviceAllocation(
        LABEL, ("plugin", "dra"), "plugin", {"": wanted, **pools}, {"": recorded}, MARK
    )


@pytest.mark.parametrize("wanted", ["plugin", "dra"])
@pytest.mark.parametrize(
    ("labels", "chosen"),
    [
        ({LABEL: "plugin"}, ["plugin"]),
        ({LABEL: "dra"}, ["dra"]),
        ({LABEL: NOBODY}, []),
        # Not served yet: what is asked for comes at once.
        ({}, None),
    ],
)
def test_no_two_ways_choose_the_same_node(
    wanted: str, labels: Mapping[str, str], chosen: list[str] | None
) -> None:
    asked = ways(wanted)
    found = [way for way in asked.ways if asked.expression(way, "").holds(labels)]
    assert found == ([wanted] if chosen is None else chosen)


def test_what_serves_a_node_is_what_its_label_says_and_not_what_is_asked_for() -> None:
    asked = ways("dra", first="plugin")
    assert asked.way_of({LABEL: "plugin"}, "") == "plugin"
    assert str(asked.change_of({LABEL: "plugin"}, "")) == "served by plugin -> dra"
    assert asked.change_of({LABEL: "plugin"}, "first") is None
    assert asked.fact({LABEL: "plugin"}, "") == "plugin"
    # Between two ways it is counted to where it goes, and nobody takes the label for another.
    assert asked.way_of({LABEL: NOBODY}, "") == "dra"
    assert asked.fact({LABEL: NOBODY}, "") == NOBODY
    assert str(asked.change_of({LABEL: NOBODY}, "")) == "served by none -> dra"
    assert (asked.fact({}, ""), asked.change_of({}, "")) == ("dra", None)


@pytest.mark.parametrize(
    ("labels", "asked", "is_refused"),
    [
        ({MARK: "ready"}, ways("dra"), True),
        ({MARK: "ready"}, ways("plugin"), False),
        ({MARK: "ready"}, ways("plugin", recorded="dra"), True),
        ({MARK: "ready", LABEL: "plugin"}, ways("dra"), False),
        ({}, ways("dra"), False),
    ],
)
def test_a_node_that_does_not_say_what_serves_it_is_not_brought_to_another_way(
    labels: Mapping[str, str], asked: DeviceAllocation, is_refused: bool
) -> None:
    if is_refused:
        with pytest.raises(InvalidInput, match="the devices of node n1 cannot be served by"):
            asked.refuse_unsaid("n1", labels, "")
    else:
        asked.refuse_unsaid("n1", labels, "")


@pytest.fixture(name="found")
def _found(make_node: MakeNode) -> Discovery:
    """Nodes of a pool that is to be served by dra, one of which is; one of no pool; one without NFD's
    labels."""
    nodes = [
        make_node("old", labels={LABEL: "plugin", "pool": "first"}),
        make_node("new", labels={LABEL: "dra", "pool": "first"}),
        make_node("bare", labels={LABEL: "plugin", "pool": "first", "gpu": "yes"}, nfd=False),
        make_node("other", labels={LABEL: "plugin"}),
    ]
    pools = parse_pools([{"name": "first", "selector": {"matchLabels": {"pool": "first"}}}])
    grouping = Grouping(
        finest=normal(("kernel", "allocation")), pools=pools, allocation=ways("plugin", first="dra")
    )
    return discover(nodes, GPU, grouping=grouping)


def test_nodes_are_in_the_group_of_what_serves_them_and_another_waits_for_them(
    found: Discovery,
) -> None:
    assert {
        group.title: (group.nodes, group.coming) for group in found.coarse(("allocation",))
    } == {
        "others": (("other",), ()),
        "pool first": (("bare", "old"), ()),
        "served by dra, pool first": (("new",), ("bare", "old")),
    }
    # Nothing else is made twice for that.
    assert {group.title: group.coming for group in found.coarse(("pool",))} == {
        "others": (),
        "pool first": (),
    }
    assert Discovery.from_dict(found.to_dict(), found.grouping) == found


def test_a_node_that_is_taken_by_name_goes_to_its_new_group_with_its_label(
    found: Discovery,
) -> None:
    groups = {group.allocation: group for group in found.node_groups if group.pool}
    (bare,) = [node for node in found.facts if node.name == "bare"]
    for label, chosen in (("plugin", [""]), (NOBODY, []), ("dra", ["dra"])):
        node = replace(bare, labels={**bare.labels, LABEL: label})
        assert [
            allocation for allocation, group in groups.items() if _chooses(group.terms, node)
        ] == chosen


def _chooses(terms: Any, node: NodeFacts) -> bool:
    affinity = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}
    }
    return NodeAffinity.of({"affinity": {"nodeAffinity": affinity}}).takes(node.labels, node.name)


def test_what_is_usual_is_no_part_of_an_id(make_node: MakeNode) -> None:
    facets = normal(("allocation",))
    node = NodeFacts.from_object(make_node("n", labels={LABEL: "plugin"}))
    usual = Grouping(finest=facets, allocation=ways("plugin"))
    assert usual.group_of(node).id == Grouping(finest=facets).group_of(node).id == "default"


def test_who_is_served_how_is_told_by_way(found: Discovery) -> None:
    assert found.grouping.allocation_rows(found.facts) == [
        {"way": "dra", "wanted": "dra", "nodes": ["new"]},
        {"way": "plugin", "wanted": "dra", "nodes": ["bare", "old"]},
        {"way": "plugin", "wanted": "plugin", "nodes": ["other"]},
    ]
    assert Grouping().allocation_rows(found.facts) == []
