# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up groups of nodes, to try the templates of a recipe where no node has the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .._nodes.groups import FACETS


@dataclass(frozen=True)
class SampleGroup:
    """A group of no nodes, of which everything is known."""

    id: str
    kernel: str
    kernel_label: str
    os_id: str
    os_version: str
    arch: str
    os_build: str = ""
    runtime: str = "containerd"
    runtime_major: str = "2"
    preinstalled: bool = False
    pool: str = ""
    per: tuple[str, ...] = FACETS
    terms: tuple[Mapping[str, Any], ...] = field(default=())
    held: tuple[Mapping[str, Any], ...] = field(default=())


SAMPLE_GROUPS = (
    SampleGroup(
        "sample-ubuntu", "6.8.0-60-generic", "6.8.0-60-generic", "ubuntu", "24.04", "amd64"
    ),
    SampleGroup(
        "sample-rhel", "5.14.0-570.el9.x86_64", "5.14.0-570.el9.x86_64", "rhel", "9.6", "amd64"
    ),
)
