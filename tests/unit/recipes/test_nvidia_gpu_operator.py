# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What nvidia-gpu renders for eleven kinds of nodes, field by field beside what NVIDIA's operator makes
for them (gpu_operator.yml): every difference has a reason."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import group_of
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import (
    container,
    env_of,
    host_paths,
)

Obj = dict[str, Any]
# state, field, name
Difference = tuple[str, str, str]

UPSTREAM = yaml.safe_load((Path(__file__).parent / "gpu_operator.yml").read_text())
NODES = UPSTREAM["nodes"]
CONTAINERS = {
    "driver": "driver",
    "runtime_hook": "toolkit",
    "device_plugin": "device-plugin",
    "feature_discovery": "feature-discovery",
    "monitoring": "exporter",
}
# Where the operator had to be told what its documentation says, in its own run as well.
DISTRIBUTIONS = {"gke": "gke", "k3s": "k3s"}
TOOLKIT = NODES["rhcos-4.19"]["differs"]["driver"]["toolkit"]
OPENSHIFT = {
    "cluster": {"openshift_version": "4.19.7"},
    "driver_toolkits": {"9.6.20250805-0": TOOLKIT},
}
CONFIG = "in the configuration file, which nvidia-gpu renders"
OLD_NAME = "an older name of another variable, which is set"
ALL_OF_RUN = "/run/nvidia is mounted as a whole"
BY_FILE = (
    "the operator's containers read this from a file on the node; here it is known for each group"
)
NOT_DEPLOYED = "for MOFED, virtual GPUs or MPS where they are used, which are not part of this"
OTHERWISE: Mapping[Difference, str] = {
    ("driver", "command", ""): "without a Driver Toolkit its entry point starts the same program",
    ("driver", "env", "RHCOS_IMAGE_MISSING"): "the same",
    ("driver", "toolkit", ""): "the same: it would be a container that sleeps",
    ("driver", "mounts", "/run/mellanox/drivers"): NOT_DEPLOYED,
    ("driver", "mounts", "/run/mellanox/drivers/usr/src"): NOT_DEPLOYED,
    ("driver", "mounts", "/run/nvidia-topologyd"): NOT_DEPLOYED,
    ("runtime_hook", "image", ""): "a newer patch release, whose installer is the same",
    ("runtime_hook", "env", "CONTAINERD_CONFIG"): OLD_NAME,
    ("runtime_hook", "env", "CONTAINERD_RUNTIME_CLASS"): OLD_NAME,
    ("runtime_hook", "env", "CONTAINERD_SET_AS_DEFAULT"): OLD_NAME,
    ("runtime_hook", "env", "CONTAINERD_SOCKET"): OLD_NAME,
    ("runtime_hook", "env", "CRIO_CONFIG"): OLD_NAME,
    ("runtime_hook", "env", "CRIO_CONFIG_MODE"): "of CRI-O, and set there alone",
    ("runtime_hook", "env", "RUNTIME_CONFIG"): "the container toolkit's own default for CRI-O",
    ("runtime_hook", "mounts", "/driver-root"): "found under /run/nvidia or /host",
    ("runtime_hook", "mounts", "/run/nvidia/toolkit"): ALL_OF_RUN,
    ("runtime_hook", "mounts", "/run/nvidia/validations"): ALL_OF_RUN,
    ("runtime_hook", "mounts", "/usr/share/containers/oci/hooks.d"): "devices come by CDI alone",
    ("device_plugin", "env", "CDI_ENABLED"): "not read by the device plugin",
    ("device_plugin", "env", "DEVICE_ID_STRATEGY"): "its default",
    ("device_plugin", "env", "MIG_STRATEGY"): CONFIG,
    ("device_plugin", "env", "MPS_ROOT"): NOT_DEPLOYED,
    ("device_plugin", "env", "NVIDIA_DRIVER_CAPABILITIES"): "no more than it uses",
    ("device_plugin", "env", "PASS_DEVICE_SPECS"): "for the kubelet's device manager without CDI",
    ("device_plugin", "mounts", "/dev/shm"): NOT_DEPLOYED,  # noqa: S108 - a path in its container
    ("device_plugin", "mounts", "/driver-root"): BY_FILE,
    ("device_plugin", "mounts", "/host"): BY_FILE,
    ("device_plugin", "mounts", "/mps"): NOT_DEPLOYED,
    ("device_plugin", "mounts", "/run/nvidia/validations"): "of its init container",
    ("feature_discovery", "env", "MIG_STRATEGY"): CONFIG,
    ("feature_discovery", "env", "USE_NODE_FEATURE_API"): OLD_NAME,
    ("monitoring", "env", "DCGM_EXPORTER_COLLECTORS"): "a list of series of our own",
}


