# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What simulated DRA drivers publish."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.cluster.simulation.model import Behaviour, Pod
from tests.cluster.simulation.slices import wanted_slices
from tests.unit.cluster.simulation.objects import TABLE, node, pod, ready_pod

IMAGE, NAME = "registry.example.org/fpga-dra-driver:1", "gpu-1-fpga.example.org"
CARDS = node(devices=json.dumps({"amd.com/xilinx_u250": 2}))


def published(driver: Pod, on: object = CARDS, known: tuple[str, ...] = ()) -> dict[str, int]:
    """Name of a ResourceSlice -> how many devices are in it; -1 for one of before."""
    before = {name: {"spec": {"devices": None}} for name in known}
    found = wanted_slices(on, [driver], TABLE, before)  # type: ignore[arg-type]
    return {
        name: -1 if each["spec"]["devices"] is None else len(each["spec"]["devices"])
        for name, each in found.items()
    }


def test_a_driver_that_serves_publishes_the_devices_of_its_node() -> None:
    assert published(pod(IMAGE)) == {}
    assert published(ready_pod(IMAGE)) == {NAME: 2}
    mute = replace(CARDS, faults={"fpga-dra-driver": Behaviour("mute")})
    assert published(ready_pod(IMAGE), mute) == {}


def test_what_it_has_published_stays_until_its_pod_goes() -> None:
    assert published(pod(IMAGE), known=(NAME,)) == {NAME: -1}
    assert published(replace(ready_pod(IMAGE), deleting=True), known=(NAME,)) == {}
