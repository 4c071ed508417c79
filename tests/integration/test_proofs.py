# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proofs about objects of any kind: watched, of the cluster and of each node. The tests build on
each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import Runner
from tests.integration.waiting import PATIENTLY, wait_until

pytestmark = pytest.mark.recipes

RECIPE = {
    "hardware_enablement_recipe": "proven",
    "hardware_enablement_recipe_dir": str(Path(__file__).parents[1] / "recipes"),
    "hardware_enablement_failure_grace": 3,
    # None, whatever a test before has recorded.
    "hardware_enablement_options": {},
}
GPU_NODES = ("gpu-old-1", "gpu-old-2", "gpu-new-1")
CRD: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "things.toy.example"},
    "spec": {
        "group": "toy.example",
        "scope": "Namespaced",
        "names": {"kind": "Thing", "plural": "things"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    },
                },
            }
        ],
    },
}
THING = {
    "apiVersion": "toy.example/v1",
    "kind": "Thing",
    "metadata": {"name": "one", "namespace": "proven"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}


def apply(cluster: Cluster, *objects: dict[str, Any]) -> None:
    for manifest in objects:
        cluster.kubectl("apply", "-f", "-", stdin=json.dumps(manifest))


@pytest.fixture
def enabled(cluster: Cluster, runner: Runner) -> None:
    """The recipe is enabled and ready, the agents' ConfigMaps are right."""
    apply(cluster, *configs(cluster))
    if sight.phase(cluster, "proven") != "ready":
        runner.play("enable", **RECIPE).check()


def configs(cluster: Cluster) -> list[dict[str, Any]]:
    """What says, for each node, which kernel its agent knows."""
    kernels = {
        name: sight.nodes(cluster)[name]["status"]["nodeInfo"]["kernelVersion"]
        for name in GPU_NODES
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"agent-{name}", "namespace": "default"},
            "data": {"kernel": kernel},
        }
        for name, kernel in kernels.items()
    ]


@pytest.mark.usefixtures("enabled")
def test_a_required_config_map_is_proven_once_and_for_all(cluster: Cluster, runner: Runner) -> None:
    # The agents take 5 s, and their clocks run on: what they stand on stays proven meanwhile, or
    # the run that enables them would not end.
    for node in GPU_NODES:
        assert (
            sight.nodes(cluster)[node]["metadata"]["labels"]["hardware-enablement.io/proven"]
            == "ready"
        )
    runner.play("enable", **RECIPE).unchanged()


@pytest.mark.usefixtures("enabled")
def test_a_change_of_a_watched_object_is_seen_at_once(cluster: Cluster, runner: Runner) -> None:
    wrong = configs(cluster)[0]
    apply(cluster, {**wrong, "data": {"kernel": "other"}})
    running = runner.start("enable", **{**RECIPE, "hardware_enablement_failure_grace": 60})
    wait_until(
        lambda: "agent on gpu-old-1: FieldDiffers" in (runner.folder / "enable.log").read_text(),
        "the run sees the change",
    )
    apply(cluster, wrong)
    assert running.wait(timeout=120) == 0, (runner.folder / "enable.log").read_text()


@pytest.mark.usefixtures("enabled")
def test_a_job_that_gives_up_ends_the_run_with_its_last_line(
    cluster: Cluster, runner: Runner
) -> None:
    cluster.kubectl("delete", "job", "setup", "-n", "proven")
    played = runner.play("enable", **{**RECIPE, "hardware_enablement_options": {"setup": "fail"}})
    assert played.code != 0
    assert "Job proven/setup failed: BackoffLimitExceeded" in played.output
    assert "no licence" in played.output
    cluster.kubectl("delete", "job", "setup", "-n", "proven")


@pytest.mark.usefixtures("enabled")
def test_a_kind_that_cannot_be_read_is_one_sentence_until_it_can(
    cluster: Cluster, runner: Runner
) -> None:
    things = {**RECIPE, "hardware_enablement_options": {"things": True}}
    played = runner.play("enable", **things)
    assert played.code != 0
    assert (
        "Thing one cannot be read: The API server does not serve Thing of toy.example/v1"
        in played.output
    )
    apply(cluster, CRD)
    cluster.kubectl("wait", "crd/things.toy.example", "--for=condition=Established", PATIENTLY)
    played = runner.play("enable", **things)
    assert played.code != 0
    assert "Thing one cannot be read:" in played.output
    assert "forbidden" in played.output
    running = runner.start("enable", **{**things, "hardware_enablement_failure_grace": 60})
    wait_until(
        lambda: "things: Unreadable" in (runner.folder / "enable.log").read_text(),
        "the run says that things cannot be read",
    )
    apply(cluster, THING)
    cluster.kubectl(
        "create", "clusterrole", "things", "--verb=get,list,watch", "--resource=things.toy.example"
    )
    cluster.kubectl(
        "create", "clusterrolebinding", "things", "--clusterrole=things", f"--user={runner.user}"
    )
    assert running.wait(timeout=120) == 0, (runner.folder / "enable.log").read_text()
    runner.play("enable", **things).unchanged()
    # The other tests of this file do without.
    runner.play("enable", **RECIPE).check()
