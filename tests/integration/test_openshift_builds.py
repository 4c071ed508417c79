# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""simple-kmod on OpenShift: images built by BuildConfigs, pushed to a real registry, and found by
their ImageStreams.

The builds are simulated (tests/cluster/builds_api), what they push is real.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.cluster_registries import (
    RegistryReader,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.lookups.imagestream import (
    ImageStreamLookup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.orders import order_name
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    WrongArchitecture,
)
from tests.cluster import Cluster
from tests.cluster.builds_api.pushing import use_registry
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import Images, Registry
from tests.integration.conftest import grant
from tests.integration.namespaces import make_namespace
from tests.integration.plays import REPO, Played, Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.builds

Obj = dict[str, Any]

NAMESPACE = "simple-kmod"
SUMMARY = "hardware-enablement.io/simple-kmod"
KERNEL_LABEL, INPUTS_LABEL = "hardware-enablement.io/kernel", "hardware-enablement.io/inputs"
OLD, NEW = "5.14.0-503.el9.x86_64", "5.14.0-570.el9.x86_64"
THIRD, FOURTH = "5.14.0-611.el9.x86_64", "5.14.0-687.el9.x86_64"
MESSAGE = "kmod.c:7: error: 'struct page' has no member named 'lru'"
# What the ImageStream of the test cluster has a tag for (tests/cluster/openshift/instances.yaml).
RELEASE = "9.6.20250805-0"
LATEST_TOOLKIT = f"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{'2b' * 32}"
TOOLKIT = f"quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:{'1a' * 32}"
INTERNAL = "image-registry.openshift-image-registry.svc:5000"
PROXY = {
    "http": "http://proxy.test:3128",
    "https": "http://proxy.test:3129",
    "no": "127.0.0.1,.cluster.local",
}
ENTITLEMENT = "a-key-that-nobody-may-see"
SIMULATION = "simulation.hardware-enablement.test"
# A registry that nobody reaches.
SOURCE = "source.invalid/ours"
BEFORE = "2026-01-01T00:00:00Z"
WRITING = {"PUT", "POST", "PATCH", "DELETE"}


@dataclass
class Site:
    """A cluster with OpenShift's kinds, a registry, and how to play simple-kmod there."""

    cluster: Cluster
    registry: Registry
    images: Images
    runner: Runner

    def variables(self, more: Obj) -> Obj:
        """What a user sets; options are added to those that all plays have."""
        options = {
            "repository": f"{self.registry.address}/drivers/simple-kmod",
            "headers": "base_image",
            "base_image": f"{self.registry.address}/base/kmod:1",
            "image_pull_secrets": ["pull"],
            "proxy": PROXY,
            **more.pop("options", {}),
        }
        return {
            "hardware_enablement_recipe": "simple-kmod",
            "hardware_enablement_options": options,
            "hardware_enablement_push_secret": "push",
            "hardware_enablement_entitlement_secret": "etc-pki-entitlement",
            "hardware_enablement_registry_ca": self.registry.ca,
            # Nobody mends what these builds miss.
            "hardware_enablement_failure_grace": 1,
            **more,
        }

    def play(self, **more: Any) -> Played:
        """Enable simple-kmod, telling all there is to tell; no secret is told."""
        played = self.runner.play("enable", "-vvv", **self.variables(more))
        assert self.secrets_in(played.output) == []
        return played

    def secrets_in(self, text: str) -> list[str]:
        """Which secrets a text tells."""
        account = self.registry.credentials
        return [
            secret
            for secret in (account.password, account.entry["auth"], ENTITLEMENT)
            if secret in text
        ]

    def behave(self, **wanted: Any) -> None:
        """How builds behave from now on: behaviour, seconds, message."""
        names = ("behaviour", "seconds", "message")
        given = [
            f"{SIMULATION}/{name}={wanted[name]}" if name in wanted else f"{SIMULATION}/{name}-"
            for name in names
        ]
        self.cluster.kubectl("annotate", "--overwrite", "namespace", NAMESPACE, *given)

    def listed(self, kinds: str) -> list[Obj]:
        """Objects of the recipe's namespace that our builds have made."""
        command = (
            "get",
            kinds,
            "-n",
            NAMESPACE,
            "-l",
            "hardware-enablement.io/build",
            "-o",
            "json",
        )
        found: list[Obj] = json.loads(self.cluster.kubectl(*command))["items"]
        return found

    def builds(self, phase: str = "Running") -> list[Obj]:
        """Builds in a phase."""
        return [build for build in self.listed("builds") if build["status"]["phase"] == phase]

    def record(self) -> dict[str, Obj]:
        """The record's images by kernel."""
        found = json.loads(self.cluster.kubectl("get", "sr", "simple-kmod", "-o", "json"))
        return {entry["kernel"]: entry for entry in found["status"]["images"]}

    def make_due(self, kernel: str) -> None:
        """Let the time come when what failed for a kernel is tried again."""
        path = "/apis/hardware-enablement.io/v1/specialresources/simple-kmod"
        images = [
            entry | ({"retry": BEFORE} if entry["kernel"] == kernel else {})
            for entry in self.record().values()
        ]
        self.cluster.api.patch(f"{path}/status", {"status": {"images": images}})

    def summaries(self) -> dict[str, str]:
        """What our label says of each node."""
        nodes = json.loads(self.cluster.kubectl("get", "nodes", "-l", "kmod=wanted", "-o", "json"))[
            "items"
        ]
        return {
            node["metadata"]["name"]: node["metadata"]["labels"].get(SUMMARY, "") for node in nodes
        }

    def expire_lock(self) -> None:
        """Let the lock of a run that was killed end at once. It says itself how long it holds: a
        minute."""
        path = "/apis/coordination.k8s.io/v1/namespaces/hardware-enablement/leases/simple-kmod"
        self.cluster.api.patch(path, {"spec": {"leaseDurationSeconds": 1}})
        renewed = datetime.fromisoformat(
            self.cluster.api.get(path)["spec"]["renewTime"].replace("Z", "+00:00")
        )
        wait_until(
            lambda: (datetime.now(timezone.utc) - renewed).total_seconds() > 1, "the lock ends"
        )

    def instantiated(self, since: int) -> list[str]:
        """The BuildConfigs that our runs have instantiated since a mark."""
        writes = self.runner.writes(since)
        return [
            write.rpartition("/buildconfigs/")[2].partition("/")[0]
            for write in writes
            if "instantiate" in write
        ]


def add_node(cluster: Cluster, prefix: str, kernel: str, release: str = "") -> None:
    """A node that takes part. release: of RHCOS, as its kubelet names it."""
    (node,) = cluster.add_nodes(
        1, profile="cpu-only", kernel=kernel, os="rhcos:9.6", runtime="cri-o", prefix=prefix
    )
    if release:
        info = {"osImage": f"Red Hat Enterprise Linux CoreOS {release} (Plow)"}
        cluster.api.patch(f"/api/v1/nodes/{node}/status", {"status": {"nodeInfo": info}})
    cluster.kubectl("label", "node", node, "kmod=wanted")


def make_builder(cluster: Cluster) -> None:
    """The ServiceAccount of builds, which OpenShift makes in every namespace."""
    cluster.api.create(
        f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "builder"}}
    )


