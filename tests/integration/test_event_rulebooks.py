# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-rulebook with the collection's rulebook: nodes that come and change end ready with nobody
there."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.java import java_home
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.plays import REPO, Runner
from tests.integration.waiting import wait_until

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


class Guards:
    """Starts ansible-rulebook with one of the collection's rulebooks."""

    def __init__(self, cluster: Cluster, runner: Runner, java: Path, folder: Path) -> None:
        self._cluster = cluster
        self._folder = folder
        environment = runner.environment()
        path = f"{BIN}:{environment['PATH']}"
        self._environment = environment | {"PATH": path, "JAVA_HOME": str(java)}
        host = {"ansible_connection": "local", "hardware_enablement_failure_grace": 10}
        local = {"all": {"hosts": {"localhost": host}}}
        (folder / "inventory.yml").write_text(yaml.safe_dump(local))

    @contextmanager
    def stand(self, name: str, **variables: Any) -> Iterator[Rulebook]:
        """One stands guard, and does so to the end."""
        (self._folder / f"{name}.vars.yml").write_text(yaml.safe_dump(variables))
        command = [str(BIN / "ansible-rulebook"), "-r", f"hardware.enablement.{name}"]
        command += ["-i", "inventory.yml", "--vars", f"{name}.vars.yml", "--print-events"]
        log = self._folder / f"{name}.log"
        with log.open("w") as out:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env=self._environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        made = Rulebook(self._cluster, log)
        try:
            yield made
            assert process.poll() is None, made.printed()
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(60)


@pytest.fixture(scope="module")
def guards(
    cluster: Cluster, runner: Runner, java: Path, tmp_path_factory: pytest.TempPathFactory
) -> Guards:
    """Everything is enabled once by hand."""
    subprocess.run([sys.executable, REPO / "tests" / "bootstrap.py", "rulebook"], check=True)
    runner.play("enable_gpu").check()
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    return Guards(cluster, runner, java, tmp_path_factory.mktemp("rulebook"))


@pytest.fixture(scope="module")
def rulebook(guards: Guards) -> Iterator[Rulebook]:
    """The one of events, with remedies asked for."""
    remedy = "hardware.enablement.remedy"
    with guards.stand("cluster_events", eda_debounce=1, eda_remedy_playbook=remedy) as made:
        yield made


