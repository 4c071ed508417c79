# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on real nodes: a registry with a base image, and how to play it there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.faults import FaultProxy
from tests.cluster.images import ensure_image
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import Images, Registry
from tests.integration.conftest import grant
from tests.integration.namespaces import make_namespace
from tests.integration.plays import REPO, Played, Runner

NAMESPACE = "simple-kmod"
USER = "builder-run"
SUMMARY = "hardware-enablement.io/simple-kmod"
KERNEL_LABEL, INPUTS_LABEL = "hardware-enablement.io/kernel", "hardware-enablement.io/inputs"
NO_HEADERS = "5.4.0-1-amd64"
Obj = dict[str, Any]


@dataclass
class Site:
    """A cluster, its registry, a proxy for faults on the way there, and how to play simple-kmod.

    prebuilt, built: kernels with headers. config: a file with the registry's credentials.
    builds_on: labels of the nodes that build.
    """

    cluster: Cluster
    registry: Registry
    images: Images
    proxy: FaultProxy
    runner: Runner
    prebuilt: str
    built: str
    config: Path
    builds_on: Mapping[str, str]

    def variables(
        self, repository: str = "drivers/simple-kmod", *, faulty: bool = False, **others: Any
    ) -> Obj:
        """What a user sets. faulty: the registry is asked, and pushed to, through the proxy."""
        host = self.registry.named_address
        return {
            "hardware_enablement_recipe": "simple-kmod",
            "hardware_enablement_options": {
                "repository": f"{host}/{repository}",
                "prebuilt_repository": f"{host}/drivers/prebuilt",
                "headers": "base_image",
                "base_image": f"{host}/base/kmod:1",
                "node_selector": {"kmod": "wanted"},
                "image_pull_secrets": ["registry"],
            },
            "hardware_enablement_push_secret": "registry",
            "hardware_enablement_builder_image": "localhost/builder:1",
            "hardware_enablement_build_host_network": True,
            "hardware_enablement_build_node_selector": dict(self.builds_on),
            "hardware_enablement_registry_ca": self.registry.ca,
            # registry.test is a name on the nodes only.
            "hardware_enablement_registry_mirrors": [
                {
                    "prefix": host,
                    "locations": [self.proxy.address if faulty else self.registry.address],
                    "source": False,
                }
            ],
            "hardware_enablement_failure_grace": 10,
            **{f"hardware_enablement_{name}": value for name, value in others.items()},
        }

    def play(
        self, repository: str = "drivers/simple-kmod", *, faulty: bool = False, **others: Any
    ) -> Played:
        """Enable simple-kmod. others: variables without their prefix."""
        return self.runner.play(
            "enable", timeout=400, **self.variables(repository, faulty=faulty, **others)
        )

    def record(self) -> dict[str, dict[str, Any]]:
        """The record's images by kernel."""
        found = json.loads(self.cluster.kubectl("get", "sr", "simple-kmod", "-o", "json"))
        return {entry["kernel"]: entry for entry in found["status"]["images"]}

    def summaries(self) -> dict[str, str]:
        """What our label says of each wanted node."""
        nodes = json.loads(self.cluster.kubectl("get", "nodes", "-l", "kmod=wanted", "-o", "json"))[
            "items"
        ]
        return {
            node["metadata"]["name"]: node["metadata"]["labels"].get(SUMMARY, "") for node in nodes
        }

    def driver_log(self, node: str) -> str:
        """The log of the driver's pod on a node, "" while there is none."""
        on_node = f"--field-selector=spec.nodeName={node}"
        drivers = "app.kubernetes.io/component=driver"
        try:
            (pod,) = self.cluster.kubectl(
                "get", "pods", "-n", NAMESPACE, on_node, "-l", drivers, "-o", "name"
            ).split()
            return self.cluster.kubectl("logs", "-n", NAMESPACE, pod, "--tail=5")
        except (ClusterError, ValueError):
            return ""


@dataclass(frozen=True)
class Made:
    """What is in a built image: its labels, but for those that tell of its builder, and the module."""

    labels: Mapping[str, str]
    module: bytes


