# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Node Feature Discovery itself, deployed by the recipe nfd on a real node of a cluster that has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster, lifecycle
from tests.cluster.commands import CONTROL_PLANE_NODE, NFD_NAMESPACE
from tests.integration.conftest import grant
from tests.integration.kubelet.host_network import on_host_network
from tests.integration.plays import Runner
from tests.integration.waiting import wait_until

pytestmark = pytest.mark.kubelet

Obj = dict[str, Any]
FEATURES, CRDS = "feature.node.kubernetes.io/", ("nodefeatures", "nodefeaturerules")
RECIPE = f"""
apiVersion: hardware-enablement.io/v1
name: x86
namespace: x86
selector:
  any_of: [{{{FEATURES}cpu-model.family: null}}]
states:
  known:
    role: state
    assets: [namespace.yaml.j2]
    validate:
      - node_labels: {{present: [{FEATURES}kernel-version.full]}}
"""
# Of this machine's PCI devices; rules of ours label the node by each.
VENDORS = {path.read_text().strip()[2:] for path in Path("/sys/bus/pci/devices").glob("*/vendor")}
NAMESPACE = "{apiVersion: v1, kind: Namespace, metadata: {name: x86}}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A cluster with one node, a real one, without labels of NFD and whatever makes them."""
    with Cluster.up("test-nfd", kubelets=1, say=print) as started:
        started.load_image("nfd")
        lifecycle.stop_daemon(started.folder, "nfd-master")
        started.kubectl("delete", "crd", *(f"{name}.nfd.k8s-sigs.io" for name in CRDS))
        started.kubectl("delete", "namespace", NFD_NAMESPACE)
        started.kubectl("delete", "node", CONTROL_PLANE_NODE)
        gone = [f"{name}-" for name in labels(started)]
        started.kubectl("label", "node", started.workers[0], *gone)
        for obj in on_host_network("nfd-on-the-host-network", "nfd"):
            started.kubectl("apply", "-f", "-", stdin=json.dumps(obj))
        yield started


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as an admin, since one of the recipes is not shipped."""
    grant(cluster, "nfd", "cluster-admin")
    return Runner(cluster, "nfd", tmp_path_factory.mktemp("nfd"))


@pytest.fixture
def x86(tmp_path: Path) -> Obj:
    """A recipe that goes by a label of the node's CPU."""
    folder = tmp_path / "x86"
    folder.mkdir()
    (folder / "recipe.yml").write_text(RECIPE)
    (folder / "namespace.yaml.j2").write_text(NAMESPACE)
    return {"hardware_enablement_recipe": "x86", "hardware_enablement_recipe_dir": str(tmp_path)}


def labels(cluster: Cluster) -> dict[str, str]:
    """The node's labels of NFD."""
    found = cluster.api.get(f"/api/v1/nodes/{cluster.workers[0]}")["metadata"]["labels"]
    return {name: value for name, value in found.items() if name.startswith(FEATURES)}


def options(cluster: Cluster) -> Obj:
    """In a cluster with a network for Services pods find the API server by themselves."""
    port = str(cluster.record.ports.apiserver)
    address = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": port}
    env = dict.fromkeys(("master", "worker", "collector"), address)
    vendors = dict.fromkeys(sorted(VENDORS), "any")
    image = {"image": "localhost/nfd:1", "interval_seconds": 1}
    return {**image, "pci_vendors": vendors, "env": env}


def test_enable_deploys_it_first_where_nothing_labels_nodes(
    cluster: Cluster, runner: Runner, x86: Obj
) -> None:
    node = cluster.workers[0]
    assert labels(cluster) == {}
    said = runner.play("enable", **x86).check().output
    assert "hardware_enablement_nfd=true" in said

    also = {"hardware_enablement_nfd": True, "nfd_options": options(cluster)}
    said = runner.play("enable", **x86, **also).check().output
    assert "nfd: ready, 1/1 nodes" in said
    assert "x86: ready, 1/1 nodes" in said
    kernel = cluster.api.get(f"/api/v1/nodes/{node}")["status"]["nodeInfo"]["kernelVersion"]
    assert labels(cluster)[f"{FEATURES}kernel-version.full"] == kernel
    runner.play("enable", **x86, **also).unchanged()

    # An option of its own keeps the others.
    runner.run_program("nfd", nfd_options={**also["nfd_options"], "interval_seconds": 2}).check()
    runner.play("nfd").unchanged()
    config = cluster.kubectl("get", "configmap", "-n", NFD_NAMESPACE, "nfd-worker", "-o", "yaml")
    assert "sleepInterval: 2s" in config

    # What it has told of the node stays when it goes, also what rules say.
    told = {f"{FEATURES}pci-{vendor}.present" for vendor in VENDORS}
    wait_until(lambda: told <= set(labels(cluster)), f"the node has {sorted(told)}")
    before = labels(cluster)
    runner.play("disable", hardware_enablement_recipe="nfd").check()
    left = cluster.kubectl("get", "namespaces,clusterroles,nodefeaturerules", "-o", "name")
    assert "node-feature-discovery" not in left
    assert "nfd" not in left
    assert labels(cluster) == before
