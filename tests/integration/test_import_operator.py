# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster of NVIDIA's GPU Operator taken over: a plan first, no driver restarts, node by node, and what
is interrupted is taken up again; a Module of Kernel Module Management as a recipe."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import Cluster
from tests.cluster.cluster import DEFAULT_KERNEL
from tests.cluster.simulation.faults import clear_faults, set_fault
from tests.integration import sight
from tests.integration.conftest import documented, grant
from tests.integration.guides import run_guide
from tests.integration.operators import Operator
from tests.integration.plays import REPO, Runner
from tests.integration.test_killed_runs import kill
from tests.integration.waiting import wait_until, wait_until_none
from tests.scenes.gpu_operator import (
    DEPLOY,
    DEVICE_CONFIGS,
    MODULES,
    NAMESPACE,
    NODE_MODULES,
    OPERANDS,
    GpuOperator,
    resource,
)

pytestmark = pytest.mark.recipes

Obj = dict[str, Any]
NODES = ["gpu-new-1", "gpu-old-1", "gpu-old-2"]
OPTIONS = {"hardware_enablement_options": {"exporter_validation": False}}
STOP = {"operator_import_stop": True, "hardware_enablement_failure_grace": 2, **OPTIONS}


class Reconciler(Operator):
    """The operator's program, which makes anew what somebody removes."""

    def __init__(self, site: GpuOperator) -> None:
        super().__init__()
        self.site = site

    def reconcile(self) -> None:
        self.site.reconcile()


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays as a user with the documented rights, and those for this."""
    made = documented(cluster, tmp_path_factory.mktemp("runner"))
    cluster.kubectl("apply", "-f", str(REPO / "manifests" / "operator-import-rbac.yaml"))
    grant(cluster, "runner", "hardware-enablement-operator-import")
    return made


@pytest.fixture
def site(cluster: Cluster) -> Iterator[GpuOperator]:
    """The operator, converged, with an NVIDIADriver for all nodes."""
    made = GpuOperator(cluster, NODES, {"all": {}})
    made.install()
    with Reconciler(made).running():
        wait_until(
            lambda: len(_ready(cluster)) == len(NODES) * (len(OPERANDS) + 1) + 1,
            "all operands are ready",
        )
        wait_until(lambda: _gpus(cluster, "gpu-old-1") > 0, "allocatable GPUs on gpu-old-1")
        yield made


def _pods(cluster: Cluster) -> list[Obj]:
    return list(cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/pods")["items"])


def _ready(cluster: Cluster) -> list[Obj]:
    return [pod for pod in _pods(cluster) if sight.is_ready(pod)]


def _gpus(cluster: Cluster, node: str) -> int:
    return int(sight.nodes(cluster)[node]["status"]["allocatable"].get("nvidia.com/gpu", 0))


def _drivers(cluster: Cluster) -> dict[str, tuple[str, int]]:
    """Node -> UID of its driver's pod, and how often that has restarted."""
    return {
        pod["spec"]["nodeName"]: (
            pod["metadata"]["uid"],
            sum(each["restartCount"] for each in pod["status"]["containerStatuses"]),
        )
        for pod in _pods(cluster)
        if "/driver:" in pod["spec"]["containers"][0]["image"]
        and not pod["metadata"].get("deletionTimestamp")
    }


def _served_by(cluster: Cluster, node: str) -> set[str]:
    """Whose device plugins run on a node: the operator's, or ours."""
    return {
        "ours" if sight.STATE_LABEL in pod["metadata"]["labels"] else "theirs"
        for pod in _ready(cluster)
        if pod["spec"]["nodeName"] == node and "device-plugin" in pod["metadata"]["name"]
    }


def _summaries(cluster: Cluster) -> dict[str, str | None]:
    marks = sight.marks(cluster)
    return {node: marks[node].get("nvidia-gpu") for node in NODES}


