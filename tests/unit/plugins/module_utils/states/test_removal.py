# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What disable does, against a scripted API server: states removed, what was taken over given back, the record last."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    PART_OF_LABEL,
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    SPECIAL_RESOURCE,
    STATE_APPLY,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states import (
    apply,
    special_resource,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import (
    runs,
    world,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
    refusal,
)

__all__ = ["fake"]

MARKED = {"hardware-enablement.io/toy.node-kernel": "k", "hardware-enablement.io/toy": "ready"}
DRY = RunContext(check_mode=True, run_id="run-1", clock=lambda: world.NOW)


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """A cluster in which the recipe was enabled, and took over a ConfigMap."""
    found = ScriptedCluster(fake, runs.card_node(card="yes", **MARKED))
    found.put("namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "toy"}})
    theirs = {**runs.ours("ConfigMap", "report"), "data": {"kept": "theirs"}}
    theirs["metadata"]["labels"] = {}
    found.put("configmaps", theirs)
    runs.run(apply.TASK, STATE_APPLY, fake, adopt=True)
    found.writes.clear()
    return found


def remove_states(fake: FakeServer, context: RunContext | None = None, **given: Any) -> Obj:
    return runs.run(
        apply.TASK, STATE_APPLY, fake, context, state="absent", wait_timeout=10, **given
    )


def remove_record(fake: FakeServer, context: RunContext | None = None) -> Obj:
    return runs.run(
        special_resource.TASK, SPECIAL_RESOURCE, fake, context, state="absent", wait_timeout=10
    )


def hold_a_device(cluster: ScriptedCluster) -> None:
    """A pod of somebody's on the node."""
    limits = {"resources": {"limits": {runs.RESOURCE: "1"}}, "name": "c"}
    spec = {"nodeName": "n1", "containers": [limits]}
    cluster.put(
        "pods",
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "a"},
            "spec": spec,
        },
    )


@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_removed_while_a_pod_holds_a_device(
    fake: FakeServer, cluster: ScriptedCluster, force: bool
) -> None:
    hold_a_device(cluster)
    if force:
        assert remove_states(fake, force=True)["changed"]
        return
    with pytest.raises(EnablementError, match=r"toy is in use.*pod a/p"):
        remove_states(fake)
    assert cluster.writes == []


def test_what_was_taken_over_is_given_back(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert cluster.objects["configmaps"]["report"]["data"] == {"kept": "yes"}
    remove_states(fake)
    assert cluster.objects["configmaps"]["report"]["data"] == {"kept": "theirs"}
    assert list(cluster.objects["daemonsets"]) == []


def test_namespaces_stay_when_states_go(fake: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.objects["namespaces"]["toy"]["metadata"]["labels"] = {
        PART_OF_LABEL: runs.PART_OF,
        STATE_LABEL: "report",
    }
    remove_states(fake)
    assert "toy" in cluster.objects["namespaces"]


def test_the_lock_is_taken_before_anything_is_removed(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    cluster.objects["leases"]["toy"]["spec"].update(holderIdentity="another")
    for remove in (remove_states, remove_record):
        with pytest.raises(EnablementError, match="Another run works on toy"):
            remove(fake)
    assert cluster.writes == []


def test_check_mode_removes_nothing(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert remove_states(fake, DRY)["changed"]
    assert remove_record(fake, DRY)["changed"]
    assert cluster.writes == []


def test_marks_go_and_the_record_goes_last(fake: FakeServer, cluster: ScriptedCluster) -> None:
    cluster.objects["namespaces"]["toy"]["metadata"]["labels"] = {PART_OF_LABEL: runs.PART_OF}
    record = cluster.objects["specialresources"]["toy"]["metadata"]["annotations"]
    record["hardware-enablement.io/made-namespaces"] = "toy"
    cluster.refuse = lambda asked: (
        refusal(403, "Forbidden", "a webhook keeps it")
        if (asked.method, asked.path.partition("?")[0]) == ("DELETE", "/api/v1/namespaces/toy")
        else None
    )
    with pytest.raises(EnablementError, match="a webhook keeps it"):
        remove_record(fake)
    assert "toy" in cluster.objects["specialresources"]
    cluster.refuse = lambda _asked: None
    assert remove_record(fake)["removed"][-1] == "SpecialResource toy"
    assert cluster.labels("n1") == {}
    assert cluster.objects["specialresources"] == {}
