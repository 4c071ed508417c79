# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-rulebook with the collection's rulebook: nodes that come and change end ready with nobody
there."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.java import java_home
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.plays import REPO, Runner
from tests.integration.sight import eventually

pytestmark = pytest.mark.recipes

GPU = "hardware-enablement.io/nvidia-gpu"
BIN = REPO / ".venv-rulebook" / "bin"
KERNEL = "6.8.0-71-generic"
BEGIN, END = "PLAY [Enable a special resource]", "PLAY RECAP"


class Rulebook:
    """ansible-rulebook at work, and what it has printed."""

    def __init__(self, cluster: Cluster, log: Path) -> None:
        self.cluster = cluster
        self._log = log

    def printed(self) -> str:
        """All of it."""
        return self._log.read_text()

    def runs(self) -> list[str]:
        """BEGIN and END of all runs of enable, in turn."""
        enabling = re.sub(r"PLAY \[Make RMD.*?(PLAY RECAP|$)", "", self.printed(), flags=re.DOTALL)
        return re.findall(f"{re.escape(BEGIN)}|{END}", enabling)

    def at_rest(self) -> bool:
        """Whether no run goes on."""
        return self.runs()[-1:] != [BEGIN]

    def events(self, type_: str) -> int:
        """How many events of a type it got."""
        return self.printed().count(f"'type': '{type_}'")

    def ready_on(self, name: str, kernel: str) -> bool:
        """Whether all states are proven on a node, on that kernel."""
        metadata = json.loads(self.cluster.kubectl("get", "node", name, "-o", "json"))["metadata"]
        proofs = json.loads(metadata.get("annotations", {}).get(f"{GPU}.proofs", "{}"))
        kernels = {proof["kernel"] for proof in proofs.values()}
        return metadata["labels"].get(GPU) == "ready" and kernels == {kernel}


@pytest.fixture(scope="module")
def java() -> Path:
    try:
        return java_home()
    except ClusterError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def rulebook(
    cluster: Cluster, runner: Runner, java: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rulebook]:
    """Everything is enabled once by hand; then the rulebook stands guard."""
    subprocess.run([sys.executable, REPO / "tests" / "bootstrap.py", "rulebook"], check=True)
    runner.play("enable_gpu").check()
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    folder = tmp_path_factory.mktemp("rulebook")
    local = {"all": {"hosts": {"localhost": {"ansible_connection": "local"}}}}
    (folder / "inventory.yml").write_text(yaml.safe_dump(local))
    (folder / "vars.yml").write_text(yaml.safe_dump({"eda_debounce": 1}))
    environment = runner.environment()
    environment |= {"PATH": f"{BIN}:{environment['PATH']}", "JAVA_HOME": str(java)}
    command = [str(BIN / "ansible-rulebook"), "-r", "hardware.enablement.cluster_events"]
    command += ["-i", "inventory.yml", "--vars", "vars.yml", "--print-events"]
    log = folder / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True
        )
    made = Rulebook(cluster, log)
    try:
        yield made
        assert process.poll() is None, made.printed()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def lock(cluster: Cluster, holder: str) -> None:
    """Write somebody's name into the lock, or take it out."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    spec: dict[str, Any] = {"spec": {"holderIdentity": holder, "renewTime": now}}
    patch = ("--type=merge", "-p", json.dumps(spec))
    cluster.kubectl("patch", "lease", "nvidia-gpu", "-n", "hardware-enablement", *patch)


def test_a_node_that_joins_while_another_run_has_the_lock_ends_ready(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    lock(cluster, "somebody else")
    (name,) = cluster.add_nodes(1, prefix="gpu-joined", kernel=KERNEL)
    eventually(lambda: "Another run works on nvidia-gpu" in rulebook.printed())
    assert rulebook.events("node_joined") == 1
    lock(cluster, "")
    eventually(lambda: rulebook.ready_on(name, KERNEL))
    eventually(rulebook.at_rest)
    # The run was tried again; no second event did it.
    assert rulebook.events("node_joined") == 1


def test_a_node_that_boots_another_kernel_ends_ready_again(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    before = rulebook.events("kernel_changed")
    cluster.reboot("gpu-new-1", "6.8.0-99-generic")
    cluster.relabel("gpu-new-1")
    eventually(lambda: rulebook.ready_on("gpu-new-1", "6.8.0-99-generic"))
    eventually(rulebook.at_rest)
    assert rulebook.events("kernel_changed") == before + 1


@pytest.mark.usefixtures("rulebook")
def test_an_rmd_workload_starts_a_run_that_judges_it(cluster: Cluster) -> None:
    names = {"apiVersion": "intel.com/v1alpha1", "kind": "RmdWorkload"}
    spec = {"nodes": ["nowhere"], "coreIds": ["1"], "cache": {"max": 1, "min": 1}}
    workload = {**names, "metadata": {"name": "wanted", "namespace": "default"}, "spec": spec}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(workload))
    seen = "jsonpath={.status.observedGeneration}"
    eventually(lambda: cluster.kubectl("get", "rmdworkloads", "wanted", "-o", seen) == "1")
    # A node that there is not is no success: the run is tried again, until nobody wants it any more.
    cluster.kubectl("delete", "rmdworkload", "wanted")


def test_nodes_that_join_during_a_run_get_one_more_run_after_it(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    before = len(rulebook.runs())
    set_fault(cluster.kubeconfig, "gpu-old-1", "driver", "slow", seconds=60)
    cluster.reboot("gpu-old-1", KERNEL)
    cluster.relabel("gpu-old-1")
    eventually(lambda: rulebook.runs()[before:] == [BEGIN])
    seen = rulebook.events("node_joined")
    names = cluster.add_nodes(2, prefix="gpu-later", kernel=KERNEL)
    eventually(lambda: rulebook.events("node_joined") > seen)
    # The first run is still on its way while the next one is asked for.
    assert rulebook.runs()[before:] == [BEGIN]
    clear_faults(cluster.kubeconfig)
    eventually(lambda: all(rulebook.ready_on(name, KERNEL) for name in ("gpu-old-1", *names)))
    eventually(lambda: len(rulebook.runs()) >= before + 4 and rulebook.at_rest())
    assert rulebook.runs()[before:] == [BEGIN, END, BEGIN, END]
