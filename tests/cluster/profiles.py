# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of machines: data files in profiles/, one each, which say what NFD's worker would find on
such a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.errors import ClusterError
from tests.cluster.paths import HERE

FOLDER = HERE / "profiles"
# What nfd-worker makes labels of unless it is configured otherwise: display, processing and
# co-processor devices.
PCI_CLASSES = ("03", "0b40", "12")


@dataclass(frozen=True)
class PciDevice:
    """`count` equal devices; all identifiers are hexadecimal as lspci -n prints them, the class
    with 4 digits."""

    device_class: str
    vendor: str
    device: str
    count: int = 1
    sriov_totalvfs: int = 0


@dataclass(frozen=True)
class Cpu:
    """What NFD publishes of the processors."""

    vendor: str
    family: int
    model: int
    flags: tuple[str, ...]
    multithreading: bool = True
    # Resource Director Technology: flag -> value, such as {"RDTL3CA": "true", "RDTL3CA_NUM_CLOSID":
    # "15"}
    rdt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Profile:
    """A kind of machine. `devices` are the extended resources that its device plugin will
    advertise, once it runs."""

    name: str
    description: str
    arch: str
    instance_type: str
    capacity: Mapping[str, str]
    cpu: Cpu
    numa_nodes: int = 1
    pci: tuple[PciDevice, ...] = ()
    pci_classes: tuple[str, ...] = PCI_CLASSES
    devices: Mapping[str, int] = field(default_factory=dict)
    taints: tuple[Mapping[str, str], ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    simulation: Mapping[str, str] = field(default_factory=dict)


def profile_names() -> list[str]:
    """Names of all profiles."""
    return sorted(file.stem for file in FOLDER.glob("*.yaml"))


def load_profile(name: str, folder: Path = FOLDER) -> Profile:
    """Read a profile; ClusterError if there is none of that name or if its file is not as it must
    be."""
    file = folder / f"{name}.yaml"
    if not file.is_file():
        raise ClusterError(
            f"There is no profile {name!r}: choose one of {', '.join(profile_names())}."
        )
    document: dict[str, Any] = yaml.safe_load(file.read_text())
    try:
        cpu = document.pop("cpu")
        pci = document.pop("pci", [])
        return Profile(
            name=name,
            cpu=Cpu(**{**cpu, "flags": tuple(cpu["flags"])}),
            pci=tuple(PciDevice(**device) for device in pci),
            pci_classes=tuple(document.pop("pci_classes", PCI_CLASSES)),
            taints=tuple(document.pop("taints", [])),
            **document,
        )
    except (KeyError, TypeError) as error:
        raise ClusterError(
            f"Profile {file} does not fit the classes in profiles.py ({error}): correct it."
        ) from error
