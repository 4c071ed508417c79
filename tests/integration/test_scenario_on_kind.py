# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scenario kind without kind: KWOK, with the scenario's configuration and rights, plays its nodes.

What is left out is `kind create cluster`, and that KWOK runs in a container.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster, processes
from tests.cluster.programs import KWOK_MODULES, ensure_programs
from tests.gates.place import Place
from tests.integration.plays import BIN, Runner

SCENARIOS = (
    Place().tested / "ansible_collections" / "hardware" / "enablement" / "extensions" / "molecule"
)
TOLERATION = {
    "key": "kwok.x-k8s.io/node",
    "operator": "Equal",
    "value": "fake",
    "effect": "NoSchedule",
}
TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """As kind is: without the kinds of NFD's master and Prometheus, and with nobody who plays pods."""
    with Cluster.up("test-scenario-on-kind", monitoring_crds=False, nfd=False) as started:
        simulation = [
            process
            for process in processes.noted(started.folder)
            if process.program == "simulation"
        ]
        processes.stop(simulation, patience=5)
        yield started


@pytest.fixture(scope="module")
def kwok(cluster: Cluster) -> None:
    """KWOK as the scenario's service account, with the file of its ConfigMap."""
    cluster.kubectl("apply", "-f", str(SCENARIOS / "kind" / "files" / "kwok.yml"))
    text = cluster.kubectl(
        "get", "configmap", "kwok", "-n", "kube-system", "-o", "jsonpath={.data.kwok\\.yaml}"
    )
    configuration = cluster.folder / "kwok.yaml"
    configuration.write_text(text)
    account = cluster.kubeconfig_for("system:serviceaccount:kube-system:kwok")
    program = ensure_programs(modules=KWOK_MODULES)["kwok"]
    command = [program, f"--kubeconfig={account}", f"--config={configuration}"]
    processes.start("kwok", command, folder=cluster.folder)


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    made = Runner(cluster, "kind-admin", tmp_path_factory.mktemp("runner"))
    made.settings = {"K8S_AUTH_KUBECONFIG": str(cluster.kubeconfig)}
    return made


def objects(cluster: Cluster, kind: str, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        cluster.kubectl("get", kind, *arguments, "-o", "json")
    )["items"]
    return found


@pytest.mark.usefixtures("kwok")
def test_prepare_converge_idempotence_and_verify(cluster: Cluster, runner: Runner) -> None:
    options = f"-e@{SCENARIOS / 'kind' / 'vars' / 'options.yml'}"
    runner.play(SCENARIOS / "kind" / "prepare.yml", options).check()
    nodes = [
        node for node in objects(cluster, "nodes") if node["metadata"]["name"] != "control-plane"
    ]
    assert [node["spec"]["taints"] for node in nodes] == [[TAINT]] * 4

    runner.play(SCENARIOS / "default" / "converge.yml", options).check()
    runner.play(SCENARIOS / "default" / "converge.yml", options).unchanged()
    runner.play(SCENARIOS / "default" / "verify.yml", options).check()
    operands = objects(cluster, "pods", "-n", "nvidia-gpu")
    assert operands
    assert all(TOLERATION in pod["spec"]["tolerations"] for pod in operands)


def test_molecule_lists_and_reads_the_scenarios(tmp_path: Path) -> None:
    """As users do, in the folder `extensions`: without a galaxy.yml and the settings of this repository."""
    for name in ("default", "kind"):
        done = molecule(tmp_path, "syntax", "--scenario-name", name)
        assert done.returncode == 0, done.stdout + done.stderr
    listed = molecule(tmp_path, "list", "--format", "yaml")
    assert {item["Scenario Name"] for item in yaml.safe_load(listed.stdout)} == {"default", "kind"}


def test_no_cluster_is_taken_that_was_not_named(tmp_path: Path, cluster: Cluster) -> None:
    done = molecule(tmp_path, "test", KUBECONFIG=str(cluster.kubeconfig))
    assert done.returncode != 0
    assert (
        "kubeconfig /HE_TEST_KUBECONFIG-names-no-kubeconfig): there is no such file"
        in done.stdout + done.stderr
    )


def molecule(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    place = Place()
    env = {
        **place.environment(),
        "ANSIBLE_COLLECTIONS_PATH": str(place.tested),
        "MOLECULE_EPHEMERAL_DIRECTORY": str(folder / "ephemeral"),
        "NO_COLOR": "1",
        "COLUMNS": "200",
        **settings,
    }
    env.pop("HE_TEST_KUBECONFIG", None)
    command = [str(BIN / "molecule"), *arguments]
    return subprocess.run(
        command, cwd=SCENARIOS.parent, env=env, capture_output=True, text=True, check=False
    )
