# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster whose nodes have an RMD server each, and rmd_workload and rmd_info as a user runs
them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils._interface import (
    arguments,
    workload_arguments,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd import info, workload_run
from tests.cluster import Cluster
from tests.integration.in_process import Module
from tests.integration.plays import Runner
from tests.integration.rmd.bed import Obj, RmdBed, deployed
from tests.rmd import Dialect, RmdServer


@dataclass
class WorkloadBed(RmdBed):
    """Nodes with their servers, and the modules' cores as a user with the documented rights runs
    them."""

    runner: Runner

    @property
    def nodes(self) -> list[str]:
        """The nodes' names."""
        return list(self.fleet)

    @property
    def dialect(self) -> Dialect:
        """What all daemons speak."""
        return self.server(0).settings.dialect

    def server(self, number: int) -> RmdServer:
        """The server of the node of this number, from 0."""
        return self.fleet[self.nodes[number]]

    def workload(self, **params: Any) -> Obj:
        """rmd_workload's result; on all nodes, unless some are named."""
        module = Module(workload_run.TASK, workload_arguments.RMD_WORKLOAD, self.runner.kubeconfig)
        return module.result(**{"nodes": self.nodes, **params})

    def info(self, **params: Any) -> Obj:
        """rmd_info's result."""
        return Module(info.TASK, arguments.RMD_INFO, self.runner.kubeconfig).done(**params)

    def by_node(self, result: Obj) -> dict[str, Obj]:
        """A result's nodes by their names."""
        return {entry["node"]: entry for entry in result["nodes"]}

    def methods(self, since: Mapping[str, int]) -> dict[str, str]:
        """What each server was asked for, as letters: "GPGD" is GET, POST, GET, DELETE."""
        asked = self.fleet.requests(since)
        return {
            node: "".join(seen.method[0] for seen in entries) for node, entries in asked.items()
        }

    def workloads(self) -> dict[str, list[Obj]]:
        """What GET says of all nodes. Which group a workload is in is left out: RMD chooses it anew
        each time."""
        return {
            node: [
                {key: value for key, value in body.items() if key != "cos_name"}
                for body in server.workloads()
            ]
            for node, server in self.fleet.servers.items()
        }

    def lease(self, node: str) -> Obj:
        """A node's Lease; {} where there is none."""
        text = self.cluster.kubectl(
            "get",
            "lease",
            f"rmd.{node}",
            "-n",
            "hardware-enablement",
            "--ignore-not-found",
            "-o",
            "json",
        )
        return dict(json.loads(text)) if text else {}

    def saved(self, node: str) -> list[Obj]:
        """What a run has saved there."""
        annotations = self.lease(node).get("metadata", {}).get("annotations", {})
        found: list[Obj] = json.loads(annotations.get("hardware-enablement.io/rmd-saved", "[]"))
        return found

    def clean(self) -> None:
        """No workload, no fault, no Lease; the servers run, and the agents speak."""
        for server in self.fleet.servers.values():
            server.stop()
            server.faults.clear()
            server.faults.wrong_socket, server.faults.silent_noop = 0.0, False
            server.node.database.empty()
            server.reboot()
        self.cluster.kubectl(
            "delete", "lease", "-n", "hardware-enablement", "--all", "--ignore-not-found"
        )
        for node in self.nodes:
            self.reports.mute(node, silent=False)


@contextmanager
def make_bed(
    cluster: Cluster, runner: Runner, folder: Path, names: Sequence[str], **settings: Any
) -> Iterator[WorkloadBed]:
    """Servers for these nodes of the cluster; settings: of each RmdServer. Comes back when all pods
    are ready."""
    with deployed(cluster, names, folder / "pki", folder=folder / "nodes", **settings) as parts:
        yield WorkloadBed(*parts, runner)
