# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on simulated nodes, with a real registry and a proxy for faults on the way to it."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.cluster.api import ApiError
from tests.cluster.registry import PUSHER, Account, Images, Registry
from tests.integration.plays import PLAYBOOKS, Played, Runner
from tests.integration.registry_bed import SECRETS as OF_ACCOUNTS
from tests.integration.registry_bed import Bed

SECRETS = (*OF_ACCOUNTS, base64.b64encode(PUSHER.password.encode()).decode())
NAMESPACE = "simple-kmod"
DOMAIN = "hardware-enablement.io"
SUMMARY = f"{DOMAIN}/simple-kmod"
KERNEL_LABEL, INPUTS_LABEL = f"{DOMAIN}/kernel", f"{DOMAIN}/inputs"
# Two kernels of the scene, and one whose name no tag can hold.
OLD, NEW, ODD = "6.8.0-60-generic", "6.8.0-71-generic", "6.12.107+deb12-cloud-amd64"
# (the recipes' kernel.tag: what no tag may hold replaced, and a hash)
ODD_TAG = "6.12.107_deb12-cloud-amd64-b3ed4a"
BUILDER = "plain-1"
SECRET = "registry"
Obj = dict[str, Any]


@dataclass
class Kmod:
    """A cluster, a registry, and how to play simple-kmod there.

    The nodes that are wanted: gpu-old-1 and gpu-old-2 (OLD), gpu-new-1 (NEW), odd-1 (ODD). plain-1 builds.
    """

    cluster: Cluster
    runner: Runner
    bed: Bed

    @property
    def registry(self) -> Registry:
        """The registry."""
        return self.bed.registry

    @property
    def images(self) -> Images:
        """What is in it."""
        return self.bed.images

    def options(self, **others: Any) -> Obj:
        """The recipe's options."""
        host = self.registry.address
        return {
            "repository": f"{host}/drivers/simple-kmod",
            "prebuilt_repository": f"{host}/drivers/prebuilt",
            "headers": "base_image",
            "base_image": f"{host}/base/kmod:1",
            "node_selector": {"kmod": "wanted"},
            "image_pull_secrets": [SECRET],
            **others,
        }

    def settings(self, *, faulty: bool = False) -> Obj:
        """The module's options beside. faulty: everything is asked through the proxy."""
        mirror = {"prefix": self.registry.address, "locations": [self.bed.proxy.address], "source": False}
        return {
            "push_secret": SECRET,
            "builder_image": "registry.example/builder:1",
            "build_node_selector": {"kubernetes.io/hostname": BUILDER},
            "registry_ca": self.registry.ca,
            "registry_mirrors": [mirror] if faulty else [],
        }

    def variables(self, *, faulty: bool = False, **others: Any) -> Obj:
        """The variables of a play. others: without their prefix."""
        settings = {
            "recipe": "simple-kmod",
            "options": self.options(),
            "failure_grace": 5,
            **self.settings(faulty=faulty),
            **others,
        }
        return {f"hardware_enablement_{name}": value for name, value in settings.items()}

    def play(self, *arguments: str, faulty: bool = False, **others: Any) -> Played:
        """Enable simple-kmod."""
        return self.runner.play("enable", *arguments, timeout=120, **self.variables(faulty=faulty, **others))

    def build(self, folder: Path, **others: Any) -> Obj:
        """The result of driver_container alone, with all that it does."""
        return self._find(folder, **others)

    def look_up(self, folder: Path, *arguments: str, faulty: bool = False, how: str = "local", **others: Any) -> Obj:
        """The result of driver_container alone, in check mode."""
        return self._find(folder, "--check", *arguments, faulty=faulty, how=how, **others)

    def _find(self, folder: Path, *arguments: str, faulty: bool = False, how: str = "local", **others: Any) -> Obj:
        where = {"how": how, "python": sys.executable, "out": str(folder / "found.json")}
        look = {**self.settings(faulty=faulty), "recipe_options": self.options(), **others}
        check_output(self.runner.play(PLAYBOOKS / "look_up.yml", *arguments, **where, **look).check())
        return dict(json.loads((folder / "found.json").read_text()))

    def record(self) -> dict[str, Obj]:
        """The images in the record by kernel; none without a record."""
        try:
            found = self.cluster.api.get(f"/apis/{DOMAIN}/v1/specialresources/simple-kmod")
        except ApiError:
            return {}
        return {entry["kernel"]: entry for entry in found.get("status", {}).get("images", [])}

    def summaries(self) -> dict[str, str]:
        """What our label says of each wanted node."""
        items = json.loads(self.cluster.kubectl("get", "nodes", "-l", "kmod=wanted", "-o", "json"))["items"]
        return {item["metadata"]["name"]: item["metadata"]["labels"].get(SUMMARY, "") for item in items}

    def drivers(self) -> dict[str, str]:
        """The image of each kernel's DaemonSet."""
        items = json.loads(self.cluster.kubectl("get", "daemonsets", "-n", NAMESPACE, "-o", "json"))["items"]
        return {
            item["metadata"]["annotations"][KERNEL_LABEL]: item["spec"]["template"]["spec"]["containers"][0]["image"]
            for item in items
        }

    def driver_pod(self, node: str) -> str:
        """The uid of the driver's pod on a node."""
        labels = f"{DOMAIN}/state=driver"
        place = f"spec.nodeName={node}"
        path = "jsonpath={.items[*].metadata.uid}"
        return self.cluster.kubectl("get", "pods", "-n", NAMESPACE, "-l", labels, "--field-selector", place, "-o", path)

    def builds(self) -> list[str]:
        """The Jobs and contexts that are there."""
        names = self.cluster.kubectl("get", "jobs,configmaps", "-n", NAMESPACE, "-o", "name").split()
        return [name for name in names if not name.endswith("/kube-root-ca.crt")]

    def give_secret(self, account: Account = PUSHER) -> None:
        """Make the pull secret anew."""
        auths = dict.fromkeys((self.registry.address, self.bed.proxy.address), account.entry)
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": SECRET, "namespace": NAMESPACE},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": json.dumps({"auths": auths})},
        }
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(secret))

    @contextmanager
    def without_secret(self) -> Iterator[None]:
        """Take the pull secret away for a while."""
        self.cluster.kubectl("delete", "secret", SECRET, "-n", NAMESPACE)
        try:
            yield
        finally:
            self.give_secret()

    @contextmanager
    def down(self) -> Iterator[None]:
        """Stop the registry for a while."""
        self.registry.stop()
        try:
            yield
        finally:
            self.registry.resume()


def check_output(played: Played) -> str:
    """What a run said, which is neither a traceback nor a secret."""
    assert "Traceback" not in played.output
    assert [secret for secret in SECRETS if secret in played.output] == []
    return played.output


def make_kmod(cluster: Cluster, runner: Runner, bed: Bed) -> Kmod:
    """Label the nodes, add the one with the odd kernel, and push a base image."""
    cluster.add_nodes(1, profile="cpu-only", kernel=ODD, os="debian:12", prefix="odd")
    for node in ("gpu-old-1", "gpu-old-2", "gpu-new-1", "odd-1"):
        cluster.kubectl("label", "node", node, "kmod=wanted")
    cluster.kubectl("create", "namespace", NAMESPACE)
    bed.images.push("base/kmod", "1", labels={"made": "first"})
    kmod = Kmod(cluster, runner, bed)
    kmod.give_secret()
    return kmod
