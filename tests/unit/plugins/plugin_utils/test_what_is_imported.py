# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Python reads for a run costs more than what the run does; Ansible compiles it each time."""

from __future__ import annotations

import subprocess
import sys

PLUGINS = "ansible_collections.hardware.enablement.plugins"
# The tasks of `enable` where images are only named.
TASKS = ("cluster_info", "nfd_info", "state_apply", "run_lock")


def test_a_run_whose_images_are_named_imports_no_builders_and_no_registries() -> None:
    code = f"import sys, {', '.join(f'{PLUGINS}.action.{task}' for task in TASKS)}; print(*sys.modules)"
    path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", code], env=path, capture_output=True, text=True, check=True
    )
    packages = {name.removeprefix(f"{PLUGINS}.module_utils.") for name in done.stdout.split()}
    assert "_states.apply" in packages
    assert not packages & {"_builds", "_registry", "_http.http_pool", "_http.pki", "_authoring"}
