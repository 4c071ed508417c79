# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is decided about real nodes before anything starts."""

from __future__ import annotations

import ipaddress
import itertools
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.cluster.errors import ClusterError
from tests.cluster.kubelet import cgroups, configuration
from tests.cluster.kubelet.model import MOST, NO_FLEET, Fleet, bridge_name, plan_fleet

FLEET = plan_fleet("mine", [20001, 20002, 20003, 20004], [])
MOUNTS = """\
30 23 0:26 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
32 30 0:28 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""


def test_nodes_are_numbered_and_have_two_ports_each() -> None:
    assert [(worker.name, worker.ports) for worker in FLEET.workers] == [
        ("mine-worker-1", (20001, 20002)),
        ("mine-worker-2", (20003, 20004)),
    ]


def test_a_fleet_survives_being_written() -> None:
    for fleet in (FLEET, NO_FLEET):
        assert Fleet.from_document(json.loads(json.dumps(asdict(fleet)))) == fleet


def test_the_network_is_one_that_nobody_uses() -> None:
    used = ["10.64.0.0/20", "10.64.16.7/32", "192.0.2.2/24", ""]
    assert plan_fleet("mine", [1, 2], used).network == "10.64.32.0/20"
    with pytest.raises(ClusterError, match="in use, so real nodes have no addresses"):
        plan_fleet("mine", [1, 2], ["10.0.0.0/8"])


def test_virtual_machines_have_ports_and_addresses_of_their_own() -> None:
    fleet = plan_fleet("mine", [1, 2, 3, 4, 5, 6], [], vms=2)
    assert [worker.name for worker in fleet.workers] == ["mine-worker-1"]
    assert [(vm.name, vm.ports) for vm in fleet.vms] == [
        ("mine-vm-1", (3, 4)),
        ("mine-vm-2", (5, 6)),
    ]
    assert Fleet.from_document(json.loads(json.dumps(asdict(fleet)))) == fleet


def test_addresses_of_nodes_and_pods_never_meet() -> None:
    most = plan_fleet("mine", list(range(2 * MOST)), [], vms=2)
    network = ipaddress.IPv4Network(most.network)
    addresses = [most.gateway, *(most.node_address(node) for node in most.nodes)]
    ranges = [tuple(map(ipaddress.IPv4Address, most.pod_range(node))) for node in most.nodes]
    assert len(set(addresses)) == MOST + 1
    assert all(ipaddress.IPv4Address(address) in network for address in addresses)
    assert all(first in network and last in network for first, last in ranges)
    assert not any(
        first <= ipaddress.IPv4Address(address) <= last
        for first, last in ranges
        for address in addresses
    )
    assert all(before[1] < after[0] for before, after in itertools.pairwise(ranges))


def test_too_many_nodes_are_refused() -> None:
    with pytest.raises(ClusterError, match=f"has addresses for {MOST}"):
        plan_fleet("mine", list(range(2 * MOST + 2)), [])


def test_a_bridge_has_a_name_that_the_kernel_takes() -> None:
    names = {bridge_name(Path(folder)) for folder in ("/a/clusters/x", "/b/clusters/x")}
    assert len(names) == 2
    assert all(len(name) <= 15 for name in names)


def test_the_files_say_where_things_are() -> None:
    first, second = FLEET.workers
    kubelet = json.loads(configuration.kubelet(first, "/group/mine-worker-1"))
    assert (kubelet["port"], kubelet["healthzPort"], kubelet["cgroupRoot"]) == (
        20001,
        20002,
        "/group/mine-worker-1",
    )
    assert kubelet["address"] == kubelet["healthzBindAddress"] == "127.0.0.1"
    [network] = json.loads(configuration.cni(FLEET, second, "he-1"))["plugins"]
    assert network["ipam"]["ranges"][0][0]["rangeStart"] == "10.64.2.1"
    assert "127.0.0.1 localhost registry.test" in configuration.hosts(FLEET)
    assert f"{FLEET.node_address(second)} mine-worker-2" in configuration.hosts(FLEET)
    assert "registry.test:5000/ca.crt" in configuration.registry_hosts("registry.test:5000")


def test_hierarchies_of_both_versions() -> None:
    assert cgroups.hierarchies(MOUNTS) == [
        (Path("/sys/fs/cgroup/cpu"), "cgroup"),
        (Path("/sys/fs/cgroup/unified"), "cgroup2"),
    ]
