# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CDI specifications of the GPUs (https://github.com/cncf-tags/container-device-interface,
SPEC.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.cluster.images.gpu import gpus

FOLDER = Path("/var/run/cdi")


def write(kind: str, devices: dict[str, list[int]], root: str) -> Path:
    """Write the specification of a kind. devices: name -> GPUs; root: the driver's tree on the
    host."""
    entries = [
        {
            "name": name,
            "containerEdits": {
                "deviceNodes": [node(gpus.device(number), root) for number in numbers]
            },
        }
        for name, numbers in devices.items()
    ]
    shared = {
        # So that a runtime that looks at it does not put in the same once more.
        "env": ["NVIDIA_VISIBLE_DEVICES=void"],
        "deviceNodes": [node(gpus.CONTROL, root)],
        "mounts": [
            {
                "hostPath": f"{root}{path}",
                "containerPath": str(path),
                "options": ["ro", "nosuid", "nodev", "bind"],
            }
            for path in (gpus.LIBRARY, gpus.SMI)
        ],
    }
    specification = {
        "cdiVersion": "0.6.0",
        "kind": kind,
        "devices": entries,
        "containerEdits": shared,
    }
    target = FOLDER / f"{kind.replace('/', '-')}.json"
    partial = target.with_suffix(".new")
    partial.write_text(json.dumps(specification, indent=1))
    partial.rename(target)
    return target


def node(path: Path, root: str) -> dict[str, Any]:
    """A device node of the driver's tree, to be made in the container."""
    return {"path": str(path), "hostPath": f"{root}{path}"}
