# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kernel and operating system of a node: how NFD writes them into labels, and how to tell them without NFD."""

from __future__ import annotations

import re
from collections.abc import Mapping

OS_ID = "feature.node.kubernetes.io/system-os_release.ID"
OS_VERSION = "feature.node.kubernetes.io/system-os_release.VERSION_ID"


def label_form(value: str) -> str:
    """A value as NFD writes it into a label: other characters become "_", the ends are alphanumeric, at most 63."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", value)[:63].strip("_.-")


def os_of(labels: Mapping[str, str], image: str, labels_stale: bool = False) -> tuple[str, str]:
    """(ID, VERSION_ID) of the node's os-release, from NFD's labels, else from the pretty name in nodeInfo."""
    raise NotImplementedError
