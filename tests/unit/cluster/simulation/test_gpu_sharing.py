# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a device plugin advertises of GPUs that are divided or shared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.cluster.simulation.gpu_sharing import IN_USE, GpuSharing
from tests.cluster.simulation.model import Node, Pod
from tests.unit.cluster.simulation.objects import CUDA, PLUGIN, node, pod, ready_pod

MANAGER = "nvcr.io/nvidia/cloud-native/k8s-mig-manager:v0.15.0"
TWO = replace(node(), devices={"nvidia.com/gpu": 2})
SMALL = {"1g.10gb": 7}


STEPS = """nvidia-mig-parted assert -f /tmp/layout.yaml || nvidia-mig-parted apply -f /tmp/layout.yaml
chroot /dev-root nvidia-smi
nvidia-ctk system create-device-nodes --control-devices
nvidia-ctk cdi generate --mode=management"""


def command(
    profiles: Mapping[str, int], *, enabled: bool = True, devices: Any = "all", steps: str = STEPS
) -> list[str]:
    """As the recipe's pod has it."""
    layout = {"devices": devices, "mig-enabled": enabled, "mig-devices": profiles}
    text = json.dumps({"version": "v1", "mig-configs": {"pool": [layout]}})
    return [f"echo '{text}' > /tmp/layout.yaml\n{steps}"]


def divided() -> Pod:
    """A partitioner that has done it."""
    return ready_pod(MANAGER, name="mig", command=command(SMALL))


def offered(on: Node, config: str, *pods: Pod) -> dict[str, int]:
    """What a plugin with this configuration advertises."""
    sharing = GpuSharing()
    plugin = replace(ready_pod(PLUGIN, name="plugin"), config_maps=("config",))
    sharing.read([plugin], lambda _namespace, _name: {"config.yaml": config})
    sharing.observe(on, pods)
    return sharing.devices(on, [plugin, *pods])


def test_a_divided_gpu_is_advertised_by_strategy() -> None:
    mixed, single = (f"flags: {{migStrategy: {name}}}" for name in ("mixed", "single"))
    assert offered(TWO, mixed, divided()) == {"nvidia.com/gpu": 0, "nvidia.com/mig-1g.10gb": 14}
    assert offered(TWO, single, divided()) == {"nvidia.com/gpu": 14}
    assert offered(TWO, mixed) == {"nvidia.com/gpu": 2}
    assert offered(TWO, mixed, ready_pod(MANAGER, command=command(SMALL, enabled=False))) == {
        "nvidia.com/gpu": 2
    }
    before = replace(TWO, allocatable={"nvidia.com/mig-3g.40gb": "4"})
    assert offered(before, mixed, divided())["nvidia.com/mig-3g.40gb"] == 0


def test_gpus_are_divided_one_by_one() -> None:
    one = ready_pod(MANAGER, command=command(SMALL, devices=[1]))
    mixed, single = (f"flags: {{migStrategy: {name}}}" for name in ("mixed", "single"))
    assert offered(TWO, mixed, one) == {"nvidia.com/gpu": 1, "nvidia.com/mig-1g.10gb": 7}
    assert offered(TWO, single, one) == {"nvidia.com/gpu": 8}


def test_nobody_sees_devices_without_device_nodes() -> None:
    for step in STEPS.splitlines()[1:]:
        steps = STEPS.replace(step, "")
        blind = ready_pod(MANAGER, command=command(SMALL, steps=steps))
        assert offered(TWO, "flags: {migStrategy: mixed}", blind) == {"nvidia.com/gpu": 2}


def test_shares_are_counted() -> None:
    for kind in ("mps", "timeSlicing"):
        entry = "{resources: [{name: nvidia.com/gpu, replicas: 4}]}"
        assert offered(TWO, f"sharing: {{{kind}: {entry}}}") == {"nvidia.com/gpu": 8}


def test_gpus_in_use_are_not_divided_anew() -> None:
    sharing, new = GpuSharing(), pod(MANAGER, name="new", command=command({"3g.40gb": 2}))
    user = replace(ready_pod(CUDA, name="user"), runtime_class="nvidia")
    sharing.observe(TWO, [divided()])
    assert sharing.refusal(TWO, new, [new, user]) == IN_USE
    assert sharing.refusal(TWO, new, [new]) == ""
    same = pod(MANAGER, name="same", command=command(SMALL))
    assert sharing.refusal(TWO, same, [same, user]) == ""
    # A reboot undoes it.
    sharing.observe(replace(TWO, boot_id="another"), [])
    assert sharing.refusal(TWO, same, [same, user]) == IN_USE
