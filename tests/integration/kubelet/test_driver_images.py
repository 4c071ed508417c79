# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on real nodes: images found, built by Jobs and refused, for kernels that simulated and real nodes run.

No kernel here loads modules: what is shown is the build, and that the refusal of the load is reported.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.errors import ClusterError
from tests.cluster.images import ensure_image
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import Images, Registry
from tests.integration.conftest import grant
from tests.integration.kubelet.bench import wait_until
from tests.integration.kubelet.build_host import make_build_host
from tests.integration.plays import REPO, Played, Runner

pytestmark = pytest.mark.kubelet

NAMESPACE = "simple-kmod"
SUMMARY = "hardware-enablement.io/simple-kmod"
KERNEL_LABEL, INPUTS_LABEL = "hardware-enablement.io/kernel", "hardware-enablement.io/inputs"
NO_HEADERS = "5.4.0-1-amd64"
CONTAINERFILE = "build/Containerfile.j2"


@dataclass
class Site:
    """A cluster, its registry, and how to play simple-kmod there. prebuilt, built: kernels with headers."""

    cluster: Cluster
    registry: Registry
    images: Images
    runner: Runner
    prebuilt: str
    built: str
    config: Path

    def play(self, repository: str = "drivers/simple-kmod", **variables: Any) -> Played:
        """Enable simple-kmod."""
        host = self.registry.named_address
        settings = {
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
            "hardware_enablement_build_node_selector": {"kubernetes.io/hostname": self.cluster.workers[0]},
            "hardware_enablement_registry_ca": self.registry.ca,
            # registry.test is a name on the nodes only.
            "hardware_enablement_registry_mirrors": [
                {"prefix": host, "locations": [self.registry.address], "source": False}
            ],
            "hardware_enablement_failure_grace": 5,
        }
        return self.runner.play("enable", timeout=400, **{**settings, **variables})

    def record(self) -> dict[str, dict[str, Any]]:
        """The record's images by kernel."""
        found = json.loads(self.cluster.kubectl("get", "sr", "simple-kmod", "-o", "json"))
        return {entry["kernel"]: entry for entry in found["status"]["images"]}

    def summaries(self) -> dict[str, str]:
        """What our label says of each wanted node."""
        nodes = json.loads(self.cluster.kubectl("get", "nodes", "-l", "kmod=wanted", "-o", "json"))["items"]
        return {node["metadata"]["name"]: node["metadata"]["labels"].get(SUMMARY, "") for node in nodes}

    def driver_log(self, node: str) -> str:
        """The log of the driver's pod on a node, "" while there is none."""
        on_node = f"--field-selector=spec.nodeName={node}"
        try:
            (pod,) = self.cluster.kubectl("get", "pods", "-n", NAMESPACE, on_node, "-o", "name").split()
            return self.cluster.kubectl("logs", "-n", NAMESPACE, pod, "--tail=5")
        except (ClusterError, ValueError):
            return ""


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Three simulated nodes: a kernel with a prebuilt image, one to build for, one whose headers nobody has."""
    folder = registry_folder("test-driver-images")
    Registry.remove(folder)
    with Registry.start(folder, auth="htpasswd", authority=Authority(cluster.folder / "pki", "kubernetes")) as registry:
        cluster.trust_registry(registry.named_address, registry.ca)
        images, base = Images(registry), ensure_image("kmod-base")
        images.push_archive("base/kmod", "1", base.archive)
        cluster.load_image("builder", nodes=cluster.workers[:1])
        prebuilt, built = base.kernels[0], base.kernels[-1]
        for name, kernel in (("prebuilt", prebuilt), ("built", built), ("none", NO_HEADERS)):
            (node,) = cluster.add_nodes(1, profile="cpu-only", kernel=kernel, os="debian:12", prefix=name)
            cluster.kubectl("label", "node", node, "kmod=wanted")
        images.push("drivers/prebuilt", prebuilt, labels={KERNEL_LABEL: prebuilt})
        cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
        grant(cluster, "builder-run", "hardware-enablement-runner")
        cluster.kubectl("create", "namespace", NAMESPACE)
        secret = tmp_path_factory.mktemp("registry") / "config.json"
        secret.write_text(registry.dockerconfig())
        kind = "--type=kubernetes.io/dockerconfigjson"
        create = ("create", "secret", "generic", "registry", "-n", NAMESPACE, kind)
        cluster.kubectl(*create, f"--from-file=.dockerconfigjson={secret}")
        runner = Runner(cluster, "builder-run", tmp_path_factory.mktemp("runner"))
        yield Site(cluster, registry, images, runner, prebuilt, built, secret)
        leave(cluster)
    Registry.remove(folder)


def leave(cluster: Cluster) -> None:
    """Leave the cluster to the next tests as it was found: its nodes, and their kernel."""
    cluster.kubectl("delete", "specialresource", "simple-kmod", "--ignore-not-found")
    cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
    cluster.remove_nodes("prebuilt-1", "built-1", "none-1")
    node = cluster.workers[1]
    cluster.kubectl("label", "node", node, "kmod-")
    cluster.reboot(node, "")
    cluster.relabel(node)


def check_built(site: Site, repository: str) -> str:
    """Compare the image of the kernel to build for with the record, look into it, and return its inputs' hash."""
    entry = site.record()[site.built]
    name, _at, digest = entry["image"].partition("@")
    assert name == f"{site.registry.named_address}/{repository}"
    contents = site.images.contents(repository, digest)
    labels = contents.config["config"]["Labels"]
    assert (labels[KERNEL_LABEL], labels[INPUTS_LABEL]) == (site.built, entry["inputs"])
    module = f"opt/modules/{site.built}/simple_kmod.ko"
    (found,) = [layer[module] for layer in contents.layers if module in layer]
    assert f"vermagic={site.built} ".encode() in found
    return str(entry["inputs"])


