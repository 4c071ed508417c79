# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The graph of a recipe is the order, also of what node affinity cannot hold back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.api import Api
from tests.integration import sight
from tests.integration.conftest import grant
from tests.integration.operators import Operator
from tests.integration.plays import Runner

pytestmark = pytest.mark.recipes

RECIPE = {
    "hardware_enablement_recipe": "ping-pong",
    "hardware_enablement_recipe_dir": str(Path(__file__).parents[1] / "recipes"),
}
GROUP = "ping-pong.example.org"
CERTIFICATES = f"/apis/{GROUP}/v1/namespaces/ping-pong/certificates"
DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": f"certificates.{GROUP}"},
    "spec": {
        "group": GROUP,
        "names": {"kind": "Certificate", "plural": "certificates"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {"days": {"type": "integer", "minimum": 1}},
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            }
        ],
    },
}


class Authority(Operator):
    """The program in the authority's pod: as soon as that is available it brings its kind, and
    signs."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self._cluster = cluster
        self._api = Api(cluster.kubeconfig)

    def reconcile(self) -> None:
        deployments = self._api.get("/apis/apps/v1/deployments")["items"]
        if not any(
            item["metadata"]["name"] == "authority" and available(item) for item in deployments
        ):
            return
        self._cluster.kubectl("apply", "-f", "-", stdin=json.dumps(DEFINITION))
        for item in self._api.get(CERTIFICATES)["items"]:
            if not item.get("status"):
                self._sign(item["metadata"]["name"])

    def _sign(self, name: str) -> None:
        patch = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        arguments = (
            "patch",
            f"certificates.{GROUP}",
            name,
            "-n",
            "ping-pong",
            "--subresource=status",
        )
        self._cluster.kubectl(*arguments, "--type=merge", "-p", json.dumps(patch))


def available(deployment: dict[str, Any]) -> bool:
    """Whether a Deployment's pods are there."""
    return bool(deployment.get("status", {}).get("availableReplicas"))


def deployments(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """The Deployments of ping-pong by name."""
    items = cluster.api.get("/apis/apps/v1/namespaces/ping-pong/deployments")["items"]
    return {item["metadata"]["name"]: item for item in items}


def generations(cluster: Cluster) -> dict[str, int]:
    """How often each Deployment was changed."""
    return {name: item["metadata"]["generation"] for name, item in deployments(cluster).items()}


def created(item: dict[str, Any]) -> float:
    """When an object was made, in seconds since the epoch."""
    return sight.seconds(item["metadata"]["creationTimestamp"])


def since_available(item: dict[str, Any]) -> float:
    """When a Deployment became available, in seconds since the epoch."""
    conditions = {entry["type"]: entry for entry in item["status"]["conditions"]}
    return sight.seconds(conditions["Available"]["lastTransitionTime"])


@pytest.fixture(scope="module", autouse=True)
def _authority(cluster: Cluster, runner: Runner) -> Iterator[None]:
    # The recipe brings a kind of its own, which the rights for the shipped recipes do not name.
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "certificates"},
        "rules": [{"apiGroups": [GROUP], "resources": ["certificates"], "verbs": ["*"]}],
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(role))
    grant(cluster, runner.user, "certificates")
    with Authority(cluster).running():
        yield


@pytest.fixture
def absent(cluster: Cluster, runner: Runner) -> None:
    """The recipe is not enabled, and nothing of it is there."""
    if sight.phase(cluster, "ping-pong"):
        runner.play("disable", **RECIPE).check()
    cluster.kubectl("delete", "crd", f"certificates.{GROUP}", "--ignore-not-found")


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner) -> None:
    """The recipe is enabled and ready."""
    if sight.phase(cluster, "ping-pong") != "ready":
        runner.play("enable", **RECIPE).check()


@pytest.mark.usefixtures("absent")
def test_check_predicts_what_a_run_then_does(runner: Runner) -> None:
    assert runner.play("enable", "--check", **RECIPE).check().changed > 0


@pytest.mark.usefixtures("absent")
def test_what_is_refused_in_its_turn_is_the_result_of_its_state(
    cluster: Cluster, runner: Runner
) -> None:
    played = runner.play("enable", **RECIPE, hardware_enablement_options={"days": 0})
    assert played.code != 0
    assert "Traceback" not in played.output
    assert "certificates failed" in played.output
    assert "should be greater than or equal to 1" in played.output, played.output
    assert "behind it: server, client" in played.output
    assert set(deployments(cluster)) == {"authority"}


