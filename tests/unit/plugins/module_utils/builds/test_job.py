# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a pod of a Job that failed still has of its log."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._builds.builders.job import (
    kept_log,
)


def test_of_a_container_that_ended_the_kubelet_kept_the_end() -> None:
    running = {"name": "proxy", "state": {"running": {}}}
    ended = {"name": "build", "state": {"terminated": {"exitCode": 1, "message": "no headers\n"}}}
    assert kept_log({"status": {"containerStatuses": [running, ended]}}) == "no headers\n"


def test_nothing_was_kept_of_a_pod_that_never_ran() -> None:
    assert kept_log({"metadata": {"name": "build-1"}}) == ""
