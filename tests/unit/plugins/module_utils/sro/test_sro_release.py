# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The operator is ended by a person's word alone, and nothing is let go without the lock."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    LockHeld,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    SRO_RELEASE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._sro import sro_release
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

__all__ = ["fake"]

OPERATOR, SPACE = "special-resource-controller-manager", "openshift-sro"
LABEL = "specialresource.openshift.io/state-toy-0000"
CHECKING = RunContext(check_mode=True, run_id="run-1")


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """The operator runs, and has labelled a node; its pod goes as soon as it is scaled."""
    node = runs.card_node()
    node["metadata"]["labels"][LABEL] = "Ready"
    made = ScriptedCluster(fake, node)
    labels = {"app": "sro"}
    selector = {"matchLabels": labels}
    template = {"metadata": {"labels": labels}, "spec": {"containers": []}}
    made.put(
        "deployments",
        {
            "metadata": {"name": OPERATOR, "namespace": SPACE},
            "spec": {"replicas": 1, "selector": selector, "template": template},
        },
    )
    metadata = {"name": "sro-1", "namespace": SPACE, "labels": labels}
    made.put("pods", {"metadata": metadata, "spec": {"containers": []}})

    def scaled(asked: Asked) -> None:
        if asked.method == "PATCH" and asked.path.split("?")[0].endswith(OPERATOR):
            made.objects["pods"].pop("sro-1", None)

    made.refuse = scaled
    made.writes.clear()
    return made


def release(fake: FakeServer, context: RunContext | None = None, **given: Any) -> dict[str, Any]:
    return runs.run(sro_release.TASK, SRO_RELEASE, fake, context, name="toy", **given)


def held_by_another(cluster: ScriptedCluster) -> None:
    spec = {
        "holderIdentity": "another",
        "leaseDurationSeconds": 60,
        "renewTime": "2999-01-01T00:00:00.000000Z",
        "acquireTime": "2026-01-01T00:00:00.000000Z",
    }
    cluster.put("namespaces", {"metadata": {"name": "hardware-enablement"}})
    metadata = {"name": "toy", "namespace": "hardware-enablement"}
    cluster.put("leases", {"metadata": metadata, "spec": spec})


def of_others(cluster: ScriptedCluster) -> list[str]:
    """What was written beside the lock."""
    return [each for each in cluster.writes if "leases" not in each and "namespaces" not in each]


def test_the_operator_runs_on_without_a_persons_word(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    with pytest.raises(EnablementError) as caught:
        release(fake, state="ended")
    assert caught.value.what == "The Special Resource Operator runs in this cluster"
    assert caught.value.why == "it would undo what is taken over"
    assert cluster.writes == []


def test_check_mode_ends_nobody(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert release(fake, CHECKING, state="ended", end_operator=True)["changed"]
    assert cluster.writes == []


def test_it_is_scaled_to_nothing_with_the_lock_and_waited_for(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    assert release(fake, state="ended", end_operator=True)["changed"]
    assert cluster.objects["deployments"][OPERATOR]["spec"]["replicas"] == 0
    assert "leases/toy" in cluster.writes[0] + cluster.writes[1]
    assert not release(fake, state="ended", end_operator=True)["changed"]


def test_its_pods_are_waited_for(fake: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.refuse = lambda _asked: None
    with pytest.raises(EnablementError):
        release(fake, state="ended", end_operator=True, wait_timeout=0)


@pytest.mark.parametrize("state", ["ended", "released"])
def test_another_runs_lock_is_respected(
    fake: FakeServer, cluster: ScriptedCluster, state: str
) -> None:
    held_by_another(cluster)
    cluster.writes.clear()
    with pytest.raises(LockHeld):
        release(fake, state=state, end_operator=True)
    assert of_others(cluster) == []


def test_what_is_let_go_is_only_told_in_check_mode(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    assert release(fake, CHECKING, state="released")["released"] == ["Node n1"]
    assert cluster.writes == []


def test_the_operators_label_leaves_the_node_and_all_others_stay(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    labels = cluster.objects["nodes"]["n1"]["metadata"]["labels"]
    others = json.loads(json.dumps({name: labels[name] for name in labels if name != LABEL}))
    assert release(fake, state="released")["released"] == ["Node n1"]
    assert cluster.objects["nodes"]["n1"]["metadata"]["labels"] == others
    assert not release(fake, state="released")["changed"]
