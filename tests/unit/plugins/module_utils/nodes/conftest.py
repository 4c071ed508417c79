# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node objects as the API server shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

FEATURE = "feature.node.kubernetes.io/"
MakeNode = Callable[..., dict[str, Any]]


@pytest.fixture(name="make_node")
def _make_node() -> MakeNode:
    """make_node(name, kernel=..., labels=...): a ready GPU node; nfd=False leaves NFD's labels
    away."""

    def make(
        name: str = "n1",
        *,
        kernel: str = "6.8.0-60-generic",
        kernel_label: str | None = None,
        image: str = "Ubuntu 24.04.1 LTS",
        os_id: str = "ubuntu",
        os_version: str = "24.04",
        arch: str = "amd64",
        nfd: bool = True,
        labels: Mapping[str, str] | None = None,
        capacity: Mapping[str, str] | None = None,
        allocatable: Mapping[str, str] | None = None,
        ready: str = "True",
        spec: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        found = {"kubernetes.io/arch": arch, "gpu": "yes", **(labels or {})}
        if nfd:
            found |= {
                f"{FEATURE}kernel-version.full": kernel if kernel_label is None else kernel_label,
                f"{FEATURE}system-os_release.ID": os_id,
                f"{FEATURE}pci-0302_10de.present": "true",
            }
            if os_version:
                found[f"{FEATURE}system-os_release.VERSION_ID"] = os_version
        heartbeat = {
            "type": "Ready",
            "status": ready,
            "reason": "KubeletReady",
            "message": f"kubelet is {ready}",
        }
        return {
            "metadata": {
                "name": name,
                "uid": f"uid-{name}",
                "labels": found,
                "annotations": {"a": "b"},
                "creationTimestamp": "2026-01-02T03:04:05Z",
            },
            "spec": dict(spec or {}),
            "status": {
                "nodeInfo": {
                    "kernelVersion": kernel,
                    "osImage": image,
                    "architecture": arch,
                    "bootID": "boot-1",
                },
                "conditions": [
                    {"type": "MemoryPressure", "status": "False"},
                    {
                        **heartbeat,
                        "lastTransitionTime": "2026-01-02T03:05:05Z",
                        "lastHeartbeatTime": "x",
                    },
                ],
                "capacity": {"cpu": "8", **(capacity or {})},
                "allocatable": {"cpu": "8", **(allocatable or {})},
            },
        }

    return make