def kernel_of(build: Obj) -> str:
    """The kernel that a Build is for."""
    args = build["spec"]["strategy"]["dockerStrategy"]["buildArgs"]
    return next(item["value"] for item in args if item["name"] == "KERNEL")


def leave_behind(site: Site, entry: Obj) -> str:
    """The context of the build that made an image, as if its run had been killed before it ended;
    its name."""
    name = f"{order_name('simple-kmod driver_container', entry['group'], entry['inputs'])}-0"
    labels = {
        "hardware-enablement.io/recipe": "simple-kmod",
        "hardware-enablement.io/build": "driver_container",
    }
    context = {"metadata": {"name": name, "labels": labels}, "data": {}}
    site.cluster.api.create(f"/api/v1/namespaces/{NAMESPACE}/configmaps", context)
    return name


@pytest.fixture(scope="module")
def site(authority: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Two nodes on two kernels, a registry with the base image, and the namespace with its
    Secrets."""
    folder = registry_folder("test-openshift-builds")
    Registry.remove(folder)
    with (
        Cluster.up("test-openshift-builds", openshift=True) as cluster,
        Registry.start(folder, auth="htpasswd", authority=authority) as registry,
    ):
        use_registry(cluster.folder, registry)
        images = Images(registry)
        images.push("base/kmod", "1")
        add_node(cluster, "old", OLD)
        add_node(cluster, "new", NEW, RELEASE)
        cluster.kubectl("apply", "-f", str(REPO / "manifests" / "rbac.yaml"))
        grant(cluster, "runner", "hardware-enablement-runner")
        make_namespace(cluster, NAMESPACE)
        config = {".dockerconfigjson": registry.dockerconfig()}
        for name in ("push", "pull"):
            secret = {
                "metadata": {"name": name},
                "type": "kubernetes.io/dockerconfigjson",
                "stringData": config,
            }
            cluster.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", secret)
        make_builder(cluster)
        entitlement = {
            "metadata": {"name": "etc-pki-entitlement"},
            "stringData": {"entitlement-key.pem": ENTITLEMENT},
        }
        cluster.api.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", entitlement)
        yield Site(
            cluster, registry, images, Runner(cluster, "runner", tmp_path_factory.mktemp("runner"))
        )
    Registry.remove(folder)


def what_a_build_misses_is_said_before_anything_is_made_for_it(site: Site) -> None:
    played = site.play(hardware_enablement_push_secret="nope")
    assert played.code != 0
    assert f"Secret {NAMESPACE}/nope does not exist" in played.output
    site.cluster.kubectl("delete", "serviceaccount", "builder", "-n", NAMESPACE)
    played = site.play()
    make_builder(site.cluster)
    assert played.code != 0
    assert f"ServiceAccount {NAMESPACE}/builder does not exist, where it would run" in played.output
    assert site.listed("builds,buildconfigs,configmaps") == []


def a_run_that_is_killed_leaves_its_builds_to_the_next_one(site: Site) -> None:
    # Longer than a busy machine needs to begin a second run.
    site.behave(seconds=60)
    mark = site.cluster.mark()
    process = site.runner.start("enable", "-vvv", **site.variables({}))
    # Both kernels at the same time.
    builds = wait_until(lambda: len(site.builds()) == 2 and site.builds(), "two Builds run")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    site.expire_lock()

    for build in builds:
        spec = build["spec"]
        docker = spec["strategy"]["dockerStrategy"]
        proxies = {
            "HTTP_PROXY": PROXY["http"],
            "HTTPS_PROXY": PROXY["https"],
            "NO_PROXY": PROXY["no"],
        }
        assert {item["name"]: item["value"] for item in docker["env"]} == proxies
        assert docker["pullSecret"] == spec["output"]["pushSecret"] == {"name": "push"}
        (volume,) = docker["volumes"]
        assert volume["source"]["secret"]["secretName"] == "etc-pki-entitlement"
        assert volume["mounts"] == [{"destinationPath": "/etc/pki/entitlement"}]
        assert spec["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
        base = f"{site.registry.address}/base/kmod@sha256:"
        assert next(
            item["value"] for item in docker["buildArgs"] if item["name"] == "BASE"
        ).startswith(base)
    assert site.secrets_in(json.dumps(site.listed("builds,buildconfigs,configmaps"))) == []
    assert len(site.listed("buildconfigs,configmaps")) == 4

    played = site.play().check()
    for build in builds:
        assert (
            f"goes on with Build {build['metadata']['name']} that an earlier run began"
            in played.output
        )
    # One Build for each kernel, however many runs.
    assert len(site.instantiated(mark)) == len(set(site.instantiated(mark))) == 2


def what_was_built_is_in_the_registry_and_nothing_else_stays(site: Site) -> None:
    assert site.summaries() == {"old-1": "ready", "new-1": "ready"}
    for kernel, entry in site.record().items():
        name, _at, digest = entry["image"].partition("@")
        assert name == f"{site.registry.address}/drivers/simple-kmod"
        labels = site.images.contents("drivers/simple-kmod", digest).config["config"]["Labels"]
        assert (labels[KERNEL_LABEL], labels[INPUTS_LABEL]) == (kernel, entry["inputs"])
    assert set(site.record()) == {OLD, NEW}
    assert site.listed("buildconfigs,configmaps") == []
    assert site.secrets_in(site.cluster.kubectl("get", "sr", "-o", "json")) == []


def the_second_run_writes_nothing(site: Site) -> None:
    pushed, mark = site.registry.mark(), site.cluster.mark()
    site.play().unchanged()
    assert site.runner.writes(mark) == []
    assert {request.method for request in site.registry.requests(pushed)} <= {"GET", "HEAD"}


def a_build_that_failed_says_why_and_one_that_was_cancelled_too(site: Site) -> None:
    add_node(site.cluster, "third", THIRD)
    add_node(site.cluster, "fourth", FOURTH)
    # What is left of a build that ended after its run was killed goes, too.
    leftover = leave_behind(site, site.record()[OLD])
    site.behave(behaviour="fail", seconds=5, message=MESSAGE)
    process = site.runner.start("enable", **site.variables({}))
    builds = wait_until(lambda: len(site.builds()) == 2 and site.builds(), "two Builds run")
    (name,) = (build["metadata"]["name"] for build in builds if kernel_of(build) == THIRD)
    path = f"/apis/build.openshift.io/v1/namespaces/{NAMESPACE}/builds/{name}"
    site.cluster.api.patch(path, {"status": {"cancelled": True}})
    assert process.wait(60) != 0

    assert leftover not in [
        obj["metadata"]["name"] for obj in site.listed("buildconfigs,configmaps")
    ]
    output = (site.runner.folder / "enable.log").read_text()
    assert MESSAGE in output
    assert site.secrets_in(output) == []
    cancelled, failed = (site.record()[kernel] for kernel in (THIRD, FOURTH))
    assert (
        f"Build {name} ended as Cancelled (The build was cancelled by the user.)"
        in cancelled["problem"]
    )
    assert (cancelled["phase"], cancelled["retry"] != "") == ("start", True)
    assert (
        "ended as Failed (Dockerfile build strategy has failed.): error: build error: building"
        in failed["problem"]
    )
    assert (failed["phase"], failed["reason"], "retry" in failed) == ("compile", "Failed", False)
    # Others are none the worse for it, and the failed one's log is there to be read.
    none = "driver_container.failed"
    assert site.summaries() == {
        "old-1": "ready",
        "new-1": "ready",
        "third-1": none,
        "fourth-1": none,
    }
    assert len(site.builds("Failed")) == 1


def what_was_cancelled_is_built_again_and_what_failed_is_not(site: Site) -> None:
    site.behave(seconds=0.5)
    # Somebody has removed the BuildConfig and kept its Build, which has the name that the next one
    # would get.
    (build,) = site.builds("Cancelled")
    path = f"/apis/build.openshift.io/v1/namespaces/{NAMESPACE}"
    site.cluster.api.patch(
        f"{path}/builds/{build['metadata']['name']}", {"metadata": {"ownerReferences": None}}
    )
    site.cluster.api.delete(f"{path}/buildconfigs/{build['status']['config']['name']}")
    site.make_due(THIRD)
    mark = site.cluster.mark()
    played = site.play()
    assert played.code != 0
    assert "ended as Failed" in played.output
    assert site.instantiated(mark) == [build["status"]["config"]["name"]]
    assert site.record()[THIRD]["image"]
    assert site.summaries()["third-1"] == "ready"
    assert site.record()[FOURTH]["failed"]


def a_build_that_cannot_start_does_not_hold_up_the_run(site: Site) -> None:
    site.behave(behaviour="pending", message="no node has the memory that the build asks for")
    # What has failed is tried again where somebody says so.
    site.play(hardware_enablement_rebuild=True)
    entry = site.record()[FOURTH]
    assert "cannot start: no node has the memory that the build asks for" in entry["problem"]
    assert (entry["phase"], entry["retry"] != "") == ("start", True)
    assert site.builds("Pending") == []


def the_internal_registry_is_asked_by_image_streams_and_the_toolkit_fits_the_release(
    site: Site,
) -> None:
    # The cluster has been updated, and one node still runs the release before.
    tags = json.loads(
        site.cluster.kubectl("get", "is", "driver-toolkit", "-n", "openshift", "-o", "json")
    )["spec"]["tags"]
    newest = {"name": "latest", "from": {"kind": "DockerImage", "name": LATEST_TOOLKIT}}
    patch = json.dumps(
        {"spec": {"tags": [*(tag for tag in tags if tag["name"] != "latest"), newest]}}
    )
    site.cluster.kubectl(
        "patch", "is", "driver-toolkit", "-n", "openshift", "--type=merge", "-p", patch
    )
    site.behave(seconds=0.5)
    site.play(
        options={"headers": "dtk", "base_image": "", "repository": f"{INTERNAL}/{NAMESPACE}/kmod"},
        hardware_enablement_build_parallel=4,
    ).check()

    assert set(site.summaries().values()) == {"ready"}
    bases = {}
    for kernel, entry in site.record().items():
        tags = f"/apis/image.openshift.io/v1/namespaces/{NAMESPACE}/imagestreamtags"
        path = f"{tags}/kmod:{kernel}-{entry['inputs'][:12]}"
        image = site.cluster.api.get(path)["image"]
        assert entry["image"] == image["dockerImageReference"]
        labels = image["dockerImageMetadata"]["Config"]["Labels"]
        assert (labels[KERNEL_LABEL], labels[INPUTS_LABEL]) == (kernel, entry["inputs"])
        bases[kernel] = labels["org.opencontainers.image.base.name"]
    assert bases == {**dict.fromkeys((OLD, THIRD, FOURTH), LATEST_TOOLKIT), NEW: TOOLKIT}
    # What no kernel needs any more is gone, that of the build that could not start included.
    assert site.listed("buildconfigs,configmaps") == []


def prebuilt_images_are_found_by_their_image_streams(site: Site) -> None:
    site.cluster.kubectl("create", "namespace", "vendor")
    site.cluster.kubectl(
        "apply", "-f", "-", stdin=json.dumps(vendor("ImageStream", "kmod", "image.openshift.io/v1"))
    )
    # The second tag was moved to an image for another kernel.
    for name, kernel, built_for in (("old", OLD, OLD), ("new", NEW, THIRD)):
        config = vendor("BuildConfig", name, "build.openshift.io/v1") | {
            "spec": {
                "source": {"dockerfile": "FROM scratch\n"},
                "strategy": {"dockerStrategy": {}},
                "output": {
                    "to": {"kind": "ImageStreamTag", "name": f"kmod:{kernel}"},
                    "imageLabels": [{"name": KERNEL_LABEL, "value": built_for}],
                },
            }
        }
        config["metadata"]["annotations"] = {f"{SIMULATION}/seconds": "0"}
        site.cluster.kubectl("create", "-f", "-", stdin=json.dumps(config))
        request = vendor("BuildRequest", name, "build.openshift.io/v1")
        path = f"/apis/build.openshift.io/v1/namespaces/vendor/buildconfigs/{name}/instantiate"
        site.cluster.api.request("POST", path, request)
    tags = "/apis/image.openshift.io/v1/namespaces/vendor/imagestreamtags"
    wait_until(lambda: len(site.cluster.api.get(tags)["items"]) == 2, "both images are there")

    lookup = ImageStreamLookup(connect(ConnectionRequest(kubeconfig=str(site.cluster.kubeconfig))))
    with pytest.raises(
        WrongArchitecture, match="has no image for arm64: its ImageStreamTag has amd64"
    ):
        lookup.find(f"registry.vendor.test/vendor/kmod:{OLD}", "arm64")

    # A host that only the cluster knows.
    options = {"prebuilt_repository": "registry.vendor.test/vendor/kmod", "build": False}
    variables = site.variables(
        {"options": options, "hardware_enablement_lookup_from": "imagestream"}
    )
    played = site.runner.play("enable", "--check", "-vvv", **variables)
    found = {group["kernel"]: group for group in groups(played.output)}
    assert found[OLD]["source"] == "prebuilt"
    assert found[OLD]["image"].startswith(f"{INTERNAL}/vendor/kmod@sha256:")
    assert (
        found[NEW]["tried"][0]
        == f"registry.vendor.test/vendor/kmod:{NEW} was built for kernel {THIRD}"
    )
    assert found[THIRD]["tried"][0] == f"registry.vendor.test/vendor/kmod:{THIRD} does not exist"


def what_the_cluster_says_of_registries_counts(site: Site) -> None:
    """Neither mirror nor authority nor credentials are given: the cluster has them all."""
    host, cluster = site.registry.address, site.cluster
    never = {"mirrors": [f"{host}/base"], "mirrorSourcePolicy": "NeverContactSource"}
    for kind, api_version, key, entry in (
        (
            "ImageTagMirrorSet",
            "config.openshift.io/v1",
            "imageTagMirrors",
            {"source": SOURCE, **never},
        ),
        (
            "ImageDigestMirrorSet",
            "config.openshift.io/v1",
            "imageDigestMirrors",
            {"source": SOURCE, **never},
        ),
        (
            "ImageContentSourcePolicy",
            "operator.openshift.io/v1alpha1",
            "repositoryDigestMirrors",
            {"source": "old.invalid", "mirrors": [host]},
        ),
    ):
        body = {
            "apiVersion": api_version,
            "kind": kind,
            "metadata": {"name": "mirrors"},
            "spec": {key: [entry]},
        }
        cluster.kubectl("create", "-f", "-", stdin=json.dumps(body))
    config = "/api/v1/namespaces/openshift-config"
    authority = {
        "metadata": {"name": "authorities"},
        "data": {host.replace(":", ".."): site.registry.ca},
    }
    cluster.api.create(f"{config}/configmaps", authority)
    secret = {
        "metadata": {"name": "pull-secret"},
        "stringData": {".dockerconfigjson": site.registry.dockerconfig()},
    }
    cluster.api.create(f"{config}/secrets", {**secret, "type": "kubernetes.io/dockerconfigjson"})
    spec = {
        "additionalTrustedCA": {"name": "authorities"},
        "registrySources": {"insecureRegistries": ["*.lab.test"]},
    }
    cluster.api.patch("/apis/config.openshift.io/v1/images/cluster", {"spec": spec})

    read = RegistryReader(
        connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig))), pytest.fail
    ).read()
    assert {(mirror.prefix, mirror.pulls, mirror.source) for mirror in read.mirrors} == {
        (SOURCE, "tag", False),
        (SOURCE, "digest", False),
        ("old.invalid", "digest", True),
    }
    said: list[str] = []
    nothing = RegistryReader(
        connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig_for("stranger")))), said.append
    ).read()
    assert (nothing.mirrors, nothing.trusts) == ([], [])
    assert [sentence.partition(" may not be read")[0] for sentence in said] == [
        "Image cluster",
        "Secret openshift-config/pull-secret",
        "the cluster's ImageDigestMirrorSet objects",
        "the cluster's ImageTagMirrorSet objects",
        "the cluster's ImageContentSourcePolicy objects",
    ]

    options = {
        "repository": f"{host}/drivers/mirrored",
        "base_image": f"{SOURCE}/kmod:1",
        "image_pull_secrets": [],
    }
    plain = {"options": options, "hardware_enablement_registry_ca": ""}
    played = site.play(
        **plain, hardware_enablement_push_secret="", hardware_enablement_builder="none"
    )
    # Asked of the mirror, trusted and logged in: else it would say so.
    assert f"drivers/mirrored:{OLD}" in played.output
    assert "does not exist; it may not be built (builder is none)" in played.output

    site.behave(seconds=0)
    played = site.play(**plain)
    assert "OpenShift's builds do not know" not in played.output
    assert {entry["image"].partition("@")[0] for entry in site.record().values()} == {
        f"{host}/drivers/mirrored"
    }


def test_builds_from_a_killed_run_to_the_clusters_own_registries(site: Site) -> None:
    """One cluster's story: each step goes on from the one before."""
    what_a_build_misses_is_said_before_anything_is_made_for_it(site)
    a_run_that_is_killed_leaves_its_builds_to_the_next_one(site)
    what_was_built_is_in_the_registry_and_nothing_else_stays(site)
    the_second_run_writes_nothing(site)
    a_build_that_failed_says_why_and_one_that_was_cancelled_too(site)
    what_was_cancelled_is_built_again_and_what_failed_is_not(site)
    a_build_that_cannot_start_does_not_hold_up_the_run(site)
    the_internal_registry_is_asked_by_image_streams_and_the_toolkit_fits_the_release(site)
    prebuilt_images_are_found_by_their_image_streams(site)
    what_the_cluster_says_of_registries_counts(site)


def vendor(kind: str, name: str, api_version: str) -> Obj:
    """An object of somebody else's namespace."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "vendor"},
    }


def groups(output: str) -> list[Obj]:
    """What driver_container has said of the kernels, in a play's output."""
    task = output.partition("Find or build the image for every kernel]")[2]
    found: list[Obj] = json.JSONDecoder().raw_decode(task[task.index("=> {") + 3 :])[0]["groups"]
    return found
