# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Trees of files as a node's kernel and kubelet show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

POD = "7d4f3c2e-1a2b-4c3d-8e9f-0123456789ab"
OTHER_POD = "11111111-2222-4333-8444-555555555555"
STATIC_POD = "0f9e8d7c6b5a49382716050403020100"
CONTAINER, SIDECAR, SANDBOX = "a" * 64, "b" * 64, "c" * 64

# Two sockets of 48 cores with two threads each; thread siblings are 96 apart.
SOCKETS = {"0": "0-47,96-143", "1": "48-95,144-191"}
SHARED = "0,2-47,50-96,98-143,146-191"


def write(root: Path, files: Mapping[str, str]) -> Path:
    """Make files below a folder; path -> text."""
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return root


def cgroup_names(pod: str, quality: str = "") -> str:
    """The path of a pod's cgroup as the driver cgroupfs has it."""
    return "/".join(filter(None, ("kubepods", quality, f"pod{pod}")))


def systemd_names(pod: str, quality: str = "") -> str:
    """The same with the driver systemd."""
    middle = f"-{quality}" if quality else ""
    outer = f"kubepods.slice/kubepods{middle}.slice/" if quality else "kubepods.slice/"
    return f"{outer}kubepods{middle}-pod{pod.replace('-', '_')}.slice"


def sys_tree(root: Path, sockets: Mapping[str, str], cpus: int) -> Path:
    """/sys with one L3 for each socket, an L2 for each CPU, and a CPU without caches (offline)."""
    files = {}
    for cpu in range(cpus):
        cache, shared = next((c, text) for c, text in sockets.items() if cpu in numbers(text))
        base = f"devices/system/cpu/cpu{cpu}/cache"
        files |= {
            f"{base}/index2/level": "2",
            f"{base}/index2/id": str(cpu),
            f"{base}/index2/shared_cpu_list": "x",
        }
        files |= {
            f"{base}/index3/level": "3",
            f"{base}/index3/id": cache,
            f"{base}/index3/shared_cpu_list": shared,
        }
    write(root, files)
    (root / f"devices/system/cpu/cpu{cpus}").mkdir(parents=True)
    (root / "devices/system/cpu/cpufreq").mkdir()
    return root


def numbers(text: str) -> set[int]:
    """An independent reading of a list of CPUs."""
    found: set[int] = set()
    for part in text.split(","):
        low, high = (part.split("-") * 2)[:2]
        found |= set(range(int(low), int(high) + 1))
    return found


def resctrl_tree(root: Path, *, ways: int = 11, closids: int = 16, mb: int = 8) -> Path:
    """A mounted resctrl of two sockets with one group besides the default one; mb=0: without memory
    bandwidth."""
    mask = f"{(1 << ways) - 1:x}"
    bandwidth = "\nMB:0=100;1=100" if mb else ""
    files = {
        "schemata": f"    L3:0={mask};1={mask}{bandwidth}",
        "cpus_list": "0-191",
        "info/L3/cbm_mask": mask,
        "info/L3/min_cbm_bits": "1",
        "info/L3/num_closids": str(closids),
        "COS2/schemata": f"    L3:0=00c;1={mask}" + ("\n    MB:0= 50;1=100" if mb else ""),
        "COS2/cpus_list": "1,97",
        "mon_groups/schemata": "no group",
        "mon_data/mon_L3_00/llc_occupancy": "0",
    }
    if mb:
        files["info/MB/num_closids"] = str(mb)
        files["info/MB/min_bandwidth"] = files["info/MB/bandwidth_gran"] = "10"
    return write(root, files)


def state_file(
    entries: Mapping[str, Mapping[str, str]], policy: str = "static", shared: str = SHARED
) -> str:
    """What the kubelet writes."""
    state = {
        "policyName": policy,
        "defaultCpuSet": shared,
        "entries": entries,
        "checksum": 1234567890,
    }
    return json.dumps(state)
