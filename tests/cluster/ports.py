# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Free ports on the loopback interface."""

from __future__ import annotations

import json
import random
import socket
from collections.abc import Collection

from tests.cluster.errors import ClusterError
from tests.cluster.paths import clusters_folder

# Below the range that the kernel hands out to outgoing connections, so that nobody takes a port by
# accident between the moment it is chosen and the moment the program listens on it.
FIRST, LAST = 20000, 32000


def is_free(port: int) -> bool:
    """True if a server could listen on 127.0.0.1:port right now."""
    with socket.socket() as probe:
        # Without it, connections of a server that just ended would keep the port for a minute; Go
        # sets it, too.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def chosen_ports() -> set[int]:
    """The ports that the clusters of this machine have chosen, whether they listen there (already)
    or not."""
    found: set[int] = set()
    for record in clusters_folder().glob("*/cluster.json"):
        try:
            document = json.loads(record.read_text())
            found.update(document["ports"].values())
            fleet = document["fleet"]
            found.update(port for node in fleet["workers"] + fleet["vms"] for port in node["ports"])
        except (OSError, ValueError, LookupError):
            """A cluster that comes or goes in this moment."""
    return found


def free_ports(count: int, *, taken: Collection[int] = ()) -> list[int]:
    """`count` different free ports, none of them in `taken`; ClusterError when there are not
    enough."""
    candidates = random.sample(range(FIRST, LAST), LAST - FIRST)
    found: list[int] = []
    for port in candidates:
        if len(found) == count:
            break
        if port not in taken and is_free(port):
            found.append(port)
    if len(found) < count:
        raise ClusterError(
            f"Only {len(found)} of {count} ports are free between {FIRST} and {LAST}: end some servers."
        )
    return found
