# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""nvidia-gpu's driver image built on a real node, from a git repository that is laid out as
NVIDIA's; the GPU node that it is for is simulated. No secret is in what comes of it."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.images import ensure_image
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import Images, Registry
from tests.integration.conftest import grant
from tests.integration.namespaces import make_namespace
from tests.integration.plays import REPO, Played, Runner
from tests.integration.registry_bed import serving

pytestmark = pytest.mark.kubelet

NAMESPACE = "nvidia-gpu"
NODE = "git-gpu-1"
KERNEL_LABEL = "hardware-enablement.io/kernel"
FOLDER = "debian12/precompiled"
PASSWORD = "0f-the-git-server"
# Takes the arguments that NVIDIA's take (docs/recipes/nvidia-gpu-sources.md), and one file from
# beside it.
DOCKERFILE = """\
ARG BASE_IMAGE=nobody.invalid/base:1
FROM ${BASE_IMAGE}
ARG DRIVER_BRANCH
ARG DRIVER_VERSION
ARG KERNEL_VERSION
ARG TARGETARCH
RUN test -d /lib/modules/${KERNEL_VERSION}/build
RUN echo "${DRIVER_BRANCH} ${DRIVER_VERSION} ${KERNEL_VERSION} ${TARGETARCH}" > /driver
COPY nvidia-driver /usr/local/bin/
"""


