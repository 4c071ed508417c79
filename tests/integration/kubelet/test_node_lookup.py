# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images looked up by a real node, which pulls them from a real registry."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._builds.lookups.node import (
    NodeLookup,
)
from ansible_collections.hardware.enablement.plugins.module_utils._builds.settings import (
    BuildSettings,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from tests.cluster import Cluster
from tests.cluster.paths import registry_folder
from tests.cluster.pki import Authority
from tests.cluster.registry import PULLER, Images, Registry
from tests.integration.kubelet.bench import Bench

pytestmark = pytest.mark.kubelet


@pytest.fixture(scope="module")
def registry(cluster: Cluster) -> Iterator[Registry]:
    """A registry with accounts that the nodes trust."""
    folder = registry_folder("test-node-lookup")
    Registry.remove(folder)
    with Registry.start(
        folder, auth="htpasswd", authority=Authority(cluster.folder / "pki", "kubernetes")
    ) as started:
        cluster.trust_registry(started.named_address, started.ca)
        yield started
    Registry.remove(folder)


@pytest.fixture
def settings(bench: Bench, registry: Registry) -> BuildSettings:
    """With a pull secret."""
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "pull"},
        "type": "kubernetes.io/dockerconfigjson",
        "stringData": {".dockerconfigjson": registry.dockerconfig(PULLER)},
    }
    bench.apply(secret)
    return BuildSettings(
        "kmod", "image", bench.namespace, pull_secrets=("pull",), timeout=60, grace=3
    )


def lookup(bench: Bench, settings: BuildSettings, *, dry: bool = False) -> NodeLookup:
    """By the first real node."""
    client = connect(ConnectionRequest(kubeconfig=str(bench.cluster.kubeconfig)))
    nodes = {"amd64": bench.cluster.workers[0]}
    return NodeLookup(client, settings, nodes, lambda: None, time.time, dry=dry)


def pods(bench: Bench) -> list[str]:
    """The pods that are there and stay."""
    items = json.loads(bench.kubectl("get", "pods", "-o", "json"))["items"]
    return [
        item["metadata"]["name"] for item in items if not item["metadata"].get("deletionTimestamp")
    ]


def test_what_a_node_can_pull_is_found_by_its_digest_also_after_its_tag_was_moved(
    bench: Bench, registry: Registry, settings: BuildSettings
) -> None:
    images, reference = Images(registry), f"{registry.named_address}/gpu/driver:1"
    for text in (b"first", b"second"):
        # Nothing in it can be run: to be pulled is enough.
        digest = images.push("gpu/driver", "1", files={"version": text})
        found = lookup(bench, settings).find(reference, "amd64")
        assert found is not None
        assert (found.reference, found.labels) == (
            f"{registry.named_address}/gpu/driver@{digest}",
            None,
        )
    assert pods(bench) == []


def test_what_does_not_exist_is_none(
    bench: Bench, registry: Registry, settings: BuildSettings
) -> None:
    assert (
        lookup(bench, settings).find(f"{registry.named_address}/gpu/driver:none", "amd64") is None
    )
    assert lookup(bench, settings).find(f"{registry.named_address}/nobody/has:1", "amd64") is None


def test_what_may_not_be_pulled_is_trouble(
    bench: Bench, registry: Registry, settings: BuildSettings
) -> None:
    Images(registry).push("gpu/secret", "1")
    stranger = replace(settings, pull_secrets=())
    with pytest.raises(
        EnablementError, match=r"gpu/secret:1 cannot be pulled: .*(401|credentials|authorization)"
    ):
        lookup(bench, stranger).find(f"{registry.named_address}/gpu/secret:1", "amd64")
    assert pods(bench) == []


def test_a_node_that_takes_no_pod_is_not_waited_for(
    bench: Bench, registry: Registry, settings: BuildSettings
) -> None:
    images, node = Images(registry), bench.cluster.workers[0]
    patient = replace(settings, timeout=300)
    images.push("gpu/driver", "tainted")
    reference = f"{registry.named_address}/gpu/driver:tainted"
    bench.cluster.kubectl("taint", "node", node, "example.test/gpu=yes:NoSchedule")
    try:
        began = time.monotonic()
        with pytest.raises(EnablementError, match=r"cannot be pulled: .*finds no place"):
            lookup(bench, patient).find(reference, "amd64")
        assert time.monotonic() - began < patient.timeout
        tolerant = replace(
            settings, tolerations=({"key": "example.test/gpu", "operator": "Exists"},)
        )
        assert lookup(bench, tolerant).find(reference, "amd64") is not None
    finally:
        bench.cluster.kubectl("taint", "node", node, "example.test/gpu-")


def test_check_mode_makes_no_pod(bench: Bench, registry: Registry, settings: BuildSettings) -> None:
    mark = bench.cluster.mark()
    with pytest.raises(EnablementError, match="is not looked up: only nodes ask its registry"):
        lookup(bench, settings, dry=True).find(f"{registry.named_address}/gpu/driver:1", "amd64")
    assert [
        event
        for event in bench.cluster.audit(since=mark)
        if "/pods" in event["requestURI"] and event["verb"] == "create"
    ] == []
