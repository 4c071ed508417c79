# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.builds_api --kubeconfig F --folder D --port P`: serve until SIGTERM."""

from __future__ import annotations

import argparse
import logging
import signal
import sys
import threading
from functools import partial
from pathlib import Path

from tests.cluster.api import Api
from tests.cluster.builds_api.buildah import Buildah
from tests.cluster.builds_api.building import Building
from tests.cluster.builds_api.controller import Controller
from tests.cluster.builds_api.kubernetes import Kubernetes
from tests.cluster.builds_api.logs import Logs
from tests.cluster.builds_api.objects import Objects
from tests.cluster.builds_api.plays import Simulated
from tests.cluster.builds_api.pushing import Pusher
from tests.cluster.builds_api.rest import Rest
from tests.cluster.builds_api.server import Server
from tests.cluster.builds_api.store import Store


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.builds_api", description=__doc__)
    parser.add_argument("--kubeconfig", required=True, type=Path)
    parser.add_argument(
        "--folder", required=True, type=Path, help="the cluster's folder, with its pki"
    )
    parser.add_argument("--port", required=True, type=int)
    args = parser.parse_args()
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )

    pki, state = args.folder / "pki", args.folder / "builds-api"
    logs = Logs(state / "logs")
    objects = Objects(Store(state / "state.json"))
    kubernetes = Kubernetes(Api(args.kubeconfig))
    building = Building(objects, logs)
    pusher = Pusher(args.folder, partial(kubernetes.found, "secrets"))
    executor = Buildah(Simulated(kubernetes.found, pusher.push), kubernetes.found, args.folder)
    controller = Controller(objects, logs, building, executor, kubernetes.annotations)
    server = Server(
        args.port,
        Rest(objects, kubernetes, building),
        certificate=pki / "builds-api.crt",
        key=pki / "builds-api.key",
        authority=pki / "front-proxy.crt",
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # What is done is on disk; what goes on is taken up by the next process.
        signal.signal(number, lambda *_: sys.exit(0))
    threading.Thread(target=controller.follow, name="controller", daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
