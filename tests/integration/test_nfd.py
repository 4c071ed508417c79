# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook nfd where somebody else has deployed Node Feature Discovery: it gets rules, of which its own
master makes labels, and nothing else."""

from __future__ import annotations

import json

import pytest

from tests.cluster import Cluster
from tests.integration import sight
from tests.integration.plays import Runner
from tests.integration.waiting import wait_until, wait_until_none

pytestmark = pytest.mark.recipes

PRESENT = "feature.node.kubernetes.io/pci-10de.present"


@pytest.fixture(scope="module")
def runner(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Plays with the rights that the playbook rights writes down for the recipe nfd."""
    folder = tmp_path_factory.mktemp("nfd")
    made, file = Runner(cluster, "nfd", folder), folder / "rights.yaml"
    made.without_kubeconfig().play(
        "rights",
        hardware_enablement_recipe="nfd",
        hardware_enablement_rights_file=str(file),
        hardware_enablement_rights_subjects=[{"kind": "User", "name": "nfd"}],
    ).check()
    cluster.kubectl("apply", "-f", str(file))
    return made


def with_label(cluster: Cluster) -> set[str]:
    """The nodes that have a label of the rules."""
    return {
        name for name, node in sight.nodes(cluster).items() if PRESENT in node["metadata"]["labels"]
    }


def test_what_others_deployed_is_left_alone_and_gets_rules(
    cluster: Cluster, runner: Runner
) -> None:
    before = cluster.kubectl("get", "namespaces,daemonsets,deployments", "-A", "-o", "name")
    said = runner.play("nfd").check().output
    assert "NodeFeatureRule nfd" in said
    after = cluster.kubectl("get", "namespaces,daemonsets,deployments", "-A", "-o", "name")
    assert after == before
    wait_until(
        lambda: with_label(cluster) == {"gpu-old-1", "gpu-old-2", "gpu-new-1"},
        "NFD's master labels nodes by our rule",
    )
    runner.play("nfd").unchanged()

    runner.play("disable", hardware_enablement_recipe="nfd").check()
    wait_until_none(lambda: with_label(cluster), "labels of the rule")


@pytest.mark.parametrize(
    "labels", [{"app.kubernetes.io/name": "node-feature-discovery"}, {"app": "nfd"}]
)
def test_a_second_one_is_refused_with_the_name_of_the_first(
    cluster: Cluster, runner: Runner, labels: dict[str, str]
) -> None:
    pod = {"nodeSelector": {"no": "node"}, "containers": [{"name": "worker", "image": "nfd"}]}
    daemonset = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "theirs", "namespace": "default", "labels": labels},
        "spec": {
            "selector": {"matchLabels": {"app": "theirs"}},
            "template": {"metadata": {"labels": {"app": "theirs"}}, "spec": pod},
        },
    }
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(daemonset))
    played = runner.play("nfd", nfd_options={"deploy": True})
    cluster.kubectl("delete", "daemonset", "theirs")
    assert played.code == 2
    assert "DaemonSet default/theirs" in played.output
    assert "SpecialResource" not in played.output
