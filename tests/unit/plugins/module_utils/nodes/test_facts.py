# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts of one node: what is read where, and what counts when sources disagree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import (
    NodeFacts,
    quantity,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.selectors import (
    label_selector,
    matches,
)
from ansible_collections.hardware.enablement.plugins.module_utils._nodes.system import (
    label_form,
    os_of,
)

MakeNode = Callable[..., dict[str, Any]]


def test_a_node(make_node: MakeNode) -> None:
    taint = {"key": "nvidia.com/gpu", "effect": "NoSchedule"}
    facts = NodeFacts.from_object(
        make_node(spec={"taints": [taint]}, capacity={"nvidia.com/gpu": "8"})
    )

    assert (facts.name, facts.uid, facts.boot_id, facts.annotations) == (
        "n1",
        "uid-n1",
        "boot-1",
        {"a": "b"},
    )
    assert (facts.system.kernel, facts.system.kernel_label, facts.system.kernel_as_label) == (
        "6.8.0-60-generic",
    ) * 3
    assert (facts.system.os_id, facts.system.os_version, facts.system.arch) == (
        "ubuntu",
        "24.04",
        "amd64",
    )
    assert (facts.readiness.ready, facts.readiness.message, facts.schedulable) == (True, "", True)
    assert facts.readiness.since is not None
    assert facts.created is not None
    assert facts.readiness.since - facts.created == 60
    assert facts.taints == (taint,)
    assert facts.capacity["nvidia.com/gpu"] == "8"
    assert not facts.system.in_transition


def test_an_empty_node() -> None:
    facts = NodeFacts.from_object({"metadata": {"name": "bare"}})

    assert (
        facts.name,
        facts.system.kernel,
        facts.system.kernel_label,
        facts.system.os_id,
        facts.system.arch,
    ) == (
        "bare",
        "",
        None,
        "",
        "",
    )
    assert (facts.readiness.ready, facts.readiness.since, facts.created) == (False, None, None)


def test_a_node_that_is_not_ready(make_node: MakeNode) -> None:
    facts = NodeFacts.from_object(make_node(ready="Unknown", spec={"unschedulable": True}))

    assert (facts.readiness.ready, facts.readiness.message, facts.schedulable) == (
        False,
        "kubelet is Unknown",
        False,
    )


def test_a_heartbeat_changes_nothing(make_node: MakeNode) -> None:
    node, later = make_node(), make_node()
    later["status"]["conditions"][1]["lastHeartbeatTime"] = "y"
    later["metadata"]["resourceVersion"] = "7"

    assert NodeFacts.from_object(node) == NodeFacts.from_object(later)


@pytest.mark.parametrize(
    ("kernel", "label", "in_transition"),
    [
        ("6.8.0-60-generic", "6.8.0-60-generic", False),
        ("6.8.0-61-generic", "6.8.0-60-generic", True),
        ("5.15.0-1+fips", "5.15.0-1_fips", False),
    ],
)
def test_transitions(make_node: MakeNode, kernel: str, label: str, in_transition: bool) -> None:
    assert (
        NodeFacts.from_object(make_node(kernel=kernel, kernel_label=label)).system.in_transition
        is in_transition
    )


def test_after_a_reboot_the_labels_are_old_and_the_kubelet_knows(make_node: MakeNode) -> None:
    image = "Red Hat Enterprise Linux CoreOS 417.94.202501010000-0"
    node = make_node(
        kernel="5.14.0-570",
        kernel_label="5.14.0-427",
        os_id="rhcos",
        os_version="4.16",
        image=image,
    )

    assert NodeFacts.from_object(node).system.os_version == "4.17"


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("6.8.0-60-generic", "6.8.0-60-generic"),
        ("5.15.0-1+fips~2", "5.15.0-1_fips_2"),
        ("_6.1+", "6.1"),
        ("a" * 62 + ".b", "a" * 62),
        ("+" + "a" * 63, "a" * 63),
        ("", ""),
    ],
)
def test_label_form(value: str, label: str) -> None:
    assert label_form(value) == label


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("Ubuntu 22.04.5 LTS", ("ubuntu", "22.04")),
        ("Debian GNU/Linux 12 (bookworm)", ("debian", "12")),
        ("Debian GNU/Linux trixie/sid", ("debian", "")),
        ("Red Hat Enterprise Linux CoreOS 416.94.202410211619-0", ("rhcos", "4.16")),
        ("Red Hat Enterprise Linux CoreOS 9.6.20250523-0 (Plow)", ("rhel", "9.6")),
        ("Red Hat Enterprise Linux 9.4 (Plow)", ("rhel", "9.4")),
        ("Red Hat Enterprise Linux Server 7.9 (Maipo)", ("rhel", "7.9")),
        ("CentOS Stream 9", ("centos", "9")),
        ("Fedora CoreOS 40.20240906.3.0", ("fedora", "40")),
        ("Fedora Linux 40 (Container Image)", ("fedora", "40")),
        ("Rocky Linux 9.4 (Blue Onyx)", ("rocky", "9.4")),
        ("SUSE Linux Enterprise Server 15 SP5", ("sles", "15.5")),
        ("Flatcar Container Linux by Kinvolk 3815.2.5 (Oklo)", ("flatcar", "3815.2.5")),
        ("Amazon Linux 2023.6.20241010", ("amzn", "2023")),
        ("Bottlerocket OS 1.20.3 (aws-k8s-1.30)", ("bottlerocket", "1.20.3")),
        ("Talos (v1.8.1)", ("talos", "1.8.1")),
        ("Container-Optimized OS from Google", ("cos", "")),
        ("My own Linux 5", ("", "")),
        ("", ("", "")),
    ],
)
def test_os_without_nfd(image: str, found: tuple[str, str]) -> None:
    assert os_of({}, image) == found


def test_os_labels_count_where_the_image_says_nothing() -> None:
    labels = {
        "feature.node.kubernetes.io/system-os_release.ID": "mine",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "5",
    }

    assert os_of(labels, "Ubuntu 22.04.5 LTS") == ("mine", "5")
    assert os_of(labels, "My own Linux 5", labels_stale=True) == ("mine", "5")
    assert os_of(labels, "Ubuntu 22.04.5 LTS", labels_stale=True) == ("ubuntu", "22.04")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8", 8),
        ("0", 0),
        (None, 0),
        (4, 4),
        ("500m", 0.5),
        ("2k", 2000),
        ("2Ki", 2048),
        ("1.5Gi", 1610612736),
        ("1e3", 1000),
        ("1e999", 2**63 - 1),
        ("-9999999999999E", 1 - 2**63),
        ("9" * 5000, 2**63 - 1),
    ],
)
def test_quantity(text: str | int | None, number: float) -> None:
    assert quantity(text) == number
    assert isinstance(quantity(text), type(number))


@pytest.mark.parametrize("text", ["", "many", "5 Gi", "1.2.3", "5Xi", "1E999999999", "1\n", "٣"])
def test_no_quantity(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def test_label_sets() -> None:
    sets = [{"a": "1", "b": None}, {"c": "x"}]

    assert matches({"a": "1", "b": ""}, sets)
    assert matches({"c": "x"}, sets)
    assert not matches({"a": "1"}, sets)
    assert not matches({"a": "2", "b": "", "c": "y"}, sets)
    assert not matches({"a": "1"}, [])
    assert [label_selector(each) for each in sets] == ["a=1,b", "c=x"]
