# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up kernel groups, to try the templates of a recipe where no node has the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class SampleGroup:
    """A kernel group of no nodes."""

    id: str
    kernel: str
    kernel_label: str
    os_id: str
    os_version: str
    arch: str
    terms: tuple[Mapping[str, Any], ...] = field(default=())


SAMPLE_GROUPS = (
    SampleGroup("sample-ubuntu", "6.8.0-60-generic", "6.8.0-60-generic", "ubuntu", "24.04", "amd64"),
    SampleGroup("sample-rhel", "5.14.0-570.el9.x86_64", "5.14.0-570.el9.x86_64", "rhel", "9.6", "amd64"),
)
