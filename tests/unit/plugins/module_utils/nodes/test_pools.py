# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools: what a person may say, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import (
    NODE_POOL_LABEL,
    NodePool,
    check_membership,
    machine_config_terms,
    parse_pools,
)

MakeNode = Callable[..., dict[str, Any]]
WORKER, INFRA = "node-role.kubernetes.io/worker", "node-role.kubernetes.io/infra"
SELECTORS = {"worker": {"matchLabels": {WORKER: ""}}, "infra": {"matchLabels": {INFRA: ""}}}


def pool(name: str, **labels: str) -> NodePool:
    """A pool by labels."""
    return parse_pools([{"name": name, "selector": {"matchLabels": labels}}])[0]


def test_where_the_nodes_of_a_pool_are_known_from() -> None:
    by_label, by_config, hosted = parse_pools(
        [
            {
                "name": "a",
                "selector": {"matchLabels": {"zone": "a"}},
                "options": {"driver_version": "1"},
            },
            {"name": "b", "machine_config_pool": "infra", "selector": None},
            {"name": "c", "node_pool": "gpus"},
        ]
    )

    assert by_label.has({"zone": "a"})
    assert not by_label.has({"zone": "b"})
    assert by_label.options == {"driver_version": "1"}
    assert (by_config.terms, by_config.machine_config_pool) == (None, "infra")
    assert hosted.has({NODE_POOL_LABEL: "gpus"})


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["a"], r"pools\[0\].*no mapping"),
        (
            [{"selector": {"matchLabels": {"a": "b"}}}],
            r"pools\[0\].*its name is no DNS label of at most 20",
        ),
        ([{"name": "a-name-of-21-letters-x", "node_pool": "x"}], "its name is no DNS label"),
        ([{"name": "a"}], "pool a.*it has none of them; say by one of selector"),
        (
            [{"name": "a", "node_pool": "x", "machine_config_pool": "x"}],
            "it has machine_config_pool and node_pool",
        ),
        ([{"name": "a", "label": "x"}], "it has label; use name, options and one of"),
        (
            [{"name": "a", "selector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}],
            "'Is' of a is none of In",
        ),
        ([{"name": "a", "node_pool": "x", "options": "y"}], "its options are no mapping"),
        (
            [{"name": "a", "node_pool": "x"}, {"name": "a", "node_pool": "y"}],
            "another pool has the same name",
        ),
    ],
)
def test_what_cannot_be_meant(given: Any, why: str) -> None:
    with pytest.raises(InvalidInput, match=f"the pools cannot be used.*{why}"):
        parse_pools(given)


def test_a_node_of_a_custom_machine_config_pool_is_no_worker() -> None:
    worker, infra = (
        NodePool(name, machine_config_terms(name, SELECTORS)) for name in ("worker", "infra")
    )

    assert (worker.has({WORKER: ""}), worker.has({WORKER: "", INFRA: ""})) == (True, False)
    assert infra.has({WORKER: "", INFRA: ""})


def test_an_unknown_machine_config_pool() -> None:
    with pytest.raises(
        InvalidInput, match="there is no MachineConfigPool 'gpu': the cluster has infra, worker"
    ):
        machine_config_terms("gpu", SELECTORS)


def facts(make_node: MakeNode, *names: str, **labels: str) -> list[NodeFacts]:
    """Nodes with these labels."""
    return [NodeFacts.from_object(make_node(name, labels=labels)) for name in names]


def test_a_node_in_two_pools(make_node: MakeNode) -> None:
    with pytest.raises(InvalidInput, match=r"node n1.*it is in the pools a and b"):
        check_membership(
            [pool("a", zone="a"), pool("b", rack="1")], facts(make_node, "n1", zone="a", rack="1")
        )


def test_an_empty_pool(make_node: MakeNode) -> None:
    nodes = facts(make_node, "n1", "n2", "n3", "n4", zone="a")
    with pytest.raises(
        InvalidInput, match=r"pool b.*none of the 4 nodes with the hardware.*n1, n2, n3 and 1 more"
    ):
        check_membership([pool("a", zone="a"), pool("b", zone="b")], nodes)
    check_membership([pool("b", zone="b")], [])


def test_a_label_that_is_no_number(make_node: MakeNode) -> None:
    (many,) = parse_pools(
        [
            {
                "name": "a",
                "selector": {
                    "matchExpressions": [{"key": "gpus", "operator": "Gt", "values": ["4"]}]
                },
            }
        ]
    )
    with pytest.raises(
        InvalidInput, match="compares its label gpus with a number, and it is 'eight'"
    ):
        check_membership([many], facts(make_node, "n1", gpus="eight"))
