# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is packed and installed elsewhere works as AWX would run it: ansible-runner, a playbook by
its full name."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible_runner
import pytest

from tests.cluster import Cluster
from tests.gates.place import Place
from tests.integration.plays import BIN, REPO, SIMULATED, Runner


@pytest.fixture(scope="module")
def installed() -> Path:
    """The collections folder that is tested, if that is an installed tarball; else one that is made
    for these tests."""
    if os.environ.get("HE_TEST_COLLECTIONS"):
        return Place().tested
    subprocess.run(
        [sys.executable, "-m", "tests.gates", "build"], cwd=REPO, check=True, capture_output=True
    )
    return Place().installed


def run(
    installed: Path, runner: Runner, folder: Path, playbook: str, **variables: Any
) -> ansible_runner.Runner:
    """Run as AWX does, with a kubeconfig in the environment and nothing else of this machine."""
    folder.mkdir()
    (folder / "ansible.cfg").touch()
    return ansible_runner.run(
        private_data_dir=str(folder),
        playbook=playbook,
        extravars=variables,
        envvars={
            "ANSIBLE_COLLECTIONS_PATH": str(installed),
            "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
            "K8S_AUTH_KUBECONFIG": str(runner.kubeconfig),
            "PATH": f"{BIN}:/usr/bin:/bin",
        },
        quiet=True,
    )


def test_the_installed_collection_under_ansible_runner(
    cluster: Cluster, runner: Runner, installed: Path, tmp_path: Path
) -> None:
    assert not (installed / "ansible_collections/hardware/enablement/tests").exists()
    done = run(installed, runner, tmp_path / "first", "hardware.enablement.enable_gpu", **SIMULATED)
    output = done.stdout.read()
    assert done.status == "successful", output
    assert "nvidia-gpu: ready, 3/3 nodes" in output
    assert cluster.kubectl("get", "sr", "nvidia-gpu", "--no-headers").split()[:3] == [
        "nvidia-gpu",
        "ready",
        "3/3",
    ]

    again = run(
        installed, runner, tmp_path / "second", "hardware.enablement.enable_gpu", **SIMULATED
    )
    assert again.status == "successful"
    assert again.stats["changed"] == {}

    removed = run(
        installed,
        runner,
        tmp_path / "third",
        "hardware.enablement.disable",
        hardware_enablement_recipe="nvidia-gpu",
    )
    assert removed.status == "successful", removed.stdout.read()
