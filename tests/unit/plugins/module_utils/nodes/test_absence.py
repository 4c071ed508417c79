# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where no node matches: the sentence that helps."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.absence import (
    Evidence,
    explain,
    similar,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.selectors import LabelSet

FEATURE = "feature.node.kubernetes.io/"
GPU: list[LabelSet] = [
    {f"{FEATURE}pci-0302_10de.present": "true"},
    {f"{FEATURE}pci-10de.present": "true"},
]


def test_without_nfd_it_says_so_and_what_was_looked_for() -> None:
    text = explain(GPU, Evidence([{"kubernetes.io/arch": "amd64"}], []))
    assert text == (
        f"no node matches the selector; looked for {FEATURE}pci-0302_10de.present=true or"
        f" {FEATURE}pci-10de.present=true; none of 1 node has a label of Node Feature Discovery, and no DaemonSet of it"
        " is there; run the playbook enable with -e hardware_enablement_nfd=true, which deploys it, or give the nodes"
        " that have the hardware one of these labels"
    )


@pytest.mark.parametrize(
    ("evidence", "said", "todo"),
    [
        (Evidence([], []), "the cluster has no nodes", "add nodes"),
        (
            Evidence([{}], ["nfd/nfd-worker"]),
            "(nfd/nfd-worker) has labelled none of 1 node",
            "look at the pods and logs",
        ),
        (Evidence([{}], None), "may not be read", "run the playbook enable with"),
        (
            Evidence([{f"{FEATURE}cpu-model.vendor_id": "Intel"}, {}]),
            "has labelled 1 of 2 nodes",
            "if a node has the hardware, see whether nfd-worker runs there",
        ),
    ],
)
def test_whether_nfd_runs(evidence: Evidence, said: str, todo: str) -> None:
    text = explain(GPU, evidence)
    assert said in text
    assert f"; {todo}" in text


@pytest.mark.parametrize(
    ("label", "difference", "may_be_it"),
    [
        ("pci-0302_10de.present=false", "the value is not true", True),
        ("pci-0300_10de.present=true", "the same vendor, under another class or name", True),
        ("pci-10de_20b0.present=true", "the same vendor, under another class or name", True),
        ("pci-0302_1002.present=true", "the same class of device, of another vendor", False),
    ],
)
def test_similar_labels_are_named_with_what_tells_them_apart(
    label: str, difference: str, may_be_it: bool
) -> None:
    name, _equals, value = label.partition("=")
    nodes = [
        {f"{FEATURE}{name}": value},
        {f"{FEATURE}{name}": value, "kubernetes.io/hostname": "a"},
    ]
    (found,) = similar(GPU, nodes)
    assert (found.label, found.nodes, found.difference) == (f"{FEATURE}{label}", 2, difference)
    assert found.may_be_it == may_be_it
    text = explain(GPU, Evidence(nodes))
    assert f"{FEATURE}{label} (2 nodes: {difference})" in text
    assert ("if this is the hardware" in text) == may_be_it


def test_a_label_with_a_slip_in_its_name() -> None:
    (found,) = similar(
        [{f"{FEATURE}cpu-rdt.RDTL3CA": "true"}], [{f"{FEATURE}cpu-rdt.RDTL2CA": "true"}]
    )
    assert found.difference == f"nearly {FEATURE}cpu-rdt.RDTL3CA"


def test_a_selector_of_the_users_own_that_excludes_all() -> None:
    narrowed = [{**labels, "pool": "a"} for labels in GPU]
    text = explain(narrowed, Evidence([{f"{FEATURE}pci-0302_10de.present": "true"}] * 3))
    assert f"{FEATURE}pci-0302_10de.present=true (3 nodes) with pool=a (0 nodes)" in text
    assert text.endswith(
        "; correct the selector (option node_selector), or label the nodes that are meant"
    )


def test_at_most_three_similar_labels() -> None:
    nodes = [{f"{FEATURE}pci-030{number}_10de.present": "true" for number in (0, 1, 3, 4, 5)}]
    assert len(similar(GPU, nodes)) == 3
