# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program of sriov-nic that makes virtual functions, run by a real shell. sysfs is a folder, whose
files are written to and do nothing; what a kernel would do then, the test has done before."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.tests.unit.recipes.conftest import REPO, renderer
from ansible_collections.hardware.enablement.tests.unit.recipes.looking import env_of, pod_spec

FAST: dict[str, Any] = {"name": "fast", "virtual_functions": 2, "vendor": "15b3"}


class Node:
    """A node's network adapters, and a run of the program on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.devices = folder / "sys/bus/pci/devices"
        (folder / "sys/bus/pci/drivers").mkdir(parents=True)
        self.devices.mkdir()

    def device(self, address: str, vendor: str, kind: str, driver: str = "") -> Path:
        """A PCI device with its driver."""
        made = self.devices / address
        made.mkdir()
        for name, value in (
            ("vendor", f"0x{vendor}"),
            ("device", f"0x{kind}"),
            ("class", "0x020000"),
        ):
            (made / name).write_text(f"{value}\n")
        if driver:
            bound = self.folder / "sys/bus/pci/drivers" / driver
            bound.mkdir(exist_ok=True)
            (made / "driver").symlink_to(bound)
        return made

    def interface(self, device: Path, name: str, mtu: int = 1500, link: int = 1) -> Path:
        """A network interface of a device; link is its type as the kernel numbers them."""
        made = device / "net" / name
        made.mkdir(parents=True, exist_ok=True)
        (made / "mtu").write_text(f"{mtu}\n")
        (made / "type").write_text(f"{link}\n")
        return made

    def adapter(
        self,
        address: str,
        vendor: str = "15b3",
        kind: str = "1021",
        functions: int = 0,
        driver: str = "mlx5_core",
    ) -> Path:
        """An adapter that can have 16 virtual functions, whose names are there for so many as it has
        or will have (the kernel makes them)."""
        made = self.device(address, vendor, kind, "mlx5_core")
        self.interface(made, f"ens{address[5:7]}")
        for name, value in (
            ("sriov_totalvfs", 16),
            ("sriov_numvfs", functions),
            ("sriov_drivers_autoprobe", 1),
        ):
            (made / name).write_text(f"{value}\n")
        for index in range(2):
            function = self.device(f"{address[:-1]}{index + 1}", vendor, "101e", driver)
            (made / f"virtfn{index}").symlink_to(function)
        return made

    def program(self, name: str, text: str) -> None:
        """A program of tools_image: it says what it was called with, and does a part of that."""
        file = self.folder / "programs" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.folder}/calls\n{text}\n')
        file.chmod(0o755)

    def calls(self) -> list[str]:
        """What programs were called with since they were asked last."""
        file = self.folder / "calls"
        found = file.read_text().splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return found

    def run(self, *policies: dict[str, Any]) -> tuple[int, str]:
        """Exit code and last line of the container, with the recipe's options."""
        render = renderer(REPO / "recipes" / "sriov-nic")
        rendering = render(policies=list(policies), tools_image="registry.example.com/tools:1")
        (container,) = pod_spec(rendering, "virtual-functions")["initContainers"]
        env = {
            **env_of(container),
            "SYS": str(self.folder / "sys"),
            "RUN": str(self.folder / "run"),
        }
        done = subprocess.run(
            [*container["command"], *container["args"]],
            env={**env, "PATH": f"{self.folder}/programs:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout.splitlines()[-1]

    def resources(self) -> dict[str, Any]:
        """Name of a resource -> its selector, as the device plugin reads them."""
        config = json.loads((self.folder / "run/config.json").read_text())
        return {each["resourceName"]: each["selectors"] for each in config["resourceList"]}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    """Without an adapter."""
    return Node(tmp_path)


def number(adapter: Path) -> str:
    """How many virtual functions were asked of it last."""
    return (adapter / "sriov_numvfs").read_text().strip()


def test_each_adapter_goes_by_the_first_policy_that_fits(node: Node) -> None:
    first, second = node.adapter("0000:3b:00.0"), node.adapter("0000:5e:00.0")
    other = node.adapter("0000:86:00.0", vendor="8086", kind="1592")
    rest = {"name": "rest", "virtual_functions": 4, "vendor": "15b3", "rdma": True}
    assert node.run({**FAST, "interfaces": ["ens3b"], "devices": ["1021"]}, rest) == (
        0,
        "ready: 0000:3b:00.0 0000:5e:00.0",
    )
    assert [number(each) for each in (first, second, other)] == ["2", "4", "0"]
    assert node.resources() == {
        "fast": [{"rootDevices": ["0000:3b:00.0"]}],
        "rest": [{"rootDevices": ["0000:5e:00.0"], "isRdma": True}],
    }


def test_what_is_as_it_should_be_is_left_alone(node: Node) -> None:
    adapter = node.adapter("0000:3b:00.0", functions=2)
    before = (adapter / "sriov_numvfs").stat().st_mtime_ns
    assert node.run(FAST)[0] == 0
    assert (adapter / "sriov_numvfs").stat().st_mtime_ns == before


def test_functions_that_somebody_else_made_are_not_taken_away(node: Node) -> None:
    adapter = node.adapter("0000:3b:00.0", functions=3)
    code, said = node.run(FAST)
    assert (code, number(adapter)) == (1, "3")
    assert "0000:3b:00.0 has 3 virtual functions that somebody else made" in said
    assert not (node.folder / "run/config.json").exists()


def test_functions_of_our_own_are_exchanged_for_another_number(node: Node) -> None:
    adapter = node.adapter("0000:3b:00.0")
    assert node.run(FAST)[0] == 0
    assert node.run({**FAST, "virtual_functions": 4})[0] == 0
    assert number(adapter) == "4"


def test_functions_for_user_space_never_come_up_as_interfaces(node: Node) -> None:
    adapter = node.adapter("0000:3b:00.0", driver="vfio-pci")
    assert node.run({**FAST, "driver": "vfio-pci"})[0] == 0
    assert (adapter / "sriov_drivers_autoprobe").read_text().strip() == "0"
    assert node.resources() == {
        "fast": [{"rootDevices": ["0000:3b:00.0"], "drivers": ["vfio-pci"]}]
    }


def test_functions_go_from_one_driver_to_the_other(node: Node) -> None:
    (node.folder / "sys/bus/pci/drivers/vfio-pci").mkdir()
    node.adapter("0000:3b:00.0")
    code, said = node.run({**FAST, "driver": "vfio-pci"})
    # The folder of a test binds nothing.
    assert (code, "0000:3b:00.1 does not go to vfio-pci: is an IOMMU on" in said) == (1, True)
    function = node.devices / "0000:3b:00.1"
    assert (function / "driver_override").read_text() == "vfio-pci\n"
    assert (function / "driver/unbind").read_text() == "0000:3b:00.1\n"
    assert (node.folder / "sys/bus/pci/drivers_probe").read_text() == "0000:3b:00.1\n"


def test_a_function_goes_back_to_the_kernel(node: Node) -> None:
    """A driver of the kernel does not take functions while this file is 0."""
    adapter = node.adapter("0000:3b:00.0", driver="vfio-pci")
    assert node.run({**FAST, "driver": "vfio-pci"})[0] == 0
    assert (adapter / "sriov_drivers_autoprobe").read_text().strip() == "0"
    node.run(FAST)
    assert (adapter / "sriov_drivers_autoprobe").read_text().strip() == "1"


def test_an_adapter_is_chosen_by_address_and_by_what_its_ports_are(node: Node) -> None:
    first, second = node.adapter("0000:3b:00.0"), node.adapter("0000:5e:00.0")
    assert node.run({**FAST, "addresses": ["0000:5e:00.0"]})[0] == 0
    assert [number(each) for each in (first, second)] == ["0", "2"]
    node.interface(first, "ens3b", link=32)
    assert node.run({**FAST, "link_type": "ethernet"}) == (0, "ready: 0000:5e:00.0")
    assert node.resources()["fast"] == [{"rootDevices": ["0000:5e:00.0"], "linkTypes": ["ether"]}]


def test_an_mtu_is_the_functions_and_at_least_that_of_the_adapter(node: Node) -> None:
    adapter, larger = node.adapter("0000:3b:00.0"), node.adapter("0000:5e:00.0")
    node.interface(larger, "ens5e", mtu=9216)
    function = node.interface(node.devices / "0000:3b:00.1", "ens3bv0")
    assert node.run({**FAST, "mtu": 9000})[0] == 0
    mtus = [adapter / "net/ens3b/mtu", larger / "net/ens5e/mtu", function / "mtu"]
    assert [file.read_text().strip() for file in mtus] == ["9000", "9216", "9000"]


SWITCH = """
mode={folder}/mode
case "$3" in
  show) echo "$4: mode $(cat $mode 2>/dev/null || echo legacy) inline-mode none encap-mode basic" ;;
  set) echo "$6" >$mode ;;
esac
"""


@pytest.mark.parametrize(("driver", "first"), [("mlx5_core", "number"), ("ice", "mode")])
def test_a_switch_changes_its_mode_when_its_driver_can(node: Node, driver: str, first: str) -> None:
    """mlx5 makes functions in legacy mode and goes on from there; ice changes without functions."""
    adapter = node.adapter("0000:3b:00.0")
    (adapter / "driver").unlink()
    (node.folder / "sys/bus/pci/drivers" / driver).mkdir(exist_ok=True)
    (adapter / "driver").symlink_to(node.folder / "sys/bus/pci/drivers" / driver)
    there = f"echo functions $(cat {adapter}/sriov_numvfs) >>{node.folder}/calls"
    node.program("devlink", f"{SWITCH.format(folder=node.folder)}\n{there}")
    node.program("ethtool", "")
    policy = {**FAST, "eswitch_mode": "switchdev"}
    assert node.run(policy) == (0, "ready: 0000:3b:00.0")
    calls = node.calls()
    change = calls.index("devlink dev eswitch set pci/0000:3b:00.0 mode switchdev")
    assert calls[change + 1] == f"functions {'2' if first == 'number' else '0'}"
    assert calls[0] == "ethtool -K ens3b hw-tc-offload on"
    # It is as it should be, and is left alone.
    assert node.run(policy)[0] == 0
    assert not [call for call in node.calls() if " set " in call]


def test_functions_become_vdpa_devices(node: Node) -> None:
    node.adapter("0000:3b:00.0", driver="mlx5_core")
    node.program("devlink", SWITCH.format(folder=node.folder))
    node.program("ethtool", "")
    vdpa = node.folder / "sys/bus/vdpa"
    node.program(
        "vdpa",
        f'case "$*" in *max_vqp*) exit 1 ;; esac; mkdir -p "{vdpa}/devices/$4"',
    )
    policy = {**FAST, "eswitch_mode": "switchdev", "vdpa_type": "vhost"}
    code, said = node.run(policy)
    assert (code, "the kernel module vhost_vdpa is not loaded" in said) == (1, True)
    (vdpa / "drivers/vhost_vdpa").mkdir(parents=True)
    node.calls()
    assert node.run(policy)[0] == 0
    made = [call for call in node.calls() if call.startswith("vdpa ")]
    assert made[:2] == [
        "vdpa dev add name vdpa:0000:3b:00.1 mgmtdev pci/0000:3b:00.1 max_vqp 32",
        "vdpa dev add name vdpa:0000:3b:00.1 mgmtdev pci/0000:3b:00.1",
    ]
    assert (vdpa / "devices/vdpa:0000:3b:00.1/driver_override").read_text() == "vhost_vdpa\n"
    assert (vdpa / "drivers_probe").read_text() == "vdpa:0000:3b:00.2\n"
    assert node.resources()["fast"] == [{"rootDevices": ["0000:3b:00.0"], "vdpaType": "vhost"}]


def test_infiniband_functions_without_a_guid_get_one(node: Node) -> None:
    adapter = node.adapter("0000:3b:00.0", driver="mlx5_core")
    node.interface(adapter, "ens3b", link=32)
    node.program("ip", "")
    for index, guid in enumerate(("0000:0000:0000:0000", "0002:c903:00a1:b2c3")):
        device = node.devices / f"0000:3b:00.{index + 1}" / "infiniband" / f"mlx5_{index}"
        device.mkdir(parents=True)
        (device / "node_guid").write_text(f"{guid}\n")
    assert node.run({**FAST, "link_type": "infiniband"})[0] == 0
    (call,) = node.calls()
    (guid,) = set(re.findall(r"_guid (\S+)", call))
    assert re.fullmatch(r"02(:[0-9a-f]{2}){7}", guid)
    assert call.startswith("ip link set dev ens3b vf 0 node_guid ")


def test_firmware_is_told_once_and_a_reboot_is_asked_for(node: Node) -> None:
    node.adapter("0000:3b:00.0")
    node.program("mstconfig", "")
    policy = {**FAST, "virtual_functions": 32, "firmware": True}
    for calls in (["mstconfig -d 0000:3b:00.0 -y set SRIOV_EN=True NUM_OF_VFS=32"], []):
        code, said = node.run(policy)
        assert (code, node.calls()) == (1, calls)
        assert (
            "can have 32 virtual functions after the node's next reboot (playbook remedy)" in said
        )


def test_a_program_that_the_image_lacks_is_named(node: Node) -> None:
    node.adapter("0000:3b:00.0")
    code, said = node.run({**FAST, "virtual_functions": 32, "firmware": True})
    assert (code, "the image of option tools_image has no program mstconfig" in said) == (1, True)


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"vendor": "8086"}, "no network adapter of this node fits a policy"),
        ({"devices": ["1019"]}, "no network adapter of this node fits a policy"),
        ({"virtual_functions": 17}, "has at most 16 virtual functions, and policy fast wants 17"),
        ({"driver": "vfio-pci"}, "the kernel module vfio-pci is not loaded"),
        ({"name": "a-b"}, "a name has letters, digits and _ only"),
    ],
)
def test_what_cannot_be_is_said(node: Node, policy: dict[str, Any], said: str) -> None:
    node.adapter("0000:3b:00.0")
    code, line = node.run({**FAST, **policy})
    assert code == 1
    assert said in line
