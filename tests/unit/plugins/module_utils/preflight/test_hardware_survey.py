# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hardware nodes have, and which recipes take it."""

from __future__ import annotations

from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._preflight.hardware_survey import (
    HardwareOnNodes,
    hardware_on,
    survey_table,
    takers_of,
)

PCI = "feature.node.kubernetes.io/pci-"
RECIPES = {
    "gpu": [{f"{PCI}0302_10de.present": "true"}],
    "vm": [{f"{PCI}0302_10de.present": "true", "vm": "yes"}],
}


def node(name: str, *devices: str, kernel: str = "6.8") -> dict[str, Any]:
    """A node with these devices, as Node Feature Discovery names them."""
    return {
        "metadata": {
            "name": name,
            "labels": {f"{PCI}{device}.present": "true" for device in devices},
        },
        "status": {"nodeInfo": {"kernelVersion": kernel}},
    }


def test_devices_are_told_by_vendor_and_kind_those_with_a_recipe_first() -> None:
    nodes = [node("a", "0302_10de", "0200_8086"), node("b", "0302_10de", kernel="6.9"), node("c")]
    assert hardware_on(nodes, RECIPES) == [
        HardwareOnNodes(
            "0302_10de", "NVIDIA", "3D controller", ["a", "b"], ["6.8", "6.9"], ["gpu"]
        ),
        HardwareOnNodes("0200_8086", "Intel", "Ethernet controller", ["a"], ["6.8"], []),
    ]


def test_whatever_fields_a_label_has_and_whoever_made_the_device() -> None:
    (vendor,) = hardware_on([node("a", "10de")], {})
    assert (vendor.vendor, vendor.kind) == ("NVIDIA", "-")
    (full,) = hardware_on([node("a", "1200_1da3_1020")], {})
    assert (full.vendor, full.kind) == ("Intel Habana", "processing accelerator")
    (other,) = hardware_on([node("a", "ffff_abcd")], {})
    assert (other.vendor, other.kind) == ("abcd", "-")


def test_the_table_begins_with_how_it_stands_and_ends_with_what_to_do() -> None:
    found = hardware_on([node("a", "0302_10de")], RECIPES)
    lines = survey_table(found, {}, set(), "")
    assert lines[0] == "devices of 1 node: nothing is in the way of gpu"
    assert lines[-1].startswith("-> name one (-e hardware_enablement_recipe=gpu)")
    lines = survey_table(found, {"gpu": "gpu: somebody else serves it"}, set(), "")
    assert lines[0] == "devices of 1 node: something is in the way of gpu"
    assert lines[-2:] == ["! gpu: somebody else serves it", "-> see to what is in the way first"]
    assert survey_table([], {}, set(), "no labels") == ["no devices were found", "! no labels"]


def test_another_recipe_for_what_an_enabled_one_takes_is_not_to_be_enabled() -> None:
    both = {**RECIPES, "other": RECIPES["gpu"]}
    found = hardware_on([node("a", "0302_10de"), node("b", "0200_8086")], both)
    assert takers_of(found, set()) == ["gpu", "other"]
    assert takers_of(found, {"gpu"}) == []
    lines = survey_table(found, {}, {"gpu"}, "")
    assert (lines[0], lines[-2]) == ("devices of 2 nodes", "  enabled: gpu")
    assert lines[-1] == "-> no recipe of the collection is for what else is there"
