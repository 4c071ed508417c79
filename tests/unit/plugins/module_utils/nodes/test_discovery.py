# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel groups and the compact answer about all nodes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.discovery import (
    Discovery,
    discover,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.grouping import Grouping
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.groups import make_id

MakeNode = Callable[..., dict[str, Any]]

GPU = [{"gpu": "yes"}]


def groups_of(*nodes: dict[str, Any]) -> Any:
    """The kernel groups of these nodes."""
    return Grouping().groups(NodeFacts.from_object(node) for node in nodes)


@pytest.mark.parametrize(
    ("kernel", "stem"),
    [
        ("6.8.0-60-generic", "6-8-0-60-generic"),
        ("5.14.0-570.el9.x86_64", "5-14-0-570-el9-x86-64"),
        ("5.15.0-1064.73+CustomBuild~long", "5-15-0-1064-73-custombui"),
        ("6.1.0-a.b.c.d.e.f.g.h.i.j.k", "6-1-0-a-b-c-d-e-f-g-h-i"),
        ("", "unknown"),
        ("___", "unknown"),
    ],
)
def test_ids(kernel: str, stem: str) -> None:
    found = make_id(kernel, "ubuntu", "24.04", "amd64")

    assert found[:-7] == stem
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", found)
    assert len(found) <= 32


def test_ids_tell_kernel_os_and_arch_apart() -> None:
    kernels = ("6.8.0", "6.8.0+", "6.8-0")
    ids = {
        make_id(kernel, os, version, arch)
        for kernel in kernels
        for os in "ab"
        for version in "12"
        for arch in "xy"
    }

    assert len(ids) == 24
    assert make_id("6.8.0-60-generic", "ubuntu", "24.04", "amd64") == "6-8-0-60-generic-6c853c"


def test_groups_by_label(make_node: MakeNode) -> None:
    first, second = groups_of(
        make_node("b"),
        make_node("a"),
        make_node("c", kernel="5.15.0-1+fips", kernel_label="5.15.0-1_fips"),
    )

    assert (first.nodes, second.nodes) == (("c",), ("a", "b"))
    assert (first.system.kernel, first.system.kernel_label) == ("5.15.0-1+fips", "5.15.0-1_fips")
    assert first.terms == (
        {
            "matchExpressions": [
                {"key": key, "operator": "In", "values": [value]}
                for key, value in (
                    ("feature.node.kubernetes.io/kernel-version.full", "5.15.0-1_fips"),
                    ("feature.node.kubernetes.io/system-os_release.ID", "ubuntu"),
                    ("feature.node.kubernetes.io/system-os_release.VERSION_ID", "24.04"),
                    ("kubernetes.io/arch", "amd64"),
                )
            ]
        },
    )


def test_without_nfd_nodes_are_taken_by_name(make_node: MakeNode) -> None:
    (group,) = groups_of(make_node("b", nfd=False), make_node("a", nfd=False))

    assert (group.system.os_id, group.system.os_version) == ("ubuntu", "24.04")
    assert group.terms == tuple(
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}
        for name in ("a", "b")
    )


def test_one_node_without_labels_does_not_cost_the_others_theirs(make_node: MakeNode) -> None:
    (group,) = groups_of(make_node("a"), make_node("b", nfd=False))

    assert [list(term) for term in group.terms] == [["matchExpressions"], ["matchFields"]]
    assert group.terms[1]["matchFields"][0]["values"] == ["b"]


def test_a_rolling_distribution_has_no_version(make_node: MakeNode) -> None:
    (group,) = groups_of(make_node("a", os_id="arch", os_version=""))

    keys = [expression["key"] for expression in group.terms[0]["matchExpressions"]]
    assert "feature.node.kubernetes.io/system-os_release.VERSION_ID" not in keys


def test_a_node_in_transition_is_in_the_group_of_the_kernel_that_it_runs(
    make_node: MakeNode,
) -> None:
    moved = make_node("a", kernel="6.8.0-61-generic", kernel_label="6.8.0-60-generic")
    (before,) = groups_of(moved, make_node("b", kernel="6.8.0-61-generic"))
    (after,) = groups_of(
        make_node("a", kernel="6.8.0-61-generic"), make_node("b", kernel="6.8.0-61-generic")
    )

    assert before == after


