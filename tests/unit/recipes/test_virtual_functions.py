# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The program of sriov-nic that makes virtual functions, run by a real shell. sysfs is a folder, whose
files are written to and do nothing; what a kernel would do then, the test has done before."""

from __future__ import annotations

import json
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
        (made / "net" / f"ens{address[5:7]}").mkdir(parents=True)
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

    def run(self, *policies: dict[str, Any]) -> tuple[int, str]:
        """Exit code and last line of the container, with the recipe's options."""
        rendering = renderer(REPO / "recipes" / "sriov-nic")(policies=list(policies))
        (container,) = pod_spec(rendering, "virtual-functions")["initContainers"]
        env = {
            **env_of(container),
            "SYS": str(self.folder / "sys"),
            "RUN": str(self.folder / "run"),
        }
        done = subprocess.run(
            [*container["command"], *container["args"]],
            env={**env, "PATH": "/usr/bin:/bin"},
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


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"vendor": "8086"}, "no network adapter of this node fits a policy"),
        ({"devices": ["1019"]}, "no network adapter of this node fits a policy"),
        ({"virtual_functions": 17}, "has at most 16 virtual functions, and policy fast wants 17"),
        ({"driver": "vfio-pci"}, "the kernel module vfio-pci is not loaded"),
        ({"driver": "uio"}, "the driver is kernel or vfio-pci, not uio"),
        ({"name": "a-b"}, "a name has letters, digits and _ only"),
    ],
)
def test_what_cannot_be_is_said(node: Node, policy: dict[str, Any], said: str) -> None:
    node.adapter("0000:3b:00.0")
    code, line = node.run({**FAST, **policy})
    assert code == 1
    assert said in line
