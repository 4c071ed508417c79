# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is packed and installed elsewhere works as AWX would run it: ansible-runner, a playbook by
its full name."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import ansible_runner
import pytest

from tests.cluster import Cluster
from tests.gates.place import Place
from tests.integration.conftest import grant
from tests.integration.plays import BIN, REPO, SIMULATED, Runner

INVENTORY_ROLE = re.compile(r"```yaml\n(apiVersion: rbac.*?)```", re.DOTALL)
# What somebody writes into an annotation who hopes that it is run.
EVIL = "{{ lookup('pipe', 'touch ran') }}"
# AWX gives a job what it has stored by a program that prints it.
PRINTER = """\
#!/usr/bin/env python3
print({text!r})
"""
PLAY = """\
- hosts: evil_unknown
  connection: local
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ kubernetes_node.recipes.evil.proofs.driver.hash }}"
"""


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


def settings(installed: Path, kubeconfig: Path, folder: Path) -> dict[str, Any]:
    """A folder as AWX has for a job, with a kubeconfig in the environment and nothing else of this
    machine."""
    folder.mkdir()
    (folder / "ansible.cfg").touch()
    return {
        "private_data_dir": str(folder),
        "envvars": {
            "ANSIBLE_COLLECTIONS_PATH": str(installed),
            "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
            "K8S_AUTH_KUBECONFIG": str(kubeconfig),
            "PATH": f"{BIN}:/usr/bin:/bin",
        },
        "quiet": True,
    }


def run(
    installed: Path, runner: Runner, folder: Path, playbook: str, **variables: Any
) -> ansible_runner.Runner:
    """Run a playbook as AWX does."""
    given = settings(installed, runner.kubeconfig, folder)
    return ansible_runner.run(playbook=playbook, extravars=variables, **given)


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

    found = inventory(cluster, installed, tmp_path / "inventory")
    assert sorted(found["nvidia_gpu_ready"]["hosts"]) == ["gpu-new-1", "gpu-old-1", "gpu-old-2"]
    node = found["_meta"]["hostvars"]["gpu-old-1"]["kubernetes_node"]
    assert node["allocatable"]["nvidia.com/gpu"] == {"__ansible_unsafe": "8"}
    assert "kernel.version" in node["features"]["attributes"]

    removed = run(
        installed,
        runner,
        tmp_path / "third",
        "hardware.enablement.disable",
        hardware_enablement_recipe="nvidia-gpu",
    )
    assert removed.status == "successful", removed.stdout.read()


def test_awx_keeps_the_rights_of_a_job_as_its_artifacts(installed: Path, tmp_path: Path) -> None:
    given = settings(installed, tmp_path / "none", tmp_path / "job")
    asked = {
        "hardware_enablement_recipe": "nvidia-gpu",
        "hardware_enablement_rights_any_options": "true",
        "hardware_enablement_rights_file": str(tmp_path / "rights.yml"),
    }
    done = ansible_runner.run(playbook="hardware.enablement.rights", extravars=asked, **given)
    assert done.status == "successful", done.stdout.read()
    (ended,) = (event for event in done.events if event["event"] == "playbook_on_stats")
    assert ended["event_data"]["artifact_data"] == {
        "rights_manifests": (tmp_path / "rights.yml").read_text()
    }


def inventory(cluster: Cluster, installed: Path, folder: Path) -> dict[str, Any]:
    """What AWX's inventory source gets of a file in a project, with the documented rights; each
    kind was listed once, and nothing else was asked for."""
    user = folder.name
    (role,) = INVENTORY_ROLE.findall((REPO / "docs" / "admin" / "inventory.md").read_text())
    cluster.kubectl("apply", "-f", "-", stdin=role)
    grant(cluster, user, "hardware-enablement-inventory")
    given = settings(installed, cluster.kubeconfig_for(user), folder)
    file = folder / "gpus.hardware_nodes.yml"
    file.write_text("plugin: hardware.enablement.nodes\n")
    mark = cluster.mark()
    found, said, code = ansible_runner.run_command(
        str(BIN / "ansible-inventory"), ["-i", str(file), "--list", "--export"], **given
    )
    assert (code, said) == (0, "")
    asked = [event["requestURI"] for event in cluster.audit(user=user, since=mark)]
    assert [uri.partition("?")[0].rpartition("/")[2] for uri in asked] == [
        "nodes",
        "nodefeatures",
        "specialresources",
    ]
    return dict(json.loads(found))


def test_a_text_of_the_cluster_is_a_text_also_when_awx_has_stored_it(
    cluster: Cluster, installed: Path, tmp_path: Path
) -> None:
    proofs = {"driver": {"hash": EVIL, "kernel": "k", "boot": "b", "time": "t"}}
    annotation = f"hardware-enablement.io/evil.proofs={json.dumps(proofs)}"
    cluster.kubectl("annotate", "node", "plain-1", annotation)
    cluster.kubectl("label", "node", "plain-1", "hardware-enablement.io/evil.node-kernel=k")
    stored = json.dumps(inventory(cluster, installed, tmp_path / "source"))
    given = settings(installed, cluster.kubeconfig_for("source"), tmp_path / "job")
    printer = tmp_path / "job" / "printer"
    printer.write_text(PRINTER.format(text=stored))
    printer.chmod(0o755)
    (tmp_path / "job" / "play.yml").write_text(PLAY)
    done = ansible_runner.run(
        playbook=str(tmp_path / "job" / "play.yml"), inventory=str(printer), **given
    )
    assert done.status == "successful", done.stdout.read()
    (shown,) = (
        event["event_data"]["res"]["msg"]
        for event in done.host_events("plain-1")
        if event["event"] == "runner_on_ok"
    )
    assert shown == EVIL
    assert list(tmp_path.rglob("ran")) == []