def upstream(name: str) -> dict[str, Obj]:
    """state -> field -> what the operator makes for that node; states that have nothing there are
    left out."""
    differs = NODES[name].get("differs", {})
    made: dict[str, Obj] = {}
    for state, fields in UPSTREAM["all"].items():
        if state in differs and differs[state] is None:
            continue
        own = differs.get(state, {})
        made[state] = {**fields, **own}
        for field in ("env", "mounts"):
            merged = {**fields[field], **own.get(field, {})}
            made[state][field] = {key: value for key, value in merged.items() if value is not None}
    return made


def ours(nvidia_gpu: Any, name: str) -> dict[str, Obj]:
    """The same of what nvidia-gpu renders."""
    node = {"kernel": "6.8.0-60-generic", **NODES[name]["node"]}
    openshift: Obj = {"platform": "openshift", **OPENSHIFT} if name.startswith("rhcos") else {}
    group = group_of("group", **node)
    openshift.setdefault("cluster", {"distribution": DISTRIBUTIONS.get(name, "")})
    rendering = nvidia_gpu(groups=(group,), **openshift)
    made: dict[str, Obj] = {}
    for state, spec in rendering.pod_specs():
        if state in CONTAINERS and any(
            item["name"] == CONTAINERS[state] for item in spec["containers"]
        ):
            made[state] = looked_at(spec, CONTAINERS[state])
    return made


def looked_at(spec: Obj, name: str) -> Obj:
    """The fields of a pod's container that are compared."""
    item, paths = container(spec, name), host_paths(spec)
    script = (item.get("args") or [""])[-1]
    toolkits = [other["image"] for other in spec["containers"] if other["name"] == "driver-toolkit"]
    return {
        "image": item["image"],
        "command": script.rstrip().splitlines()[-1].removeprefix("exec ") if script else "",
        "env": env_of(item),
        "mounts": {
            mount["mountPath"]: paths[mount["name"]]
            for mount in item["volumeMounts"]
            if mount["name"] in paths
        },
        "toolkit": toolkits[0] if toolkits else None,
    }


def differences(theirs: Mapping[str, Obj], made: Mapping[str, Obj]) -> set[Difference]:
    """What the operator makes and we do not, or otherwise."""
    assert made.keys() == theirs.keys()
    found: set[Difference] = set()
    for state, fields in theirs.items():
        for field in ("env", "mounts"):
            found |= {
                (state, field, name)
                for name, value in fields[field].items()
                if made[state][field].get(name) != value
            }
        for field in ("image", "command", "toolkit"):
            if field in fields and made[state][field] != fields[field]:
                found.add((state, field, ""))
    return found


@pytest.mark.parametrize("name", NODES)
def test_what_differs_from_nvidias_operator_has_a_reason(nvidia_gpu: Any, name: str) -> None:
    found = differences(upstream(name), ours(nvidia_gpu, name))
    assert sorted(found - OTHERWISE.keys()) == []


def test_no_reason_is_for_nothing(nvidia_gpu: Any) -> None:
    found = {each for name in NODES for each in differences(upstream(name), ours(nvidia_gpu, name))}
    assert sorted(OTHERWISE.keys() - found) == []


def test_only_a_node_without_driver_toolkit_starts_without_it(nvidia_gpu: Any) -> None:
    toolkits = {name: ours(nvidia_gpu, name).get("driver", {}).get("toolkit") for name in NODES}
    assert {name: image for name, image in toolkits.items() if image} == {"rhcos-4.19": TOOLKIT}
