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


def after_the_imports(expression: str) -> str:
    """What a Python that has imported these tasks and nothing else prints."""
    imports = ", ".join(f"{PLUGINS}.action.{task}" for task in TASKS)
    path = {"PYTHONPATH": ":".join(filter(None, sys.path))}
    return subprocess.run(
        [sys.executable, "-c", f"import gc, sys, {imports}; print({expression})"],
        env=path,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_a_run_whose_images_are_named_imports_no_builders_and_no_registries() -> None:
    loaded = after_the_imports("*sys.modules").split()
    packages = {name.removeprefix(f"{PLUGINS}.module_utils.") for name in loaded}
    assert "_states.apply" in packages
    assert not packages & {"_builds", "_registry", "_http.http_pool", "_http.pki", "_authoring"}


def test_garbage_collection_in_the_process_of_a_task_leaves_out_what_was_imported() -> None:
    frozen, looked_at = after_the_imports("gc.get_freeze_count(), len(gc.get_objects())").split()
    assert int(frozen) > 10 * int(looked_at)
