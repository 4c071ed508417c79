# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What groups of nodes have in common is built once."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.container import each_once
from ansible_collections.hardware.enablement.plugins.module_utils._builds.inputs import Inputs
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import BuildOrder


def test_two_pools_on_one_kernel_share_the_image_that_is_the_same() -> None:
    inputs = Inputs(kernel="6.8.0", arch="amd64", containerfile="FROM scratch")
    first, same = (
        BuildOrder(f"build-{group}", group, "r.io/driver:1", inputs) for group in ("default", "new")
    )
    other = BuildOrder("build-other", "other", "r.io/driver:2", inputs)

    assert each_once([first, same, other]) == [first, other]
    assert each_once([]) == []
