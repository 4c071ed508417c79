# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A kernel module built in a pod, pushed to a registry and pulled by another node: what our images
are for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster import Cluster
from tests.cluster.images import Image
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import PULLER, PUSHER, Registry
from tests.cluster.registry.accounts import Account
from tests.integration.kubelet.bench import Bench
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet
MODULE = """
#include <linux/module.h>
static int __init probe_init(void) { return 0; }
static void __exit probe_exit(void) { }
module_init(probe_init);
module_exit(probe_exit);
MODULE_LICENSE("GPL");
"""
# A pod may do this with the capabilities that any container has; images lie in a folder of the pod.
BUILD = """
set -eux
common="--authfile=/auth/config.json --cert-dir=/ca"
buildah bud $common --build-arg=KERNEL=$KERNEL --tag=$TARGET /context
buildah push $common $TARGET
"""


@pytest.fixture(scope="module")
def registry(cluster: Cluster) -> Iterator[Registry]:
    """A registry with accounts that both nodes trust."""
    folder = registry_folder("test-building")
    Registry.remove(folder)
    authority = Authority(cluster.folder / "pki", "kubernetes")
    with Registry.start(folder, auth="htpasswd", authority=authority) as started:
        cluster.trust_registry(started.named_address, started.ca)
        yield started
    Registry.remove(folder)


@pytest.fixture(scope="module")
def base(cluster: Cluster, registry: Registry) -> Image:
    """The base image for modules, on a node and from there in the registry."""
    node = cluster.workers[0]
    cluster.load_image("builder", nodes=[node])
    image = cluster.load_image("kmod-base", nodes=[node])
    target = f"{registry.named_address}/kmod-base:1"
    ctr = ("ctr", "--namespace=k8s.io", "images")
    real = cluster.real_node(node)
    real.run(*ctr, "tag", image.reference, target)
    real.run(
        *ctr,
        "push",
        "--hosts-dir=/etc/containerd/certs.d",
        f"--user={PUSHER.name}:{PUSHER.password}",
        target,
    )
    return image


def secret(bench: Bench, name: str, registry: Registry, account: Account) -> None:
    """A pull secret."""
    metadata = {"name": name}
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "kubernetes.io/dockerconfigjson",
    }
    bench.apply({**body, "stringData": {".dockerconfigjson": registry.dockerconfig(account)}})


def build(bench: Bench, name: str, kernel: str, target: str) -> None:
    """Start the pod that builds; it is bound to a node that has the builder."""
    volumes = [
        {"name": "context", "configMap": {"name": "context"}},
        {"name": "ca", "configMap": {"name": "ca"}},
        {
            "name": "auth",
            "secret": {
                "secretName": "push",
                "items": [{"key": ".dockerconfigjson", "path": "config.json"}],
            },
        },
        {"name": "storage", "emptyDir": {}},
    ]
    mounts = {"context": "/context", "ca": "/ca", "auth": "/auth", "storage": "/var/lib/containers"}
    container = {
        "name": "build",
        "image": "localhost/builder:1",
        "command": ["bash", "-c", BUILD],
        "env": [{"name": "KERNEL", "value": kernel}, {"name": "TARGET", "value": target}],
        "volumeMounts": [{"name": key, "mountPath": path} for key, path in mounts.items()],
    }
    spec = {
        "restartPolicy": "Never",
        # Only there a pod reaches this machine's loopback, where the registry is.
        "hostNetwork": True,
        "nodeName": bench.cluster.workers[0],
        "containers": [container],
        "volumes": volumes,
    }
    bench.pod(name, spec)


def phase(bench: Bench, pod: str) -> str:
    """The pod's phase once it has ended, else nothing."""
    found = str(bench.get("pod", pod)["status"].get("phase"))
    return found if found in ("Succeeded", "Failed") else ""


def test_a_pod_builds_a_module_and_another_node_pulls_it(
    bench: Bench, registry: Registry, base: Image
) -> None:
    kernel = base.kernels[0]
    dockerfile = (
        f"FROM {registry.named_address}/kmod-base:1\n"
        "ARG KERNEL\n"
        "COPY probe.c Makefile /src/\n"
        "RUN make -C /lib/modules/$KERNEL/build M=/src modules\n"
    )
    context = {"Dockerfile": dockerfile, "probe.c": MODULE, "Makefile": "obj-m := probe.o\n"}
    for name, data in (("context", context), ("ca", {"ca.crt": registry.ca})):
        bench.apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}
        )
    secret(bench, "push", registry, PUSHER)
    secret(bench, "pull", registry, PULLER)
    target = f"{registry.named_address}/probe:1"
    build(bench, "build", kernel, target)
    assert wait_until(lambda: phase(bench, "build"), "the build's end") == "Succeeded", (
        bench.kubectl("logs", "build")
    )

    # Of two streams that write at the same moment a log has the lines in any order.
    show = "exec 2>&1; modinfo -F vermagic /src/probe.ko && insmod /src/probe.ko"
    container = {"name": "main", "image": target, "command": ["bash", "-c", show]}
    spec = {
        "restartPolicy": "Never",
        "nodeName": bench.cluster.workers[1],
        "containers": [container],
    }
    bench.pod("driver", {**spec, "imagePullSecrets": [{"name": "pull"}]})
    # It ends badly: no module is loaded here, and a pod without privileges may not even try.
    assert wait_until(lambda: phase(bench, "driver"), "the driver's end") == "Failed"
    vermagic, refusal = bench.kubectl("logs", "driver").splitlines()
    assert vermagic.split()[0] == kernel
    assert "could not insert module" in refusal


@pytest.mark.usefixtures("base")
def test_without_a_pull_secret_the_registry_refuses(bench: Bench, registry: Registry) -> None:
    container = {"name": "main", "image": f"{registry.named_address}/kmod-base:1"}
    bench.pod("stranger", {"nodeName": bench.cluster.workers[1], "containers": [container]})

    def refusal() -> bool:
        waiting = bench.container("stranger").get("state", {}).get("waiting", {})
        return "401 Unauthorized" in waiting.get("message", "") or "no basic auth" in waiting.get(
            "message", ""
        )

    wait_until(refusal, "the registry's refusal")