def test_the_id_of_a_node_is_that_of_its_group(make_node: MakeNode) -> None:
    node = make_node("a")

    assert Grouping().id_of(NodeFacts.from_object(node)) == groups_of(node)[0].id


def test_discovery(make_node: MakeNode) -> None:
    gpus = {"capacity": {"nvidia.com/gpu": "8"}, "allocatable": {"nvidia.com/gpu": "6"}}
    nodes = [
        make_node("a", **gpus),
        make_node("a", **gpus),
        make_node("b", kernel="5.15.0-1", kernel_label="5.14.0-1", arch="arm64"),
        make_node("c", labels={"gpu": "no"}),
    ]

    found = discover(nodes, GPU, ["nvidia.com/*"], nodes_total=4, newest="2026-01-02T03:04:05Z")

    assert (found.matched, found.nodes_total, len(found.groups)) == (2, 4, 2)
    assert found.devices == {"0302_10de": {"nodes": 2}}
    assert found.resources == {"nvidia.com/gpu": {"capacity": 8, "allocatable": 6, "nodes": 1}}
    assert found.mixed == {"kernel": True, "os": False, "arch": True}
    assert found.transitions == ({"node": "b", "kernel": "5.15.0-1", "label": "5.14.0-1"},)
    assert found.nfd == {
        "present": True,
        "source": "labels",
        "newest": "2026-01-02T03:04:05Z",
        "message": "",
    }
    assert [facts.name for facts in found.facts] == ["a", "b"]
    assert found.group_of == {group.nodes[0]: group.id for group in found.groups}


def test_discovery_without_nfd(make_node: MakeNode) -> None:
    found = discover([make_node("a", nfd=False)], GPU)

    assert found.devices == {}
    assert found.nfd == {
        "present": False,
        "source": "nodeinfo",
        "newest": None,
        "message": "no node carries labels of Node Feature Discovery; kernel and OS are what the kubelets report",
    }


def test_discovery_with_nfd_on_some_nodes(make_node: MakeNode) -> None:
    found = discover([make_node("a"), make_node("b", nfd=False)], GPU)

    assert found.nfd["source"] == "labels"
    assert found.nfd["message"] == "1 of 2 nodes have no kernel label of NFD and are taken by name"


@pytest.mark.parametrize("present", [None, True, False])
def test_no_node_is_a_result(present: bool | None) -> None:
    found = discover([], GPU, ["nvidia.com/gpu"], nodes_total=3, nfd_present=present)

    assert (found.matched, found.groups, found.devices, found.resources, found.transitions) == (
        0,
        (),
        {},
        {},
        (),
    )
    assert found.mixed == {"kernel": False, "os": False, "arch": False}
    assert found.nfd["present"] is bool(present)
    assert found.nfd["message"].startswith("no node matches")


def test_the_answer_survives_json(make_node: MakeNode) -> None:
    nodes = [make_node("a", capacity={"x.io/y": "2"}), make_node("b", nfd=False)]
    found = discover(nodes, GPU, ["x.io/y"], nodes_total=2)

    answer = json.loads(json.dumps(found.to_dict()))

    assert answer == found.to_dict()
    assert Discovery.from_dict(answer) == found
    assert answer["groups"][0]["count"] == 2
    assert "facts" not in answer


def test_the_answer_is_compact(make_node: MakeNode) -> None:
    nodes = [make_node(f"node-{number:04}") for number in range(1000)]

    # Names come twice: by kernel, and by all that a recipe tells nodes apart by.
    assert len(json.dumps(discover(nodes, GPU).to_dict())) < 30_000


@pytest.mark.parametrize(
    "given", [{}, {"matched": 1}, {"matched": "x", "nodes_total": 1, "groups": []}, {"groups": 5}]
)
def test_something_else_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(
        InvalidInput, match=r"this is not what hardware\.enablement\.nfd_info returns: "
    ):
        Discovery.from_dict(given)