class Repository:
    """A git repository, and what a web server needs to hand it out."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / FOLDER).mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch=main")
        (folder / FOLDER / "Dockerfile").write_text(DOCKERFILE)

    def commit(self, text: str) -> str:
        """Change the driver; returns the commit."""
        (self.folder / FOLDER / "nvidia-driver").write_text(text)
        self._git("add", ".")
        self._git("commit", "--quiet", "--message", text)
        self._git("update-server-info")
        return self._git("rev-parse", "HEAD").strip()

    def _git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        command = ["git", "-C", str(self.folder), *who, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Guarded(SimpleHTTPRequestHandler):
    """A web server that wants a password, and writes no log."""

    def do_GET(self) -> None:
        """Ask who it is."""
        login = base64.b64encode(f"robot:{PASSWORD}".encode()).decode()
        if self.headers.get("Authorization") == f"Basic {login}":
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


def guarded(folder: Path, authority: Authority, keys: Path) -> ThreadingHTTPServer:
    """A web server with TLS for the files of a folder. keys: where its certificate is kept."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Guarded, directory=str(folder)))
    pair = authority.server("git", ["127.0.0.1"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    files = [keys / "git.crt", keys / "git.key"]
    for file, content in zip(files, (pair.certificate, pair.key), strict=True):
        file.write_bytes(content)
    context.load_cert_chain(*files)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server


@dataclass
class Site:
    """A cluster, a registry, a repository at an address, and how to play nvidia-gpu there. kernel:
    of the GPU node."""

    cluster: Cluster
    registry: Registry
    images: Images
    runner: Runner
    repository: Repository
    address: str
    kernel: str
    said: list[str] = field(default_factory=list)

    def play(self, **options: Any) -> Played:
        """Enable nvidia-gpu, telling all there is to tell."""
        host = self.registry.named_address
        variables = {
            "recipe": "nvidia-gpu",
            "options": {
                "driver_build": True,
                "driver_build_repository": f"{host}/own/driver",
                "driver_build_git": self.address,
                "driver_build_git_secret": "git-login",
                "driver_build_ref": "main",
                "driver_build_base": f"{host}/base/kmod:1",
                "driver_repository": f"{host}/nvidia",
                "exporter_validation": False,
                "image_pull_secrets": ["registry"],
                "node_selector": {"kubernetes.io/hostname": NODE},
                **options,
            },
            "push_secret": "registry",
            "builder_image": "localhost/builder:1",
            "build_host_network": True,
            "build_node_selector": {"kubernetes.io/hostname": self.cluster.workers[0]},
            "registry_ca": self.registry.ca,
            # registry.test is a name on the nodes only.
            "registry_mirrors": [
                {"prefix": host, "locations": [self.registry.address], "source": False}
            ],
            "failure_grace": 5,
        }
        prefixed = {f"hardware_enablement_{name}": value for name, value in variables.items()}
        played = self.runner.play("enable", "-vvv", "--diff", timeout=400, **prefixed)
        self.said.append(played.output)
        return played

    def entry(self) -> dict[str, Any]:
        """What the record says of the kernel's image."""
        found = json.loads(self.cluster.kubectl("get", "sr", "nvidia-gpu", "-o", "json"))
        (entry,) = found["status"]["images"]
        return dict(entry)

    def driver(self) -> str:
        """What is in the image of the record under the driver's name."""
        name, _at, digest = self.entry()["image"].partition("@")
        assert name == f"{self.registry.named_address}/own/driver"
        contents = self.images.contents("own/driver", digest)
        assert contents.config["config"]["Labels"][KERNEL_LABEL] == self.kernel
        files = {path: body for layer in contents.layers for path, body in layer.items()}
        assert files["driver"].decode() == f"595 595.91.07 {self.kernel} amd64\n"
        return files["usr/local/bin/nvidia-driver"].decode()

    def summary(self) -> str:
        """What our label says of the GPU node."""
        node = json.loads(self.cluster.kubectl("get", "node", NODE, "-o", "json"))
        return str(node["metadata"]["labels"].get("hardware-enablement.io/nvidia-gpu", ""))


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One simulated GPU node, whose kernel has headers in the base image."""
    folder = registry_folder("test-git-builds")
    Registry.remove(folder)
    repository = Repository(tmp_path_factory.mktemp("repository"))
    repository.commit("first")
    authority = Authority(cluster.folder / "pki", "kubernetes")
    with (
        Registry.start(folder, auth="htpasswd", authority=authority) as registry,
        serving(guarded(repository.folder, authority, tmp_path_factory.mktemp("keys"))) as server,
    ):
        cluster.trust_registry(registry.named_address, registry.ca)
        images, base = Images(registry), ensure_image("kmod-base")
        images.push_archive("base/kmod", "1", base.archive)
        cluster.load_image("builder", nodes=cluster.workers[:1])
        kernel = base.kernels[-1]
        cluster.add_nodes(1, profile="gpu-h100", kernel=kernel, os="debian:12", prefix="git-gpu")
        cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
        grant(cluster, "git-run", "hardware-enablement-runner")
        make_namespace(cluster, NAMESPACE, "nvidia-gpu")
        secret = tmp_path_factory.mktemp("registry") / "config.json"
        secret.write_text(registry.dockerconfig())
        kind = "--type=kubernetes.io/dockerconfigjson"
        create = ("create", "secret", "generic", "registry", "-n", NAMESPACE, kind)
        cluster.kubectl(*create, f"--from-file=.dockerconfigjson={secret}")
        login = (
            f"--from-literal=password={PASSWORD}",
            f"--from-file=ca.crt={authority.certificate_file}",
        )
        create = (
            "create",
            "secret",
            "generic",
            "git-login",
            "-n",
            NAMESPACE,
            "--type=kubernetes.io/basic-auth",
        )
        cluster.kubectl(*create, "--from-literal=username=robot", *login)
        runner = Runner(cluster, "git-run", tmp_path_factory.mktemp("runner"))
        address = f"https://127.0.0.1:{server.server_port}/.git"
        yield Site(cluster, registry, images, runner, repository, address, kernel)
        cluster.kubectl("delete", "specialresource", "nvidia-gpu", "--ignore-not-found")
        cluster.kubectl("delete", "namespace", NAMESPACE, "--ignore-not-found")
        cluster.remove_nodes(NODE)
    Registry.remove(folder)


def a_kernel_without_an_image_gets_one_from_the_repository(site: Site) -> None:
    site.play().check()
    assert site.summary() == "ready"
    assert site.driver() == "first"


def the_second_run_builds_nothing(site: Site) -> None:
    pushed, mark = site.registry.mark(), site.cluster.mark()
    site.play().unchanged()
    assert site.runner.writes(mark) == []
    assert {request.method for request in site.registry.requests(pushed)} <= {"GET", "HEAD"}


def a_commit_on_the_branch_is_built_once(site: Site) -> None:
    before = site.entry()["image"]
    site.repository.commit("second")
    played = site.play().check()
    assert site.driver() == "second"
    assert site.entry()["image"] != before
    assert (
        "1 node runs the driver version before, until the playbook upgrade exchanges it: git-gpu-1"
        in played.output
    )
    mark = site.cluster.mark()
    site.play().unchanged()
    assert site.runner.writes(mark) == []


def sources_that_are_not_to_be_had_take_nothing_away(site: Site) -> None:
    before = site.entry()
    nowhere = f"{site.address}/nowhere"
    played = site.play(driver_build_git=nowhere)
    assert "the commit of main is not known" in played.output
    # A commit is asked for by the build alone.
    played = site.play(driver_build_git=nowhere, driver_build_ref="0" * 40)
    assert "the sources cannot be fetched: fatal: " in played.output
    entry = site.entry()
    assert (entry["image"], entry["phase"], entry["reason"]) == (
        before["image"],
        "sources",
        "NotFound",
    )
    # A password that is not the right one is said before anything is built.
    wrong = {"stringData": {"password": "another"}}
    site.cluster.kubectl("patch", "secret", "git-login", "-n", NAMESPACE, "-p", json.dumps(wrong))
    assert "Authentication failed" in site.play().output
    right = {"stringData": {"password": PASSWORD}}
    site.cluster.kubectl("patch", "secret", "git-login", "-n", NAMESPACE, "-p", json.dumps(right))
    # A folder that is not there is a mistake, and is not tried again.
    played = site.play(driver_build_folder="debian13/precompiled")
    assert "the build failed: " in played.output
    assert "debian13/precompiled" in site.entry()["problem"]
    assert (site.entry()["image"], site.entry()["failed"] != "") == (before["image"], True)
    assert site.summary() == "ready"


def no_secret_is_in_jobs_logs_layers_or_what_was_said(site: Site) -> None:
    account = site.registry.credentials
    secrets = [
        account.password,
        account.entry["auth"],
        PASSWORD,
        base64.b64encode(PASSWORD.encode()).decode(),
    ]
    kinds = "jobs,configmaps,pods,daemonsets,events,specialresources"
    objects = site.cluster.kubectl("get", kinds, "-n", NAMESPACE, "-o", "json")
    assert '"kind": "Job"' in objects
    pods = site.cluster.kubectl(
        "get", "pods", "-n", NAMESPACE, "-l", "hardware-enablement.io/build", "-o", "name"
    )
    logs = [site.cluster.kubectl("logs", "-n", NAMESPACE, pod) for pod in pods.split()]
    assert any("debian13" in log for log in logs)
    contents = site.images.contents("own/driver", site.entry()["image"].partition("@")[2])
    files = {path: body for layer in contents.layers for path, body in layer.items()}
    texts = [text.encode() for text in (objects, *logs, *site.said, json.dumps(contents.config))]
    assert [
        secret
        for secret in secrets
        for text in (*texts, *files.values())
        if secret.encode() in text
    ] == []
    assert not any(path.endswith(("auth/config.json", "/auth.json")) for path in files)


def test_images_from_a_repository_from_the_first_commit_to_what_is_not_to_be_had(
    site: Site,
) -> None:
    """One story: each step goes on from the one before."""
    a_kernel_without_an_image_gets_one_from_the_repository(site)
    the_second_run_builds_nothing(site)
    a_commit_on_the_branch_is_built_once(site)
    sources_that_are_not_to_be_had_take_nothing_away(site)
    no_secret_is_in_jobs_logs_layers_or_what_was_said(site)
