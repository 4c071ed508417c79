# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pure: what is decided about the real nodes of a cluster before anything starts, and where their
things are."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.errors import ClusterError

PORTS_EACH = 2
# Simulated pods have addresses from 10.128.0.0 on.
_NETWORKS = ipaddress.IPv4Network("10.64.0.0/11")
_PREFIX = 20
# A /20 has 16 /24: the first one is for the bridge and the nodes themselves.
MOST = 15


@dataclass(frozen=True)
class Worker:
    """One real node: its number from 1 on, and its kubelet's ports for requests and for its health."""

    name: str
    number: int
    ports: tuple[int, int]


@dataclass(frozen=True)
class Fleet:
    """The real nodes of one cluster. `network` is a /20 in CIDR notation, "" without nodes. Workers
    are processes of this machine on one bridge, `vms` are virtual machines with one each."""

    network: str
    workers: tuple[Worker, ...]
    vms: tuple[Worker, ...] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Fleet:
        """Of what `dataclasses.asdict` made of a fleet; KeyError or TypeError for anything else."""
        return cls(
            document["network"], _workers_of(document["workers"]), _workers_of(document["vms"])
        )

    @property
    def nodes(self) -> tuple[Worker, ...]:
        """Both kinds."""
        return self.workers + self.vms

    @property
    def gateway(self) -> str:
        """The bridge's own address."""
        return str(ipaddress.IPv4Network(self.network)[1])

    def node_address(self, worker: Worker) -> str:
        """The node's InternalIP: an address of the bridge, one for each node."""
        return str(ipaddress.IPv4Network(self.network)[1 + worker.number])

    def pod_range(self, worker: Worker) -> tuple[str, str]:
        """First and last address of the node's pods."""
        block = list(ipaddress.IPv4Network(self.network).subnets(new_prefix=24))[worker.number]
        return str(block[1]), str(block[254])


NO_FLEET = Fleet("", ())


def _workers_of(documents: Sequence[Mapping[str, Any]]) -> tuple[Worker, ...]:
    return tuple(Worker(**{**each, "ports": tuple(each["ports"])}) for each in documents)


def plan_fleet(cluster: str, ports: list[int], networks: Collection[str], *, vms: int = 0) -> Fleet:
    """A node for each pair of ports, in a network that overlaps none of `networks`: the last `vms` of
    them are CLUSTER-vm-N, those before CLUSTER-worker-N."""
    pairs = list(zip(ports[::PORTS_EACH], ports[1::PORTS_EACH], strict=True))
    if len(pairs) > MOST:
        raise ClusterError(
            f"{len(pairs)} real nodes were asked for, but one cluster has addresses for {MOST}: take less."
        )
    count = len(pairs) - vms
    nodes = [
        Worker(
            f"{cluster}-worker-{number}" if number <= count else f"{cluster}-vm-{number - count}",
            number,
            pair,
        )
        for number, pair in enumerate(pairs, 1)
    ]
    return Fleet(_free_network(networks), tuple(nodes[:count]), tuple(nodes[count:]))


def _free_network(networks: Collection[str]) -> str:
    used = [ipaddress.IPv4Network(network, strict=False) for network in networks if network]
    for candidate in _NETWORKS.subnets(new_prefix=_PREFIX):
        if not any(candidate.overlaps(network) for network in used):
            return str(candidate)
    raise ClusterError(
        f"Every /{_PREFIX} of {_NETWORKS} is in use, so real nodes have no addresses: see `ip route`."
    )


def mark_of(folder: Path) -> str:
    """10 hex digits that stand for a cluster's folder in names which the whole machine shares."""
    return hashlib.sha256(str(folder).encode()).hexdigest()[:10]


def bridge_name(folder: Path) -> str:
    """The cluster's bridge; interface names have 15 characters at most."""
    return f"he-{mark_of(folder)}"


def cgroup_name(folder: Path) -> str:
    """The cgroup of everything that the cluster's real nodes run."""
    return f"hardware-enablement-{mark_of(folder)}"
