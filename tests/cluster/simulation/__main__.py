# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.simulation --kubeconfig F --folder D [--port P]`: simulate pods until
SIGTERM."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import threading
from pathlib import Path

from tests.cluster.kubelet import egress

from . import operands
from .api import load_kubeconfig
from .daemon import Simulation
from .kubelet import LogServer
from .programs import Programs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.simulation", description=__doc__)
    parser.add_argument("--kubeconfig", required=True, type=Path)
    parser.add_argument(
        "--folder", required=True, type=Path, help="the cluster's folder, for simulation.json"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=0,
        help="serves the nodes' logs; 0 = the last one, or a free one",
    )
    parser.add_argument("--workers", type=int, default=16)
    parser.add_argument(
        "--label-nodes", action="store_true", help="make node labels of NodeFeatures, as NFD does"
    )
    parser.add_argument(
        "--real-node",
        action="append",
        default=[],
        help="address of a real node, by which the API server asks for its kubelet",
    )
    parser.add_argument(
        "--egress", action="store_true", help="the API server comes by the egress selector"
    )
    parser.add_argument(
        "--instant", action="store_true", help="operands take no time to start or to end"
    )
    parser.add_argument(
        "--program",
        action="append",
        default=[],
        help="NAME=PATH of a real program, for the pods that run it",
    )
    args = parser.parse_args()
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )

    state = args.folder / "simulation.json"
    last = json.loads(state.read_text()) if state.exists() else {}
    if args.egress:
        egress.serve(args.folder, args.real_node)
    server = LogServer(args.folder, args.port or last.get("port", 0))
    cluster, label_nodes = load_kubeconfig(args.kubeconfig), args.label_nodes
    programs = Programs(
        args.folder, args.kubeconfig, dict(text.split("=", 1) for text in args.program)
    )
    simulation = Simulation(
        cluster,
        operands.load(instant=args.instant),
        server.server_port,
        args.workers,
        programs,
        label_nodes=label_nodes,
    )
    server.simulation = simulation
    threading.Thread(target=server.serve_forever, name="logs", daemon=True).start()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: simulation.stop.set())
    simulation.start()
    state.write_text(json.dumps({"pid": os.getpid(), "port": server.server_port}))
    simulation.stop.wait()
    programs.stop()


if __name__ == "__main__":
    main()
