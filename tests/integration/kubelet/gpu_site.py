# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe nvidia-gpu on real nodes, with programs that behave like NVIDIA's: how to play it there,
and what comes of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.images.gpu.gpus import HARDWARE, Gpus, write
from tests.integration.conftest import grant
from tests.integration.plays import REPO, Played, Runner

NAMESPACE = "nvidia-gpu"
RESOURCE = "nvidia.com/gpu"
SUMMARY = "hardware-enablement.io/nvidia-gpu"
IMAGE, VECTOR_ADD = "localhost/gpu:1", "localhost/gpu-vector-add:1"
# A program that has its devices open, as one that computes has.
COMPUTE = (
    "import glob, os, time; "
    "devices = [os.open(path, os.O_PATH) for path in glob.glob('/dev/nvidia*')]; "
    "time.sleep(3600)"
)
FAULT = "uncorrectable ECC error encountered"


@dataclass
class Site:
    """A cluster, how to play nvidia-gpu there, and the kernel that there is a driver image for.
    modules: which of the driver's kernel modules are deployed. options: what else is given."""

    cluster: Cluster
    runner: Runner
    kernel: str
    modules: str = "auto"
    options: dict[str, Any] = field(default_factory=dict)

    def play(self, playbook: str = "enable_gpu", **options: Any) -> Played:
        """Play with images that are on the nodes."""
        images = {
            f"{name}_image": IMAGE for name in ("toolkit", "device_plugin", "feature_discovery")
        }
        images |= {"exporter_image": "localhost/gpu-exporter:1", "validation_image": VECTOR_ADD}
        images |= {"driver_kernel_module_type": self.modules}
        every = {"driver_images": {self.kernel: IMAGE}, **images, **self.options, **options}
        return self.runner.play(
            playbook, hardware_enablement_options=every, hardware_enablement_failure_grace=10
        )

    def install(self, node: str, gpus: Gpus) -> None:
        """Put GPUs into a machine, or others in their place."""
        write(gpus, self.cluster.real_node(node).root / HARDWARE.relative_to("/"))

    def nodes(self) -> dict[str, dict[str, Any]]:
        """The real nodes."""
        found = json.loads(
            self.cluster.kubectl("get", "nodes", *self.cluster.workers, "-o", "json")
        )
        return {item["metadata"]["name"]: item for item in found["items"]}

    def allocatable(self) -> dict[str, str | None]:
        """How many GPUs each node offers."""
        return {
            name: node["status"]["allocatable"].get(RESOURCE) for name, node in self.nodes().items()
        }

    def summaries(self) -> dict[str, str | None]:
        """What our label says of each node."""
        return {
            name: node["metadata"]["labels"].get(SUMMARY) for name, node in self.nodes().items()
        }

    def conditions(self) -> dict[str, tuple[str, str] | None]:
        """Status and reason of the recipe's condition at each node, beside those of its kubelet."""
        found = {
            name: {each["type"]: each for each in node["status"]["conditions"]}
            for name, node in self.nodes().items()
        }
        assert all(of_node["Ready"]["status"] == "True" for of_node in found.values())
        told = {name: of_node.get(SUMMARY) for name, of_node in found.items()}
        return {
            name: (each["status"], each["reason"]) if each else None for name, each in told.items()
        }

    def pod(self, app: str, node: str) -> str:
        """The name of an operand's pod on a node, "" while there is none but such as are ending."""
        chosen = (
            f"--selector=app.kubernetes.io/name={app}",
            f"--field-selector=spec.nodeName={node}",
        )
        found = json.loads(
            self.cluster.kubectl("get", "pods", "-n", NAMESPACE, *chosen, "-o", "json")
        )["items"]
        staying = [pod["metadata"] for pod in found if "deletionTimestamp" not in pod["metadata"]]
        return str(staying[0]["name"]) if staying else ""

    def log(self, app: str, node: str, container: str) -> str:
        """A container's log, "" while there is none."""
        try:
            return self.cluster.kubectl(
                "logs", "-n", NAMESPACE, self.pod(app, node), "-c", container
            )
        except ClusterError:
            return ""

    def status(self, app: str, node: str, field: str) -> str:
        """A field of the status of an operand's container on a node, "" while there is none."""
        path = f"jsonpath={{.status.containerStatuses[0].{field}}}"
        try:
            return self.cluster.kubectl(
                "get", "pod", "-n", NAMESPACE, self.pod(app, node), "-o", path
            )
        except ClusterError:
            return ""


@contextmanager
def gpu_site(cluster: Cluster, user: str, folder: Path) -> Iterator[Site]:
    """A site on the real nodes, whose GPUs go afterwards. user: who runs."""
    cluster.load_image("gpu")
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, user, "hardware-enablement-runner")
    node = json.loads(cluster.kubectl("get", "node", cluster.workers[0], "-o", "json"))
    site = Site(cluster, Runner(cluster, user, folder), node["status"]["nodeInfo"]["kernelVersion"])
    try:
        yield site
    finally:
        cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
        cluster.kubectl("delete", "specialresource", "nvidia-gpu", "--ignore-not-found")
        for name in cluster.workers:
            cluster.reboot(name, "")
            cluster.kubectl("delete", "nodefeature", "-n", "nfd-worker", name, "--ignore-not-found")
            cluster.equip(name, "cpu-only")
