# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Made-up groups of nodes, to try the templates of a recipe where no node has the hardware."""

from __future__ import annotations

from .._nodes.groups import FACETS, GroupSystem, NodeGroup


def _sample(group_id: str, kernel: str, os_id: str, os_version: str) -> NodeGroup:
    return NodeGroup(
        group_id,
        FACETS,
        GroupSystem(
            kernel=kernel,
            kernel_label=kernel,
            os_id=os_id,
            os_version=os_version,
            arch="amd64",
            runtime="containerd",
            runtime_version="2.2.1",
        ),
    )


SAMPLE_GROUPS = (
    _sample("sample-ubuntu", "6.8.0-60-generic", "ubuntu", "24.04"),
    _sample("sample-rhel", "5.14.0-570.el9.x86_64", "rhel", "9.6"),
)