@pytest.mark.usefixtures("site")
def test_an_operator_is_taken_over_and_no_driver_restarts(cluster: Cluster, runner: Runner) -> None:
    before = _drivers(cluster)
    assert len(before) == len(NODES)

    # A plan says what becomes of everything, and changes nothing, with or without --check.
    for arguments in (("--check", "--diff"), ()):
        since = cluster.mark()
        played = runner.run_program("import_operator", *arguments, **OPTIONS).check()
        assert runner.writes(since) == []
        assert "devicePlugin.config has no counterpart: its ConfigMap is not read" in played.output
        assert "3 drivers' pods stay in namespace gpu-operator, none restarts" in played.output
        assert "gpu-old-1: driver nvidia-gpu-driver-ubuntu24.04-all-" in played.output
        assert "NVIDIADriver all, ClusterPolicy cluster-policy is deleted" in played.output
    assert "operator_import_stop=true" in played.output

    # Killed when the drivers' pods are nobody's; our DaemonSet for them may be there a moment later.
    run = runner.start("import_operator", **STOP)
    path = f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets"
    wait_until_none(
        lambda: [
            each["metadata"]["name"]
            for each in cluster.api.get(path)["items"]
            if each["metadata"]["name"].startswith("nvidia-gpu-driver")
        ],
        "DaemonSets of the operator's drivers",
    )
    kill(cluster, run, lock="nvidia-gpu")
    assert _drivers(cluster) == before

    # A node that fails ends it: what was not begun is served as before.
    set_fault(cluster.kubeconfig, "gpu-old-1", "runtime-hook", "crash", message="no socket")
    played = runner.play("import_operator", **STOP, hardware_enablement_timeout=20)
    assert played.code != 0
    assert "gpu-old-1: runtime_hook" in played.output
    assert _summaries(cluster)["gpu-new-1"] == "ready"
    assert _summaries(cluster)["gpu-old-2"] is None
    assert [_served_by(cluster, node) for node in ("gpu-new-1", "gpu-old-2")] == [
        {"ours"},
        {"theirs"},
    ]
    labels = sight.nodes(cluster)["gpu-old-2"]["metadata"]["labels"]
    assert labels[f"{DEPLOY}device-plugin"] == "true"
    assert _drivers(cluster) == before
    clear_faults(cluster.kubeconfig)

    runner.play("import_operator", **STOP).check()
    assert _summaries(cluster) == dict.fromkeys(NODES, "ready")
    assert _drivers(cluster) == before
    for pod in _pods(cluster):
        assert sight.STATE_LABEL in pod["metadata"]["labels"], pod["metadata"]["name"]
    kept = cluster.api.get(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/nvidia-driver")
    assert "ownerReferences" not in kept["metadata"]
    assert cluster.api.get("/apis/nvidia.com/v1/clusterpolicies")["items"] == []
    assert cluster.api.get("/apis/nvidia.com/v1alpha1/nvidiadrivers")["items"] == []
    pending = [sight.marks(cluster)[node]["nvidia-gpu.restart-pending"] for node in NODES]
    assert pending == ["driver"] * len(NODES)

    # Again there is nothing to do, for this and for who enables.
    since = cluster.mark()
    runner.play("import_operator", **STOP).unchanged()
    record = cluster.api.get("/apis/hardware-enablement.io/v1/specialresources/nvidia-gpu")
    options = {"hardware_enablement_options": record["spec"]["options"]}
    runner.play("enable_gpu", **options).unchanged()
    assert runner.writes(since) == []

    # The drivers' pods are exchanged when somebody wants it.
    every = {"upgrade_waves": ["100%"], "upgrade_max_unavailable": "100%"}
    runner.play("upgrade", hardware_enablement_recipe="nvidia-gpu", **every).check()
    after = _drivers(cluster)
    assert after.keys() == before.keys()
    assert not {uid for uid, _restarts in after.values()} & {
        uid for uid, _restarts in before.values()
    }


def define(cluster: Cluster, *definitions: Obj) -> None:
    """Have the cluster serve these kinds."""
    for each in definitions:
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(each))
        name = each["metadata"]["name"]
        cluster.kubectl("wait", "--for=condition=Established", f"crd/{name}")


def operator(cluster: Cluster, namespace: str, name: str) -> None:
    """An operator's Deployment in a namespace of its own."""
    cluster.kubectl("create", "namespace", namespace)
    image = "--image=registry.example.com/operator:1"
    cluster.kubectl("create", "deployment", name, "-n", namespace, image)


def _replicas(cluster: Cluster, namespace: str) -> dict[str, int]:
    """Deployment -> how many pods it is to have."""
    listed = json.loads(cluster.kubectl("get", "deployments", "-n", namespace, "-o", "json"))
    return {item["metadata"]["name"]: item["spec"]["replicas"] for item in listed["items"]}


