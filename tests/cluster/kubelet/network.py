# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The bridge of a cluster's real nodes: the one thing that they need of this machine's network."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

from tests.cluster.errors import ClusterError
from tests.cluster.kubelet.model import Fleet, bridge_name


def used_networks() -> list[str]:
    """Networks that this machine has routes or addresses for."""
    routes = json.loads(_ip("-json", "route") or "[]")
    addresses = json.loads(_ip("-json", "-4", "address") or "[]")
    found = [
        f"{item['local']}/{item['prefixlen']}"
        for link in addresses
        for item in link.get("addr_info", [])
    ]
    return found + [route["dst"] for route in routes if route["dst"] != "default"]


def make_bridge(folder: Path, fleet: Fleet) -> None:
    """Make the bridge with its own address and those of the nodes."""
    name = bridge_name(folder)
    _ip("link", "add", name, "type", "bridge")
    prefix = fleet.network.rpartition("/")[2]
    _ip("address", "add", f"{fleet.gateway}/{prefix}", "dev", name)
    for worker in fleet.workers:
        _ip("address", "add", f"{fleet.node_address(worker)}/32", "dev", name)
    _ip("link", "set", name, "up")


def remove_bridge(folder: Path) -> None:
    """Remove the bridge, if it is there."""
    bridge = Path("/sys/class/net") / bridge_name(folder)
    if bridge.exists():
        # The kernel takes the pods' ends away with their namespaces, a moment after their
        # processes.
        deadline = time.monotonic() + 5
        while any((bridge / "brif").iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        _ip("link", "delete", bridge.name)


def _ip(*arguments: str) -> str:
    try:
        result = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ClusterError(
            f"`ip` does not start ({error.strerror}): install the Debian package iproute2."
        ) from error
    if result.returncode != 0:
        raise ClusterError(
            f"`ip {' '.join(arguments)}` failed: {result.stderr.strip()}; real nodes need root."
        )
    return result.stdout
