# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes with the back end resctrl: the recipe's objects as the role deploys them, and the recipe's
agent as a process for each node, with the token of its service account."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster import Cluster
from tests.integration.plays import REPO, Played, Runner
from tests.integration.rmd.bed import LOG_FILE, NAMESPACE
from tests.integration.rmd.user_objects import Obj, UserObjects
from tests.integration.waiting import PATIENTLY, wait_until
from tests.rmd.agent_process import INTERVAL_S, AgentProcess

AGENT = "intel-rmd-agent"
LABEL = "feature.node.kubernetes.io/cpu-rdt.RDTL3CA=true"


@dataclass
class ResctrlBed(UserObjects):
    """A cluster, and its nodes' agents by name."""

    cluster: Cluster
    runner: Runner
    agents: dict[str, AgentProcess]
    backend: str = "resctrl"

    def play(self, *arguments: str) -> Played:
        """The playbook rmd, with the back end that is the default."""
        return self.runner.play("rmd", *arguments)

    @contextmanager
    def change_over(self, backend: str) -> Iterator[None]:
        """The RmdConfig names this back end, and the playbook rmd runs while the nodes change; it
        has to end well."""
        self.apply(
            {
                "apiVersion": "intel.com/v1alpha1",
                "kind": "RmdConfig",
                "metadata": {"name": "rmdconfig", "namespace": "default"},
                "spec": {"backend": backend, "rmdImage": "registry.example.org/rmd:0.3.1"},
            }
        )
        started = self.runner.start("rmd")
        yield
        assert started.wait(180) == 0, (self.runner.folder / "rmd.log").read_text()

    def restart_agents(self, *, writes: bool) -> None:
        """New agents, as after a change of their DaemonSet; comes back when all have reported."""
        for agent in self.agents.values():
            agent.stop()
            agent.log.write_text("")
            agent.start(writes=writes)
        wait_until(
            lambda: all(agent.log.read_text() for agent in self.agents.values()),
            "all reports",
        )

    def give(self, node: str, uid: str, **cpus: str) -> None:
        """By the CPU manager's state."""
        self.agents[node].give({uid: cpus})

    def declared(self, node: str) -> Obj:
        """A node's spec.workloads."""
        state = self.get("rmdnodestate", f"rmd-node-state-{node}")
        return dict(state["spec"].get("workloads") or {})

    def groups(self) -> dict[str, dict[str, str]]:
        """Node -> group without our prefix -> CPUs."""
        return {
            node: {
                name.removeprefix("hardware-enablement"): cpus
                for name, cpus in agent.groups().items()
            }
            for node, agent in self.agents.items()
        }


@contextmanager
def make_bed(
    cluster: Cluster, runner: Runner, folder: Path, nodes: int, interval: float = INTERVAL_S
) -> Iterator[ResctrlBed]:
    """Nodes worker-node-1 and so on, deployed by the role; comes back when all agents run, which
    look again after interval seconds."""
    names = cluster.add_nodes(nodes, profile="cpu-only", prefix="worker-node")
    bed = ResctrlBed(cluster, runner, {})
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rmd-crds.yaml"))
    for name in names:
        cluster.kubectl("label", "node", name, LABEL)
    # No process speaks for the pods yet.
    told = bed.play()
    assert f"The agent does not answer on {nodes} of {nodes} nodes" in told.output.replace(
        "\n", " "
    )
    annotations = {LOG_FILE: f"{folder}/logs/{{node}}"}
    patch = {"spec": {"template": {"metadata": {"annotations": annotations}}}}
    cluster.kubectl("patch", "daemonset", AGENT, "-n", NAMESPACE, "-p", json.dumps(patch))
    cluster.kubectl("rollout", "status", f"daemonset/{AGENT}", "-n", NAMESPACE, PATIENTLY)
    bed.agents.update(_agents(bed, folder, names, interval))
    try:
        for agent in bed.agents.values():
            agent.start()
        yield bed
    finally:
        for agent in bed.agents.values():
            agent.stop()


def _agents(
    bed: ResctrlBed, folder: Path, names: Sequence[str], interval: float
) -> dict[str, AgentProcess]:
    """Processes with what their pods have: settings, token, CA and namespace."""
    credentials, settings = folder / "credentials", folder / "settings.json"
    credentials.mkdir()
    server = yaml.safe_load(bed.cluster.kubeconfig.read_text())["clusters"][0]["cluster"]
    token = bed.cluster.kubectl("create", "token", AGENT, "-n", NAMESPACE)
    (credentials / "token").write_text(token)
    (credentials / "namespace").write_text(NAMESPACE)
    (credentials / "ca.crt").write_bytes(base64.b64decode(server["certificate-authority-data"]))
    settings.write_text(bed.get("configmap", AGENT, NAMESPACE)["data"]["settings.json"])
    return {
        name: AgentProcess(
            name,
            _made(folder / name),
            folder / "logs" / name,
            server["server"],
            credentials,
            settings,
            interval=interval,
        )
        for name in names
    }


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder
