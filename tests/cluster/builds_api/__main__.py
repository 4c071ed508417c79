# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`python -m tests.cluster.builds_api --kubeconfig F --folder D --port P`: serve until it is
ended."""

from __future__ import annotations

import argparse
import logging
import threading
from functools import partial
from pathlib import Path

from tests.cluster.api import Api, ApiError
from tests.cluster.builds_api.buildah import Buildah
from tests.cluster.builds_api.builds import Builds
from tests.cluster.builds_api.execution import Simulated
from tests.cluster.builds_api.image_streams import ImageStreams
from tests.cluster.builds_api.pushing import Pusher
from tests.cluster.builds_api.server import Server
from tests.cluster.builds_api.stored import Obj


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

    api = Api(args.kubeconfig)
    found = partial(find, api)
    pusher = Pusher(args.folder, partial(found, "secrets"))
    streams = ImageStreams(api)
    builds = Builds(api, streams, Buildah(Simulated(found, pusher.push), found, args.folder))
    threading.Thread(target=builds.follow, name="builds", daemon=True).start()
    Server(args.port, args.kubeconfig, args.folder / "pki", builds, streams).serve_forever()


def find(api: Api, plural: str, namespace: str, name: str) -> Obj | None:
    """A Secret or ConfigMap (by its plural), or None."""
    try:
        found: Obj = api.get(f"/api/v1/namespaces/{namespace}/{plural}/{name}")
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return found


if __name__ == "__main__":
    main()
