# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A recipe's drivers on simulated nodes, with a real registry and a proxy for faults on the way to
it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar
from urllib.parse import urlencode

from tests.cluster import Cluster
from tests.cluster.api import ApiError
from tests.cluster.registry import PUSHER, Account, Images, Registry
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration.plays import Played, Runner
from tests.integration.registry_bed import SECRETS as OF_ACCOUNTS
from tests.integration.registry_bed import Bed

SECRETS = (*OF_ACCOUNTS, base64.b64encode(PUSHER.password.encode()).decode())
DOMAIN = "hardware-enablement.io"
KERNEL_LABEL, INPUTS_LABEL = f"{DOMAIN}/kernel", f"{DOMAIN}/inputs"
# Builds go to this node.
BUILDER = "plain-1"
SECRET = "registry"
Obj = dict[str, Any]


@dataclass
class DriverBed:
    """A cluster, a registry, and how to play a recipe there. The recipe's namespace is called like
    it."""

    recipe: ClassVar[str]
    nodes: ClassVar[str]  # a label selector: those that the recipe is for

    cluster: Cluster
    runner: Runner
    bed: Bed

    @contextmanager
    def builds_that(self, behaviour: str, **how: Any) -> Iterator[None]:
        """Builds behave like that ("slow", "fail") in the block, or until the faults are cleared."""
        set_fault(self.cluster.kubeconfig, BUILDER, "other", behaviour, **how)
        try:
            yield
        finally:
            clear_faults(self.cluster.kubeconfig)

    def slow_builds(self) -> AbstractContextManager[None]:
        """Builds take a minute, or until the faults are cleared."""
        return self.builds_that("slow", seconds=60)

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
        raise NotImplementedError

    def settings(self, *, faulty: bool = False) -> Obj:
        """The module's options beside. faulty: everything is asked through the proxy."""
        mirror = {
            "prefix": self.registry.address,
            "locations": [self.bed.proxy.address],
            "source": False,
        }
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
            "recipe": self.recipe,
            "options": self.options(),
            "failure_grace": 5,
            **self.settings(faulty=faulty),
            **others,
        }
        return {f"hardware_enablement_{name}": value for name, value in settings.items()}

    def play(self, *arguments: str, faulty: bool = False, **others: Any) -> Played:
        """Enable the recipe."""
        return self.runner.play(
            "enable", *arguments, timeout=120, **self.variables(faulty=faulty, **others)
        )

    def record(self) -> dict[str, Obj]:
        """The images in the record by kernel; none without a record."""
        try:
            found = self.cluster.api.get(f"/apis/{DOMAIN}/v1/specialresources/{self.recipe}")
        except ApiError:
            return {}
        return {entry["kernel"]: entry for entry in found.get("status", {}).get("images", [])}

    def _listed(self, path: str, **selectors: str) -> list[Obj]:
        """Objects as they are now. Many wait for what they say, so it starts no program."""
        found: list[Obj] = self.cluster.api.get(f"{path}?{urlencode(selectors)}")["items"]
        return found

    def summaries(self) -> dict[str, str]:
        """What our label says of each wanted node."""
        items = self._listed("/api/v1/nodes", labelSelector=self.nodes)
        return {
            item["metadata"]["name"]: item["metadata"]["labels"].get(f"{DOMAIN}/{self.recipe}", "")
            for item in items
        }

    def driver_specs(self) -> dict[str, Obj]:
        """What the pods of each kernel's DaemonSet are."""
        items = self._listed(f"/apis/apps/v1/namespaces/{self.recipe}/daemonsets")
        return {
            item["metadata"]["annotations"][KERNEL_LABEL]: item["spec"]["template"]["spec"]
            for item in items
            if KERNEL_LABEL in item["metadata"].get("annotations", {})
        }

    def drivers(self) -> dict[str, str]:
        """The image of each kernel's DaemonSet."""
        return {
            kernel: spec["containers"][0]["image"] for kernel, spec in self.driver_specs().items()
        }

    def jobs(self) -> list[Obj]:
        """The Jobs that are there."""
        return self._listed(f"/apis/batch/v1/namespaces/{self.recipe}/jobs")

    def push_built(self, job: Obj | None = None) -> str:
        """Push what a Job (the only one) builds, as it says itself; returns the digest. Simulated
        pods push nothing."""
        if job is None:
            (job,) = self.jobs()
        (container,) = job["spec"]["template"]["spec"]["containers"]
        target = next(entry["value"] for entry in container["env"] if entry["name"] == "TARGET")
        labels = dict(
            value.split("=", 1)
            for flag, value in pairwise(container["command"])
            if flag == "--label"
        )
        repository, _colon, tag = target.partition("/")[2].rpartition(":")
        return self.images.push(
            repository, tag, labels=labels, files={"inputs": labels[INPUTS_LABEL].encode()}
        )

    def driver_pod(self, node: str) -> str:
        """The uid of the driver's pod on a node."""
        pods = self._listed(
            f"/api/v1/namespaces/{self.recipe}/pods",
            labelSelector=f"{DOMAIN}/state=driver",
            fieldSelector=f"spec.nodeName={node}",
        )
        return " ".join(pod["metadata"]["uid"] for pod in pods)

    def builds(self) -> list[str]:
        """The Jobs and contexts that are there."""
        names = self.cluster.kubectl(
            "get", "jobs,configmaps", "-n", self.recipe, "-o", "name"
        ).split()
        return [name for name in names if not name.endswith("/kube-root-ca.crt")]

    def give_secret(self, account: Account = PUSHER) -> None:
        """Make the pull secret anew."""
        auths = dict.fromkeys((self.registry.address, self.bed.proxy.address), account.entry)
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": SECRET, "namespace": self.recipe},
            "type": "kubernetes.io/dockerconfigjson",
            "stringData": {".dockerconfigjson": json.dumps({"auths": auths})},
        }
        self.cluster.kubectl("apply", "-f", "-", stdin=json.dumps(secret))

    @contextmanager
    def without_secret(self) -> Iterator[None]:
        """Take the pull secret away for a while."""
        self.cluster.kubectl("delete", "secret", SECRET, "-n", self.recipe)
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