def test_one_is_prebuilt_one_is_built_and_one_is_impossible(site: Site) -> None:
    played = site.play()

    assert played.code != 0
    assert site.summaries() == {"prebuilt-1": "ready", "built-1": "ready", "none-1": "driver_container.failed"}
    found = site.record()
    assert found[site.prebuilt]["image"].startswith(f"{site.registry.named_address}/drivers/prebuilt@sha256:")
    assert found[site.built]["image"].startswith(f"{site.registry.named_address}/drivers/simple-kmod@sha256:")
    problem = found[NO_HEADERS]["problem"]
    assert f"drivers/prebuilt:{NO_HEADERS} does not exist" in problem
    assert "the build failed" in problem
    # The last lines of the build tell why, and are shown.
    assert f"/lib/modules/{NO_HEADERS}/build: No such file" in played.output


def test_what_was_built_is_for_that_kernel_and_says_so(site: Site) -> None:
    check_built(site, "drivers/simple-kmod")


def test_the_second_run_asks_and_writes_nothing(site: Site) -> None:
    pushed, mark = site.registry.mark(), site.cluster.mark()
    played = site.play()
    assert played.changed == 0, played.output
    assert site.runner.writes(mark) == []
    methods = {request.method for request in site.registry.requests(pushed)}
    assert methods <= {"GET", "HEAD"}


def test_no_secret_is_where_it_does_not_belong(site: Site) -> None:
    password = site.registry.credentials.password
    secrets = [password, site.registry.credentials.entry["auth"]]
    jobs = site.cluster.kubectl("get", "jobs,configmaps,pods,sr", "-n", NAMESPACE, "-o", "json")
    assert [secret for secret in secrets if secret in jobs] == []


def test_a_real_node_reports_that_its_kernel_takes_no_module(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, site.built)
    site.cluster.relabel(node)
    site.cluster.kubectl("label", "node", node, "kmod=wanted")
    played = site.play()
    assert "insmod: ERROR: could not insert module" in played.output
    assert site.summaries()[node] == "driver.failed"
    assert site.summaries()["built-1"] == "ready"


def test_after_a_reboot_into_another_kernel_the_driver_waits_and_says_so(site: Site) -> None:
    node = site.cluster.workers[1]
    site.cluster.reboot(node, site.prebuilt)
    text = f"waiting: this image is for kernel {site.built}, and the node runs {site.prebuilt}"
    wait_until(lambda: text in site.driver_log(node), "the driver's pod says what it waits for")


def test_a_base_image_that_changed_is_built_on_once_and_a_failure_takes_nothing_away(site: Site) -> None:
    before = site.record()[site.built]
    site.images.push("base/kmod", "1", files={"etc/motd": b"this base has no compiler\n"})
    played = site.play()
    assert "the build failed" in played.output
    after = site.record()[site.built]
    assert after["image"] == before["image"]
    assert "the build failed" in after["problem"]
    assert site.summaries()["built-1"] == "ready"
    again = site.play()
    assert again.changed == 0, again.output
    site.images.push_archive("base/kmod", "1", ensure_image("kmod-base").archive)
    site.play()
    assert site.record()[site.built] == before


def test_a_host_of_ones_own_makes_the_same_image(site: Site, tmp_path: Path) -> None:
    by_job = site.record()[site.built]["inputs"]
    programs = make_build_host(tmp_path / "host", f"127.0.0.1 {site.registry.named_address.partition(':')[0]}\n")
    site.runner.settings["PATH"] = f"{programs}:{site.runner.environment()['PATH']}"
    played = site.play(
        "drivers/by-host",
        hardware_enablement_builder="controller",
        hardware_enablement_build_auth_file=str(site.config),
    )
    assert check_built(site, "drivers/by-host") == by_job, played.output