def look_into(site: Site, repository: str) -> Made:
    """Compare the image of the kernel to build for with the record, and look into it."""
    entry = site.record()[site.built]
    name, _at, digest = entry["image"].partition("@")
    assert name == f"{site.registry.named_address}/{repository}"
    contents = site.images.contents(repository, digest)
    labels = contents.config["config"]["Labels"]
    assert (labels[KERNEL_LABEL], labels[INPUTS_LABEL]) == (site.built, entry["inputs"])
    module = f"opt/modules/{site.built}/simple_kmod.ko"
    (found,) = [layer[module] for layer in contents.layers if module in layer]
    assert f"vermagic={site.built} ".encode() in found
    by_builder = ("io.buildah.", "io.openshift.build.")
    return Made({name: labels[name] for name in labels if not name.startswith(by_builder)}, found)


def allow(cluster: Cluster, config: Path, *namespaces: str) -> None:
    """Give the user what a run needs: its rights, and namespaces with the registry's credentials."""
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
    grant(cluster, USER, "hardware-enablement-runner")
    for namespace in namespaces:
        make_namespace(cluster, namespace)
        kind = "--type=kubernetes.io/dockerconfigjson"
        create = ("create", "secret", "generic", "registry", "-n", namespace, kind)
        cluster.kubectl(*create, f"--from-file=.dockerconfigjson={config}")


@contextmanager
def make_registry_site(cluster: Cluster, name: str, folder: Path) -> Iterator[Site]:
    """A registry with a base image that all nodes trust, and a user who may play; the first real node
    builds."""
    place = registry_folder(name)
    Registry.remove(place)
    authority = Authority(cluster.folder / "pki", "kubernetes")
    try:
        with (
            Registry.start(place, auth="htpasswd", authority=authority) as registry,
            FaultProxy(registry.address, authority) as proxy,
        ):
            cluster.trust_registry(registry.named_address, registry.ca)
            images, base = Images(registry), ensure_image("kmod-base")
            images.push_archive("base/kmod", "1", base.archive)
            cluster.load_image("builder", nodes=cluster.workers[:1])
            prebuilt, built = base.kernels[0], base.kernels[-1]
            secret = folder / "config.json"
            auths = json.loads(registry.dockerconfig())["auths"]
            secret.write_text(
                json.dumps({"auths": {**auths, proxy.address: registry.credentials.entry}})
            )
            allow(cluster, secret, NAMESPACE)
            runner = Runner(cluster, USER, folder)
            here = {"kubernetes.io/hostname": cluster.workers[0]}
            yield Site(cluster, registry, images, proxy, runner, prebuilt, built, secret, here)
    finally:
        Registry.remove(place)


@contextmanager
def make_site(cluster: Cluster, name: str, folder: Path) -> Iterator[Site]:
    """Three simulated nodes: a kernel with a prebuilt image, one to build for, one whose headers
    nobody has."""
    with make_registry_site(cluster, name, folder) as site:
        prebuilt = site.prebuilt
        for prefix, kernel in (("prebuilt", prebuilt), ("built", site.built), ("none", NO_HEADERS)):
            (node,) = cluster.add_nodes(
                1, profile="cpu-only", kernel=kernel, os="debian:12", prefix=prefix
            )
            cluster.kubectl("label", "node", node, "kmod=wanted")
        site.images.push("drivers/prebuilt", prebuilt, labels={KERNEL_LABEL: prebuilt})
        try:
            yield site
        finally:
            _leave(cluster)


def _leave(cluster: Cluster) -> None:
    """Leave the cluster to the next tests as it was found: its nodes, and their kernel."""
    cluster.kubectl("delete", "specialresource", "simple-kmod", "--ignore-not-found")
    cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
    cluster.kubectl("delete", "clusterrolebinding", f"{USER}-hardware-enablement-runner")
    cluster.remove_nodes("prebuilt-1", "built-1", "none-1")
    node = cluster.workers[1]
    path = f"/api/v1/nodes/{node}"
    found = cluster.api.get(path)["metadata"]
    ours = {
        kind: {name: None for name in found[kind] if name.startswith(SUMMARY)}
        for kind in ("labels", "annotations")
    }
    ours["labels"]["kmod"] = None
    cluster.api.patch(path, {"metadata": ours})
    cluster.reboot(node, "")
    cluster.relabel(node)
