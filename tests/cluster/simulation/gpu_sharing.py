# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""GPUs that are divided (MIG) or shared (time slices, MPS): what a node's device plugin advertises then.

As with NVIDIA's mig-parted GPUs that somebody uses are not divided anew, and a reboot undoes it. What has no
device nodes, which nvidia-smi makes in the driver's root, is there for nobody. A device plugin reads its
configuration when it starts. Filters of devices are not looked at.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import yaml

from .kernel_modules import runs
from .model import Node, Obj, Pod

PARTITIONER, PLUGIN = "mig-partitioner", "device-plugin"
_GPU, _MIG = "nvidia.com/gpu", "nvidia.com/mig-"
_LAYOUT = re.compile(r"echo '(\{.*?\})' > \S+layout")
IN_USE = "Error applying MIG configuration with hooks: error resetting all GPUs: In use by another client"

# nvidia-smi in the driver's root, the control devices and the specification of all devices, after the division.
_MAKES_DEVICES = re.compile(
    r"mig-parted apply .*chroot \S+ \S*nvidia-smi.*create-device-nodes --control-devices"
    r".*cdi generate --mode=management",
    re.DOTALL,
)

# mig-parted's entries: what some GPUs are divided into.
Layout = Sequence[Mapping[str, Any]]
# A ConfigMap's data by namespace and name, None where there is none.
ReadConfig = Callable[[str, str], "Mapping[str, str] | None"]


class GpuSharing:
    """How the GPUs of nodes are divided, and what their device plugins make of it."""

    def __init__(self) -> None:
        self._layouts: dict[str, Layout] = {}
        self._boots: dict[str, str] = {}
        self._configs: dict[str, Obj] = {}

    def read(self, pods: Sequence[Pod], read_config: ReadConfig) -> None:
        """Read the configuration of device plugins that have just started."""
        for pod in pods:
            if pod.operand.role == PLUGIN and pod.serves and pod.uid not in self._configs:
                found = [read_config(pod.namespace, name) or {} for name in pod.config_maps]
                texts = [text for data in found for text in data.values()]
                # Others have a script there.
                read = yaml.safe_load(texts[0]) if texts else None
                self._configs[pod.uid] = read if isinstance(read, dict) else {}

    def observe(self, node: Node, pods: Sequence[Pod]) -> None:
        """Take down how the GPUs are divided now."""
        if self._boots.get(node.name) != node.boot_id:
            self._boots[node.name] = node.boot_id
            self._layouts.pop(node.name, None)
        for pod in pods:
            if pod.operand.role == PARTITIONER and pod.serves and not pod.deleting:
                self._layouts[node.name] = wanted_layout(pod)

    def refusal(self, node: Node, pod: Pod, pods: Sequence[Pod]) -> str:
        """What a partitioner says last that cannot divide GPUs; "" where it can."""
        if pod.operand.role != PARTITIONER or pod.serves:
            return ""
        if wanted_layout(pod) == self._layouts.get(node.name, []):
            return ""
        users = [other for other in pods if other.uid != pod.uid and runs(other) and _uses(other)]
        return IN_USE if users else ""

    def devices(self, node: Node, pods: Sequence[Pod]) -> dict[str, int]:
        """What the node's device plugin advertises."""
        gpus = node.devices.get(_GPU, 0)
        found = dict(node.devices)
        plugin = next((p for p in pods if p.operand.role == PLUGIN and p.serves), None)
        if not gpus or plugin is None:
            return found
        config = self._configs.get(plugin.uid, {})
        strategy = (config.get("flags") or {}).get("migStrategy", "none")
        divided = [_profiles(self._layouts.get(node.name, []), gpu) for gpu in range(gpus)]
        if any(divided):
            each = Counter[str]()
            for profiles in divided:
                each.update(
                    {f"{_MIG}{name.replace('+', '.')}": profiles[name] for name in profiles}
                )
            whole = divided.count({})
            found[_GPU] = each.total() + whole if strategy == "single" else whole
            found |= each if strategy == "mixed" else {}
        sharing = config.get("sharing") or {}
        for kind in ("timeSlicing", "mps"):
            for entry in (sharing.get(kind) or {}).get("resources") or ():
                found[entry["name"]] = found.get(entry["name"], 0) * int(entry["replicas"])
        gone = [name for name in node.allocatable if name.startswith(_MIG) and name not in found]
        return {**found, **dict.fromkeys(gone, 0)}


def wanted_layout(pod: Pod) -> Layout:
    """What a partitioner makes of the GPUs; [] where it makes no devices of them that anybody sees."""
    for container in pod.containers:
        found = _LAYOUT.search(container.command)
        if found and _MAKES_DEVICES.search(container.command):
            layout: list[dict[str, Any]] = json.loads(found[1])["mig-configs"]["pool"]
            return layout if any(entry["mig-enabled"] for entry in layout) else []
    return []


def _profiles(layout: Layout, gpu: int) -> dict[str, int]:
    """How many devices of each profile a GPU is divided into."""
    profiles: dict[str, int] = {}
    for entry in layout:
        if entry["devices"] == "all" or gpu in entry["devices"]:
            profiles = dict(entry["mig-devices"]) if entry["mig-enabled"] else {}
    return profiles


def _uses(pod: Pod) -> bool:
    """Whether a pod keeps GPUs open."""
    wants = any(name == _GPU or name.startswith(_MIG) for name in pod.extended)
    return wants or pod.runtime_class == "nvidia" or pod.operand.role in (PLUGIN, "exporter")