@pytest.mark.usefixtures("absent")
def test_each_comes_when_what_it_requires_is_proven(cluster: Cluster, runner: Runner) -> None:
    played = runner.play("enable", **RECIPE).check()
    assert "ping-pong: ready, 3/3 nodes" in played.output
    found = deployments(cluster)
    signed = [created(item) for item in cluster.api.get(CERTIFICATES)["items"]]
    assert len(signed) == 2
    assert min(signed) >= since_available(found["authority"])
    assert created(found["server"]) >= max(signed)
    assert created(found["client"]) >= since_available(found["server"])
    # Each takes its time, so that what comes too early would be seen.
    assert since_available(found["server"]) - created(found["server"]) >= 2


@pytest.mark.usefixtures("enabled")
def test_deployments_run_on_the_hardwares_nodes(cluster: Cluster) -> None:
    pods = cluster.api.get("/api/v1/namespaces/ping-pong/pods")["items"]
    assert {pod["spec"]["nodeName"].partition("-")[0] for pod in pods} == {"gpu"}


@pytest.mark.usefixtures("enabled")
def test_a_second_run_changes_nothing(cluster: Cluster, runner: Runner) -> None:
    mark = cluster.mark()
    runner.play("enable", **RECIPE).unchanged()
    assert runner.writes(mark) == []


@pytest.mark.usefixtures("enabled")
def test_a_change_waits_for_its_turn_too(cluster: Cluster, runner: Runner) -> None:
    before = generations(cluster)
    runner.play("enable", **RECIPE, hardware_enablement_options={"seconds": 2}).check()
    assert generations(cluster) == {name: count + 1 for name, count in before.items()}
    runner.play("disable", **RECIPE).check()


def test_what_worked_is_taken_away_only_after_its_replacement_is_proven(
    cluster: Cluster, runner: Runner
) -> None:
    runner.play("enable_gpu").check()
    toolkit = (
        "get",
        "daemonset",
        "-n",
        "nvidia-gpu",
        "-o",
        "name",
        "-l",
        "hardware-enablement.io/state=runtime_hook",
    )
    ours = cluster.kubectl(*toolkit)
    assert ours
    running = sight.uids(cluster)
    off = {"toolkit_enabled": False}
    played = runner.play(
        "enable_gpu", hardware_enablement_options=off, hardware_enablement_failure_grace=2
    )
    assert played.code != 0
    assert "the host brings no NVIDIA container toolkit along" in played.output
    assert cluster.kubectl(*toolkit) == ours
    assert sight.uids(cluster) == running, "neither the toolkit nor what stands on it is touched"
    for node in ("gpu-old-1", "gpu-old-2", "gpu-new-1"):
        cluster.kubectl("annotate", "node", node, "sim.hardware-enablement.io/preinstalled=toolkit")
    runner.play("enable_gpu", hardware_enablement_options=off).check()
    assert cluster.kubectl(*toolkit) == ""
    runner.play("enable_gpu", hardware_enablement_options=off).unchanged()


UNPROVEN = {
    "recipe.yml": """\
apiVersion: hardware-enablement.io/v1
name: unproven
namespace: unproven
selector: {any_of: [{feature.node.kubernetes.io/pci-0302_10de.present: "true"}]}
options:
  most: {type: int, default: 0}
states:
  settings:
    role: state
    assets: [settings.yaml.j2]
    validate: [{resource: {api_version: v1, kind: ConfigMap, name: settings}}]
  scaler: {role: state, requires: [settings], assets: [scaler.yaml.j2]}
""",
    "settings.yaml.j2": """\
{apiVersion: v1, kind: Namespace, metadata: {name: {{ namespace }}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
""",
    "scaler.yaml.j2": """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: scaler}
spec:
  maxReplicas: {{ options.most }}
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}
""",
}


def test_what_is_refused_of_a_state_that_proves_nothing_is_told(
    cluster: Cluster, runner: Runner, tmp_path: Path
) -> None:
    folder = tmp_path / "unproven"
    folder.mkdir()
    for name, text in UNPROVEN.items():
        (folder / name).write_text(text, encoding="utf-8")
    rule = {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": ["*"]}
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "scalers"},
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps({**role, "rules": [rule]}))
    grant(cluster, runner.user, "scalers")
    given = {
        "hardware_enablement_recipe": "unproven",
        "hardware_enablement_recipe_dir": str(tmp_path),
    }
    # The namespace comes with the same run, so nothing could be tried out before.
    played = runner.play("enable", **given)
    assert played.code != 0
    assert "scaler failed" in played.output
    assert "maxReplicas" in played.output
    options = {"most": 2}
    runner.play("enable", **given, hardware_enablement_options=options).check()
    assert "autoscaling/scaler" in cluster.kubectl("get", "hpa", "-n", "unproven", "-o", "name")
    mark = cluster.mark()
    runner.play("enable", **given).unchanged()
    assert runner.writes(mark) == []
