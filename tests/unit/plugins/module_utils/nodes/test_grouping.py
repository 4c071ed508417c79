# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups by kernel, runtime, preinstalled driver and pool: who belongs where, what it is called,
which terms select it."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.discovery import (
    Discovery,
    discover,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.expected_kernels import (
    ExpectedKernel,
    parse_expected,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import (
    EVERY_FACT,
    Grouping,
    runtime_value,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import (
    FACETS,
    make_id,
    normal,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.pools import parse_pools
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.system import SIGNED_ONLY

MakeNode = Callable[..., dict[str, Any]]
Nodes = list[dict[str, Any]]

GPU = [{"gpu": "yes"}]
RUNTIME = "hardware-enablement.io/toy.container-runtime"
KERNEL_ID = "6-8-0-60-generic-6c853c"
POOLS = parse_pools(
    [
        {"name": "a100", "selector": {"matchLabels": {"model": "a100"}}},
        {"name": "h100", "selector": {"matchLabels": {"model": "h100"}}},
    ]
)
PUBLISHED = {facet: f"hardware-enablement.io/toy.node-{facet}" for facet in ("kernel", "os")} | {
    "runtime": RUNTIME
}
GROUPING = Grouping(
    finest=EVERY_FACT, pools=POOLS, preinstalled=({"driver": "host"},), published=PUBLISHED
)


@pytest.fixture(name="nodes")
def _nodes(make_node: MakeNode) -> Nodes:
    """Two runtimes, two pools and nodes outside, one with a driver of its own."""
    nodes = [
        make_node("plain"),
        make_node("a", labels={"model": "a100"}),
        make_node("h", labels={"model": "h100"}),
        make_node("host", labels={"driver": "host"}),
        make_node("crio"),
    ]
    for node in nodes:
        runtime = "cri-o://1.30.2" if node["metadata"]["name"] == "crio" else "containerd://1.7.24"
        node["status"]["nodeInfo"]["containerRuntimeVersion"] = runtime
    return nodes


def members(found: Discovery, *per: str) -> dict[str, tuple[str, ...]]:
    """Title of a group -> its nodes."""
    return {group.title: group.nodes for group in found.coarse(per)}


def test_facts_of_the_runtime_and_of_rhcos(make_node: MakeNode) -> None:
    node = make_node(image="Red Hat Enterprise Linux CoreOS 416.94.202410211619-0", nfd=False)
    node["status"]["nodeInfo"]["containerRuntimeVersion"] = "cri-o://1.29.9-5.rhaos4.16"
    facts = NodeFacts.from_object(node)

    assert (facts.system.runtime, facts.system.runtime_major) == ("cri-o", "1")
    assert (facts.system.os_id, facts.system.os_version, facts.system.os_build) == (
        "rhcos",
        "4.16",
        "416.94.202410211619-0",
    )


def test_facets_have_an_order_and_kernel_includes_two() -> None:
    assert normal(()) == ()
    assert normal(("runtime", "kernel", "os", "arch")) == ("kernel", "runtime", "pool")
    assert normal(("driver",)) == ("driver", "pool")


def test_nodes_are_grouped_by_what_counts(nodes: Nodes) -> None:
    found = discover(nodes, GPU, grouping=GROUPING)

    assert members(found, "pool") == {
        "others": ("crio", "host", "plain"),
        "pool a100": ("a",),
        "pool h100": ("h",),
    }
    assert members(found, "runtime") == {
        "cri-o 1": ("crio",),
        "containerd 1": ("host", "plain"),
        "containerd 1, pool a100": ("a",),
        "containerd 1, pool h100": ("h",),
    }
    assert members(found, "driver")["driver preinstalled"] == ("host",)
    assert len(found.node_groups) == 5
    assert [group.nodes for group in found.groups] == [("a", "crio", "h", "host", "plain")]


def test_a_group_has_the_lowest_version_of_its_runtime_and_no_other_id_for_it(
    nodes: Nodes,
) -> None:
    before = discover(nodes, GPU, grouping=GROUPING)
    for node in nodes:
        if node["metadata"]["name"] == "host":
            node["status"]["nodeInfo"]["containerRuntimeVersion"] = "containerd://1.7.9"
    found = Discovery.from_dict(discover(nodes, GPU, grouping=GROUPING).to_dict(), GROUPING)
    versions = {group.title: group.system.runtime_version for group in found.coarse(("runtime",))}
    # As numbers: 1.7.9 is before 1.7.24.
    assert (versions["containerd 1"], versions["cri-o 1"]) == ("1.7.9", "1.30.2")
    assert versions["containerd 1, pool a100"] == "1.7.24"
    assert not any(group.system.runtime_version for group in found.coarse(("kernel",)))
    assert [group.id for group in found.node_groups] == [group.id for group in before.node_groups]


def test_a_group_takes_signed_modules_only_where_one_of_its_nodes_says_so_and_has_no_other_id_for_it(
    nodes: Nodes,
) -> None:
    before = discover(nodes, GPU, grouping=GROUPING)
    for node in nodes:
        if node["metadata"]["name"] == "host":
            node["metadata"]["labels"][SIGNED_ONLY] = "true"
        if node["metadata"]["name"] == "a":
            node["metadata"]["labels"][SIGNED_ONLY] = "false"
    found = Discovery.from_dict(discover(nodes, GPU, grouping=GROUPING).to_dict(), GROUPING)
    assert {
        name for group in found.node_groups if group.system.signed_only for name in group.nodes
    } == {"host"}
    assert [
        group.system.signed_only for group in found.coarse(("kernel",)) if "host" in group.nodes
    ] == [True]
    assert not any(group.system.signed_only for group in found.coarse(("runtime",)))
    assert [group.id for group in found.node_groups] == [group.id for group in before.node_groups]


def test_ids_are_labels_and_what_is_as_usual_is_no_part_of_them(nodes: Nodes) -> None:
    found = discover(nodes, GPU, grouping=GROUPING)
    ids = {group.title: group.id for per in FACETS for group in found.coarse((per,))}

    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?", name) for name in ids.values())
    assert len(set(ids.values())) == len(ids)
    # As it was before there were other groups than kernels: names of DaemonSets are made of it.
    assert (
        ids["6.8.0-60-generic"]
        == KERNEL_ID
        == make_id("6.8.0-60-generic", "ubuntu", "24.04", "amd64")
    )
    assert {group.id for group in found.coarse(("kernel", "driver")) if "plain" in group.nodes} == {
        KERNEL_ID
    }
    assert ids["others"] == "default"
    assert ids["6.8.0-60-generic, pool a100"].startswith("a100-6-8-0-60-generic-")
    assert ids["containerd 1"].startswith("containerd-1-")


def chosen(terms: tuple[Any, ...], node: dict[str, Any], labels: dict[str, str]) -> bool:
    """Whether node affinity with these terms takes a node, by the scheduler's rules."""

    def holds(expression: dict[str, Any]) -> bool:
        value, values = labels.get(expression["key"]), expression.get("values", [])
        return {
            "In": value in values,
            "NotIn": value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[expression["operator"]]

    name = node["metadata"]["name"]
    return not terms or any(
        all(holds(expression) for expression in term.get("matchExpressions", ()))
        and all(name in field["values"] for field in term.get("matchFields", ()))
        for term in terms
    )


@pytest.mark.parametrize("per", [*((facet,) for facet in FACETS), FACETS])
def test_the_terms_of_each_group_select_its_nodes_and_no_other(
    nodes: Nodes, per: tuple[str, ...]
) -> None:
    found = discover(nodes, GPU, grouping=GROUPING)
    for group in found.coarse(per):
        for node in nodes:
            name = node["metadata"]["name"]
            facts = NodeFacts.from_object(node)
            labels = {
                **facts.labels,
                RUNTIME: runtime_value(facts.system.runtime, facts.system.runtime_major),
            }
            assert chosen(group.terms, node, labels) is (name in group.nodes), (group.title, name)


@pytest.mark.parametrize("per", [*((facet,) for facet in FACETS), FACETS])
def test_without_labels_of_nfd_our_own_select_the_same_nodes(
    nodes: Nodes, per: tuple[str, ...]
) -> None:
    other = copy.deepcopy(nodes[0])
    other["metadata"]["name"] = "other"
    other["status"]["nodeInfo"] |= {"kernelVersion": "6.11.0", "osImage": "Debian GNU/Linux 12"}
    found = discover([*nodes, other], GPU, grouping=GROUPING)
    for group in found.coarse(per):
        for node in nodes:
            facts = NodeFacts.from_object(node)
            kept = {
                name: value
                for name, value in facts.labels.items()
                if not name.startswith("feature.node")
            }
            assert not chosen(group.held, node, kept)
            ours = kept | GROUPING.facts_of(facts)
            assert chosen(group.held, node, ours) is (facts.name in group.nodes), (
                group.title,
                facts.name,
            )


def test_a_node_that_joins_changes_no_term(nodes: Nodes, make_node: MakeNode) -> None:
    before = discover(nodes, GPU, grouping=GROUPING)
    joined = make_node("joined")
    joined["status"]["nodeInfo"]["containerRuntimeVersion"] = "containerd://1.7.25"
    after = discover([*nodes, joined], GPU, grouping=GROUPING)

    assert [group.terms for group in before.node_groups] == [
        group.terms for group in after.node_groups
    ]


def test_only_what_is_selected_by_labels_of_nfd_is_taken_by_name_without_them(
    make_node: MakeNode,
) -> None:
    found = discover([make_node("a", nfd=False)], GPU, grouping=Grouping(finest=EVERY_FACT))

    assert "matchFields" in found.coarse(("kernel",))[0].terms[0]
    assert "matchFields" in found.coarse(("os",))[0].terms[0]
    assert [list(term) for term in found.coarse(("arch",))[0].terms] == [["matchExpressions"]]


def test_of_several_builds_of_one_kernel_the_newest_counts(make_node: MakeNode) -> None:
    builds = ("416.94.202410211619-0", "416.94.202412170927-0", "416.94.202409121747-0")
    nodes = [make_node(build, image=f"Red Hat Enterprise Linux CoreOS {build}") for build in builds]

    (group,) = discover(nodes, GPU).coarse(("kernel",))
    assert group.system.os_build == builds[1]


def test_the_answer_is_all_that_rendering_needs(nodes: Nodes) -> None:
    found = discover(nodes, GPU, grouping=GROUPING)
    again = Discovery.from_dict(json.loads(json.dumps(found.to_dict())), GROUPING)

    for per in (*((facet,) for facet in FACETS), FACETS):
        assert again.coarse(per) == found.coarse(per)
    assert again.group_of == found.group_of
    assert again.group_of["crio"] == GROUPING.id_of(NodeFacts.from_object(nodes[-1]))


NEXT = "6.8.0-99-generic"


def expecting(*entries: Any) -> Grouping:
    """The grouping of nodes that will run these kernels."""
    return replace(GROUPING, expected=parse_expected(entries))


def test_a_kernel_that_nodes_will_run_has_the_groups_that_they_will_be_in(
    nodes: Nodes,
) -> None:
    before = discover(nodes, GPU, grouping=GROUPING)
    staged = discover(nodes, GPU, grouping=expecting(NEXT))
    to_come = [group for group in staged.node_groups if not group.nodes]
    assert [group for group in staged.node_groups if group.nodes] == list(before.node_groups)
    assert (staged.groups, staged.group_of) == (before.groups, before.group_of)

    for node in nodes:
        node["status"]["nodeInfo"]["kernelVersion"] = NEXT
        node["metadata"]["labels"]["feature.node.kubernetes.io/kernel-version.full"] = NEXT
    rebooted = discover(nodes, GPU, grouping=GROUPING)
    assert [(group.id, group.terms, group.held) for group in to_come] == [
        (group.id, group.terms, group.held) for group in rebooted.node_groups
    ]
    # One that has arrived is no second group.
    arrived = discover(nodes, GPU, grouping=expecting(NEXT))
    assert arrived.node_groups == rebooted.node_groups


def test_a_kernel_of_another_system_is_for_its_nodes_alone(nodes: Nodes) -> None:
    def versions(*entries: Any) -> list[str]:
        found = discover(nodes, GPU, grouping=expecting(*entries))
        return sorted({group.system.os_version for group in found.node_groups if not group.nodes})

    assert versions({"kernel": NEXT, "os_id": "rhel"}, {"kernel": NEXT, "arch": "arm64"}) == []
    assert versions({"kernel": NEXT, "os_id": "ubuntu", "os_version": "26.04"}, NEXT) == [
        "24.04",
        "26.04",
    ]


def test_rhcos_that_calls_itself_rhel_after_its_update_is_the_same_nodes(
    make_node: MakeNode,
) -> None:
    image = "Red Hat Enterprise Linux CoreOS 416.94.202410211619-0"
    node = make_node("a", image=image, nfd=False)
    later = {"kernel": NEXT, "os_id": "rhel", "os_version": "9.6", "os_build": "9.6.20250523-0"}
    grouping = Grouping(expected=parse_expected([later]))
    found = discover([node], GPU, grouping=grouping)
    (group,) = [group for group in found.node_groups if not group.nodes]
    system = group.system
    assert (system.os_id, system.os_version, system.os_build) == ("rhel", "9.6", "9.6.20250523-0")


def test_what_is_no_kernel_is_refused_and_what_is_one_is_recorded_as_it_was_given() -> None:
    wrong: tuple[Any, ...] = ("6.8 generic", "", {"kernal": NEXT}, {"kernel": NEXT, "arch": "A"})
    for entry in wrong:
        with pytest.raises(InvalidInput, match="no kernel to prepare for"):
            parse_expected([entry])
    given = [{"kernel": NEXT, "os_build": "416.94.202410211619-0"}, {"kernel": NEXT}]
    assert [kernel.to_spec() for kernel in parse_expected(given)] == [given[1], given[0]]
    assert parse_expected([NEXT, {"kernel": NEXT}]) == (ExpectedKernel(NEXT),)