def lock(cluster: Cluster, holder: str) -> None:
    """Write somebody's name into the lock, or take it out."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime())
    spec: dict[str, Any] = {"spec": {"holderIdentity": holder, "renewTime": now}}
    patch = ("--type=merge", "-p", json.dumps(spec))
    cluster.kubectl("patch", "lease", "nvidia-gpu", "-n", "hardware-enablement", *patch)


def test_a_node_that_joins_while_another_run_has_the_lock_ends_ready(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    before = rulebook.events("node_joined")
    lock(cluster, "somebody else")
    (name,) = cluster.add_nodes(1, prefix="gpu-joined", kernel=KERNEL)
    wait_until(
        lambda: "Another run works on nvidia-gpu" in rulebook.printed(),
        "the run says that another one works",
    )
    assert rulebook.events("node_joined") == before + 1
    lock(cluster, "")
    wait_until(lambda: rulebook.ready_on(name, KERNEL), f"{name} is ready")
    wait_until(rulebook.at_rest, "all runs have ended")
    # The run was tried again; no second event did it.
    assert rulebook.events("node_joined") == before + 1


def test_a_node_that_boots_another_kernel_ends_ready_again(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    before = rulebook.events("kernel_changed")
    cluster.reboot("gpu-new-1", "6.8.0-99-generic")
    cluster.relabel("gpu-new-1")
    wait_until(
        lambda: rulebook.ready_on("gpu-new-1", "6.8.0-99-generic"),
        "gpu-new-1 is ready on its new kernel",
    )
    wait_until(rulebook.at_rest, "all runs have ended")
    assert rulebook.events("kernel_changed") == before + 1


def test_a_special_resource_that_kubectl_makes_is_enabled(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    wait_until(rulebook.at_rest, "all runs have ended")
    before = rulebook.events("resource_changed")
    record = ("specialresource", "nvidia-gpu")
    live = json.loads(cluster.kubectl("get", *record, "-o", "json"))
    cluster.kubectl("delete", *record)
    spec = {name: live["spec"][name] for name in ("recipe", "namespace", "options")}
    made = {key: live[key] for key in ("apiVersion", "kind")}
    made |= {"metadata": {"name": "nvidia-gpu"}, "spec": spec}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(made))
    phase = ("get", *record, "-o", "jsonpath={.status.phase}")
    wait_until(lambda: cluster.kubectl(*phase) == "ready", "it is ready")
    wait_until(rulebook.at_rest, "all runs have ended")
    assert rulebook.events("resource_changed") == before + 1
    # Whoever declares it goes on to: what runs have added is no difference.
    assert "unchanged" in cluster.kubectl("apply", "-f", "-", stdin=json.dumps(made))


@pytest.mark.usefixtures("rulebook")
def test_an_rmd_workload_starts_a_run_that_judges_it(cluster: Cluster) -> None:
    names = {"apiVersion": "intel.com/v1alpha1", "kind": "RmdWorkload"}
    spec = {"nodes": ["nowhere"], "coreIds": ["1"], "cache": {"max": 1, "min": 1}}
    workload = {**names, "metadata": {"name": "wanted", "namespace": "default"}, "spec": spec}
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(workload))
    seen = "jsonpath={.status.observedGeneration}"
    wait_until(
        lambda: cluster.kubectl("get", "rmdworkloads", "wanted", "-o", seen) == "1",
        "a run has seen the RmdWorkload",
    )
    # A node that there is not is no success: the run is tried again, until nobody wants it any more.
    cluster.kubectl("delete", "rmdworkload", "wanted")


def test_nodes_that_join_during_a_run_get_one_more_run_after_it(
    cluster: Cluster, rulebook: Rulebook
) -> None:
    before = len(rulebook.runs())
    set_fault(cluster.kubeconfig, "gpu-old-1", "driver", "slow", seconds=60)
    cluster.reboot("gpu-old-1", KERNEL)
    cluster.relabel("gpu-old-1")
    wait_until(lambda: rulebook.runs()[before:] == [BEGIN], "a run has begun")
    seen = rulebook.events("node_joined")
    names = cluster.add_nodes(2, prefix="gpu-later", kernel=KERNEL)
    wait_until(lambda: rulebook.events("node_joined") > seen, "the event of nodes that join")
    # The first run is still on its way while the next one is asked for.
    assert rulebook.runs()[before:] == [BEGIN]
    clear_faults(cluster.kubeconfig)
    wait_until(
        lambda: all(rulebook.ready_on(name, KERNEL) for name in ("gpu-old-1", *names)),
        "all nodes are ready",
    )
    wait_until(
        lambda: len(rulebook.runs()) >= before + 4 and rulebook.at_rest(),
        "the second run has ended",
    )
    assert rulebook.runs()[before:] == [BEGIN, END, BEGIN, END]


def test_a_gpu_that_fails_is_mended_with_nobody_there(cluster: Cluster, rulebook: Rulebook) -> None:
    (name,) = cluster.add_nodes(1, prefix="gpu-lost", kernel=KERNEL)
    wait_until(lambda: rulebook.ready_on(name, KERNEL), f"{name} is ready")
    wait_until(rulebook.at_rest, "all runs have ended")
    before = rulebook.events("pod_crashed")
    fault = {"message": "XID 79: GPU has fallen off the bus", "mended_by": "nvidia-gpu-reset"}
    set_fault(cluster.kubeconfig, name, "device-plugin", "crash", **fault)
    # The crash starts the run that finds it broken, and that one's label the remedy.
    wait_until(
        lambda: "remedies: 1 of 1 nodes proven again" in rulebook.printed(),
        "the node is proven again",
    )
    wait_until(lambda: rulebook.ready_on(name, KERNEL), f"{name} is ready")
    wait_until(rulebook.at_rest, "all runs have ended")
    # The pod has crashed more than once.
    assert rulebook.events("pod_crashed") == before + 1
    clear_faults(cluster.kubeconfig)


def alerts(port: int, token: str, *labels: dict[str, str]) -> int:
    """Tell of alerts as Alertmanager does (prometheus.io/docs/alerting, webhook_config)."""
    each = [{"status": "firing", "labels": names, "annotations": {}} for names in labels]
    body = {"version": "4", "status": "firing", "receiver": "mend", "alerts": each}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
    try:
        connection.request("POST", "/alerts", json.dumps(body), headers)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def test_a_node_that_an_alert_names_is_mended_and_no_template_gets_through(
    cluster: Cluster, guards: Guards
) -> None:
    ours = {
        "hardware_enablement_recipe": "nvidia-gpu",
        "hardware_enablement_instance": "nvidia-gpu",
    }
    named = {**ours, "alertname": "NvidiaGpuXidCritical", "node": "gpu-old-1"}
    forged = {**named, "node": "{{ lookup('pipe', 'touch forged') }}"}
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    with guards.stand("cluster_alerts", eda_alerts_token="s3cr3t", eda_alerts_port=port) as guard:
        wait_until(
            lambda: alerts(port, "s3cr3t", forged, named, {"alertname": "Other"}) == 200,
            "the alerts are accepted",
        )
        assert alerts(port, "guessed", named) == 401
        wait_until(
            lambda: "remedies: 1 of 1 nodes proven again" in guard.printed(),
            "the node is proven again",
        )
    assert "gpu-old-1, which NvidiaGpuXidCritical was reported of" in guard.printed()
    assert guard.printed().count("PLAY [Mend the nodes of a special resource]") == 1
    node = json.loads(cluster.kubectl("get", "node", "gpu-old-1", "-o", "json"))
    assert len(json.loads(node["metadata"]["annotations"][f"{GPU}.upgrade"])["tried"]) == 1
    assert "unschedulable" not in node["spec"]
