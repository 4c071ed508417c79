# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated nodes on an API server that is not ours, such as kind's: KWOK, NFD's master, played
pods, the four nodes.

`python -m tests.scenes.guest up KUBECONFIG FOLDER NODE` starts them, with their logs in FOLDER;
NODE is any node of that cluster (nfd-master must name one). `python -m tests.scenes.guest down
FOLDER` stops them; the objects stay.

Logs of simulated pods cannot be read there: that API server would have to reach this machine's
loopback.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from pathlib import Path

from tests.cluster import processes
from tests.cluster.api import Api
from tests.cluster.commands import NFD_NAMESPACE
from tests.cluster.errors import ClusterError
from tests.cluster.objects import create_crds, create_objects, read_objects
from tests.cluster.paths import HERE, REPO
from tests.cluster.programs import GUEST_MODULES, ensure_programs
from tests.scenes.four_nodes import add_machines


def up(kubeconfig: Path, folder: Path, node: str) -> None:
    """Start the three daemons against that API server, then add the nodes."""
    programs = ensure_programs(modules=GUEST_MODULES)
    api = Api(kubeconfig)
    crds = programs.objects("kwok-crds.json") + programs.objects("nfd-crds.json")
    create_crds(api, [*crds, *read_objects(HERE / "crds" / "monitoring.yaml")])
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NFD_NAMESPACE}}
    create_objects(api, [namespace, *read_objects(HERE / "stages")])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kwok.yaml").write_text(_kwok_configuration())
    (folder / "nfd-master.yaml").write_text("{}\n")
    kwok = [
        programs["kwok"],
        f"--kubeconfig={kubeconfig}",
        f"--config={folder / 'kwok.yaml'}",
        "-v=WARN",
    ]
    nfd = [
        programs["nfd-master"],
        f"-kubeconfig={kubeconfig}",
        f"-config={folder / 'nfd-master.yaml'}",
        "-port=-1",
    ]
    pods = [
        sys.executable,
        "-m",
        "tests.cluster.simulation",
        f"--kubeconfig={kubeconfig}",
        f"--folder={folder}",
    ]
    processes.start("kwok", kwok, folder=folder)
    identity = {"KUBERNETES_NAMESPACE": NFD_NAMESPACE, "NODE_NAME": node}
    processes.start("nfd-master", nfd, folder=folder, environment=identity)
    processes.start("simulation", pods, folder=folder, directory=REPO)
    add_machines(api, _simulation_port(folder))


def down(folder: Path) -> None:
    """Stop the daemons and remove the folder."""
    processes.stop(processes.noted(folder), patience=5)
    shutil.rmtree(folder, ignore_errors=True)


def _simulation_port(folder: Path) -> int:
    """The port that the simulation has found for itself; it writes it down as soon as it serves."""
    state = folder / "simulation.json"
    deadline = time.monotonic() + 30
    while not state.exists():
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The simulation did not start within 30 s: see {folder / 'logs' / 'simulation.log'}."
            )
        time.sleep(0.1)
    return int(json.loads(state.read_text())["port"])


def _kwok_configuration() -> str:
    """Unlike our own control plane, that one wants heartbeats: leases, which cost least."""
    options = {
        "enableCRDs": ["Stage"],
        "manageNodesWithAnnotationSelector": "kwok.x-k8s.io/node=fake",
        "nodeLeaseDurationSeconds": 40,
        # A configuration file has no defaults for these.
        "nodeLeaseParallelism": 4,
        "nodePlayStageParallelism": 4,
    }
    return json.dumps(
        {
            "apiVersion": "config.kwok.x-k8s.io/v1alpha1",
            "kind": "KwokConfiguration",
            "options": options,
        }
    )


def main() -> int:
    """Exit code 1 with one sentence if it cannot be done."""
    parser = argparse.ArgumentParser(prog="python -m tests.scenes.guest")
    commands = parser.add_subparsers(dest="command", required=True)
    start = commands.add_parser("up")
    start.add_argument("kubeconfig", type=Path)
    start.add_argument("folder", type=Path)
    start.add_argument("node")
    commands.add_parser("down").add_argument("folder", type=Path)
    options = parser.parse_args()
    try:
        if options.command == "up":
            up(options.kubeconfig.absolute(), options.folder.absolute(), options.node)
        else:
            down(options.folder.absolute())
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
