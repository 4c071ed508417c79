# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the pinned API server for its OpenAPI documents, and write their types in short, as
recipe_check reads them.

`make api-types`, which starts a cluster of its own, is to be run after Kubernetes is pinned to
another version."""

from __future__ import annotations

import json
import time
from pathlib import Path

from ansible_collections.hardware.enablement.plugins.module_utils._interface.api_types_file import (
    PATH,
)
from ansible_collections.hardware.enablement.plugins.module_utils._recipes.checking.api_types import (
    compact,
)
from tests.cluster import Cluster

REPO = Path(__file__).resolve().parents[2]
CRDS = (
    REPO / "tests" / "cluster" / "openshift" / "crds.yaml",
    REPO / "tests" / "cluster" / "crds" / "networks.yaml",
    REPO / "tests" / "cluster" / "crds" / "cert-manager.yaml",
    REPO / "tests" / "cluster" / "crds" / "node-readiness.yaml",
)


def documents(cluster: Cluster) -> dict[str, dict[str, object]]:
    """The OpenAPI document of every group-version that the cluster serves."""
    paths = json.loads(cluster.kubectl("get", "--raw", "/openapi/v3"))["paths"]
    versions = [
        path
        for path in paths
        if path.startswith(("api/", "apis/")) and path.split("/")[-1][:1] == "v"
    ]
    return {
        path: json.loads(cluster.kubectl("get", "--raw", f"/openapi/v3/{path}"))
        for path in versions
    }


def in_lines(data: dict[str, object]) -> str:
    """JSON with a line for each kind and each definition, so that a new version's difference can be
    read."""
    parts = []
    for key, value in data.items():
        if isinstance(value, dict):
            rows = [f"{json.dumps(name)}:{_json(value[name])}" for name in sorted(value)]
            parts.append(f"{json.dumps(key)}:{{\n" + ",\n".join(rows) + "\n}")
        else:
            parts.append(f"{json.dumps(key)}:{_json(value)}")
    return "{" + ",\n".join(parts) + "}\n"


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def main() -> None:
    """Write the file."""
    with Cluster.up("openapi") as cluster:
        for file in CRDS:
            cluster.kubectl("apply", "-f", str(file))
        while not all(
            name in cluster.kubectl("get", "--raw", "/openapi/v3")
            for name in (
                "security.openshift.io/v1",
                "k8s.cni.cncf.io/v1",
                "cert-manager.io/v1",
                "readiness.node.x-k8s.io/v1alpha1",
            )
        ):
            time.sleep(0.5)
        version = json.loads(cluster.kubectl("get", "--raw", "/version"))[
            "gitVersion"
        ].removeprefix("v")
        PATH.write_text(in_lines(compact(documents(cluster), version)))


main()