def test_a_module_of_kmm_becomes_a_recipe_and_goes_without_unloading(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    dockerfile = "ARG DTK_AUTO\nFROM ${DTK_AUTO} AS builder\nFROM registry.example.com/ubi:9\n"
    build = {"dockerfileConfigMap": {"name": "card-build"}}
    module = {
        "apiVersion": "kmm.sigs.x-k8s.io/v1beta1",
        "kind": "Module",
        "metadata": {"name": "card", "namespace": "cards", "finalizers": ["kmm.node.k8s.io/x"]},
        "spec": {
            "selector": {"feature.node.kubernetes.io/pci-0302_10de.present": "true"},
            "moduleLoader": {
                "container": {
                    "containerImage": "registry.example.com/card:${KERNEL_FULL_VERSION}",
                    "modprobe": {"moduleName": "card"},
                    "version": "1",
                    "kernelMappings": [
                        {"literal": DEFAULT_KERNEL},
                        {"regexp": "^6", "build": build},
                    ],
                }
            },
            "devicePlugin": {"container": {"image": "registry.example.com/card-plugin:1"}},
        },
    }
    define(cluster, MODULES, NODE_MODULES)
    operator(cluster, "kmm-operator-system", "kmm-operator-controller")
    cluster.kubectl("create", "namespace", "cards")
    config_map = ["create", "configmap", "card-build", "-n", "cards"]
    cluster.kubectl(*config_map, f"--from-literal=dockerfile={dockerfile}")
    cluster.kubectl("create", "-f", "-", stdin=json.dumps(module))

    folder = {"hardware_enablement_recipe_dir": str(tmp_path)}
    since = cluster.mark()
    named = {"import_kmm_module": "card", "import_kmm_namespace": "cards"}
    played = runner.run_program("import_kmm", **named, **folder).check()
    assert "~ moduleLoader.container.version: upgrade exchanges" in played.output
    ready = "~ label kmm.node.kubernetes.io/cards.card.ready: select pods' nodes by"
    assert f"{ready} hardware-enablement.io/card=ready" in played.output
    assert runner.writes(since) == []
    assert runner.play("import_kmm", **named, **folder).code != 0  # nothing is overwritten

    files = {
        "hardware_enablement_images_file": str(tmp_path / "images.txt"),
        "hardware_enablement_image_set_file": str(tmp_path / "imageset.yaml"),
    }
    runner.play("recipe_check", hardware_enablement_recipe="card", **folder, **files).check()
    images = (tmp_path / "images.txt").read_text().splitlines()
    image_set = yaml.safe_load((tmp_path / "imageset.yaml").read_text())
    assert image_set["kind"] == "ImageSetConfiguration"
    assert [each["name"] for each in image_set["mirror"]["additionalImages"]] == images

    recipe = {"hardware_enablement_recipe": "card", **folder, "hardware_enablement_adopt": True}
    recipe["hardware_enablement_options"] = {"build": False}
    refused = runner.play("enable", **recipe)
    assert refused.code != 0
    assert "does what card is to do (Module cards/card)" in refused.output

    run_guide(cluster, "from-kmm.md", "Change over", tmp_path)
    assert yaml.safe_load((tmp_path / "card.yaml").read_text())["spec"] == module["spec"]
    assert _replicas(cluster, "kmm-operator-system") == {"kmm-operator-controller": 0}
    since = cluster.mark()
    assert "would create" in runner.play("enable", "--check", "--diff", **recipe).check().output
    assert runner.writes(since) == []
    runner.play("enable", **recipe).check()
    marks = sight.marks(cluster)
    assert {marks[node]["card"] for node in NODES} == {"ready"}
    runner.play("enable", **recipe).unchanged()


def test_a_module_with_a_dra_driver_alone_becomes_a_recipe(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    (node,) = cluster.add_nodes(1, profile="fpga")
    selector = {"cel": {"expression": 'device.driver == "fpga.example.org"'}}
    module = resource(
        "kmm.sigs.x-k8s.io/v1beta1",
        "Module",
        "fpga.cards",
        {
            "selector": {"feature.node.kubernetes.io/pci-1200_10ee.present": "true"},
            "dra": {
                "driverName": "fpga.example.org",
                "container": {"image": "registry.example.org/fpga/fpga-dra-driver:0.3.0"},
                "deviceClasses": [{"name": "fpga-cards", "selectors": [selector]}],
            },
        },
    )
    module["metadata"]["namespace"] = "fpga"
    (tmp_path / "module.json").write_text(json.dumps(module))
    folder = {"hardware_enablement_recipe_dir": str(tmp_path)}
    made = runner.run_program("import_kmm", import_kmm_file=str(tmp_path / "module.json"), **folder)
    assert "dra.driverName -> the proof resource_slices" in made.check().output

    grant(cluster, "dra", "cluster-admin")  # its own rights are looked at in test_dra.py
    admin = Runner(cluster, "dra", tmp_path)
    recipe = {"hardware_enablement_recipe": "fpga-cards", **folder}
    assert "would create" in admin.play("enable", "--check", "--diff", **recipe).check().output
    admin.play("enable", **recipe).check()
    assert sight.marks(cluster)[node]["fpga-cards"] == "ready"
    classes = cluster.api.get("/apis/resource.k8s.io/v1/deviceclasses/fpga-cards")
    assert classes["spec"]["selectors"] == [selector]
    admin.play("enable", **recipe).unchanged()


def test_settings_of_amd_s_operator_are_enabled(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    (node,) = cluster.add_nodes(1, profile="gpu-mi300x")
    cluster.kubectl("annotate", "node", node, "sim.hardware-enablement.io/preinstalled=driver")
    spec = {
        "driver": {"enable": False, "blacklist": True},
        "devicePlugin": {"enableNodeLabeller": True},
        "metricsExporter": {
            "enable": True,
            "prometheus": {"serviceMonitor": {"enable": True, "interval": "15s"}},
        },
        "selector": {"feature.node.kubernetes.io/amd-gpu": "true"},
    }
    define(cluster, DEVICE_CONFIGS, MODULES, NODE_MODULES)
    operator(cluster, "kube-amd-gpu", "amd-gpu-operator-controller-manager")
    for made in (
        resource("amd.com/v1alpha1", "DeviceConfig", "gpus", spec),
        resource("kmm.sigs.x-k8s.io/v1beta1", "Module", "gpus", {}),
    ):
        made["metadata"]["finalizers"] = ["amd.node.kubernetes.io/x"]
        cluster.kubectl("create", "-n", "kube-amd-gpu", "-f", "-", stdin=json.dumps(made))

    run_guide(cluster, "from-amd-gpu-operator.md", "Read the settings", tmp_path)
    kept = yaml.safe_load((tmp_path / "deviceconfigs.yaml").read_text())["items"]
    assert [item["spec"] for item in kept] == [spec]
    saved = tmp_path / "amd.yml"
    since = cluster.mark()
    played = runner.play(
        "import_operator",
        operator_import_operator="amd-gpu-operator",
        operator_import_save=str(saved),
    ).check()
    assert runner.writes(since) == []
    assert "- driver.blacklist has no counterpart: the nodes' own amdgpu is theirs" in played.output
    assert "= selector: the recipe goes by this label, too" in played.output

    # What enable would refuse is said, and not written down.
    alone = resource("amd.com/v1alpha1", "DeviceConfig", "gpus", {"driver": {"version": "30.20.1"}})
    (tmp_path / "alone.yaml").write_text(json.dumps(alone))
    refused = runner.play(
        "import_operator",
        operator_import_operator="amd-gpu-operator",
        operator_import_file=str(tmp_path / "alone.yaml"),
        operator_import_save=str(tmp_path / "alone.yml"),
    )
    assert refused.code != 0
    assert "name where images are (driver_repository, driver_images)" in refused.output
    assert not (tmp_path / "alone.yml").exists()

    variables = yaml.safe_load(saved.read_text())
    assert variables["hardware_enablement_options"] == {
        "driver_enabled": False,
        "exporter_enabled": True,
        "monitoring_interval": "15s",
    }
    variables["hardware_enablement_options"]["exporter_validation"] = False

    grant(
        cluster, "amd", "cluster-admin"
    )  # its own rights are looked at in test_recipes_at_once.py
    admin = Runner(cluster, "amd", tmp_path)
    refused = admin.play("enable", **variables)
    assert "does what amd-gpu is to do (DeviceConfig kube-amd-gpu/gpus)" in refused.output
    run_guide(cluster, "from-amd-gpu-operator.md", "Change over", tmp_path)
    assert set(_replicas(cluster, "kube-amd-gpu").values()) == {0}
    assert "would create" in admin.play("enable", "--check", "--diff", **variables).check().output
    admin.play("enable", **variables).check()
    assert sight.marks(cluster)[node]["amd-gpu"] == "ready"
    admin.play("enable", **variables).unchanged()

    # A device plugin that the operator was told to leave out is left out.
    off = resource("amd.com/v1alpha1", "DeviceConfig", "gpus", spec)
    off["spec"]["devicePlugin"] = {"enableDevicePlugin": False, "enableNodeLabeller": False}
    (tmp_path / "off.yaml").write_text(json.dumps(off))
    runner.play(
        "import_operator",
        operator_import_operator="amd-gpu-operator",
        operator_import_file=str(tmp_path / "off.yaml"),
        operator_import_save=str(tmp_path / "off.yml"),
    ).check()
    variables = yaml.safe_load((tmp_path / "off.yml").read_text())
    variables["hardware_enablement_options"]["exporter_validation"] = False
    admin.play("enable", **variables).check()
    assert sight.marks(cluster)[node]["amd-gpu"] == "ready"
    listed = json.loads(cluster.kubectl("get", "daemonsets", "-n", "amd-gpu", "-o", "json"))
    assert [item["metadata"]["name"] for item in listed["items"]] == ["amd-gpu-exporter"]
    admin.play("enable", **variables).unchanged()
