# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nodes that change from an operator's operands to ours, in turns, and drivers' pods that get labels."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._nodes.facts import NodeFacts
from ansible_collections.hardware.enablement.plugins.module_utils._operators.driver_adoption import (
    adopt_pods,
)
from ansible_collections.hardware.enablement.plugins.module_utils._operators.node_takeover import (
    NodeTakeover,
    TakeoverScope,
)
from ansible_collections.hardware.enablement.plugins.module_utils._proofs.snapshot import (
    ClusterSnapshot,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.phases import (
    Phase,
    Result,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.validation.walk import (
    Walker,
    WalkSettings,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import world
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

# A fixture.
__all__ = ["fake"]

Obj = dict[str, Any]
DEPLOY = "nvidia.com/gpu.deploy."
ON = {f"{DEPLOY}driver": "pre-installed", f"{DEPLOY}device-plugin": "true"}
LEFT = {"hardware-enablement.io/taken-over": "x"}


def pod(name: str, node: str, uid: str = "", **labels: str) -> Obj:
    """A pod, of a DaemonSet where uid is that one's."""
    owners = [{"kind": "DaemonSet", "uid": uid, "controller": True}] if uid else []
    metadata = {"name": name, "namespace": "gpu", "uid": name, "labels": labels}
    return {
        "metadata": {**metadata, "ownerReferences": owners},
        "spec": {"nodeName": node},
    }


class Bed:
    """Two nodes of an operator, whose device plugin runs on both; on the first one something is left."""

    def __init__(self, fake: FakeServer) -> None:
        nodes = [world.node_object(name, labels=ON) for name in ("n1", "n2")]
        self.cluster = ScriptedCluster(fake, *nodes)
        for each in (pod("a", "n1", "plugin"), pod("b", "n2", "plugin"), pod("c", "n1", **LEFT)):
            self.cluster.put("pods", each)
        snapshot = ClusterSnapshot(
            {each["metadata"]["name"]: NodeFacts.from_object(each) for each in nodes}
        )
        self.walker = Walker([world.plan("driver")], WalkSettings("x", "gpu"), snapshot, 0.0)
        scope = TakeoverScope("x", "gpu", frozenset({"plugin"}), ["n1", "n2"], 1)
        # How many writes there were when the lock was looked at.
        self.looked: list[int] = []
        self.takeover = NodeTakeover(
            fake.client(),
            scope,
            lambda: self.looked.append(len(self.cluster.writes)),
            RunContext(secrets={"s3cret"}),
        )
        self.takeover.announce(self.walker)

    def labels(self, node: str) -> Obj:
        """The operator's labels of a node."""
        labels = self.cluster.objects["nodes"][node]["metadata"]["labels"]
        return {name: value for name, value in labels.items() if name.startswith(DEPLOY)}

    def prove(self, node: str, phase: Phase, *, final: bool = True) -> None:
        """What the walk finds."""
        result = Result("driver", phase, message="no device of s3cret", final=final)
        self.walker.results[(node, "driver")] = result


@pytest.fixture
def bed(fake: FakeServer) -> Bed:
    """As they are in the beginning."""
    return Bed(fake)


def test_a_node_is_held_until_its_turn_and_until_the_operands_have_left(bed: Bed) -> None:
    assert bed.walker.held.keys() == {"n1", "n2"}
    bed.takeover.act(bed.walker)
    # What the node brings stays as it is; what no DaemonSet takes away is deleted.
    assert bed.labels("n1") == {**ON, f"{DEPLOY}device-plugin": "false"}
    assert bed.labels("n2") == ON
    assert bed.cluster.deleted == ["c"]
    assert bed.looked == [0]
    bed.takeover.act(bed.walker)
    assert bed.walker.held.keys() == {"n1", "n2"}
    del bed.cluster.objects["pods"]["a"]
    assert bed.takeover.act(bed.walker) == {"n1"}
    assert bed.walker.held.keys() == {"n2"}
    assert bed.takeover.is_over() is False


def test_the_next_node_follows_one_that_is_proven(bed: Bed) -> None:
    bed.takeover.act(bed.walker)
    del bed.cluster.objects["pods"]["a"]
    bed.takeover.act(bed.walker)
    bed.prove("n1", Phase.READY)
    bed.takeover.act(bed.walker)
    assert bed.takeover.taken == ["n1"]
    assert bed.labels("n2")[f"{DEPLOY}device-plugin"] == "false"
    del bed.cluster.objects["pods"]["b"]
    bed.takeover.act(bed.walker)
    bed.prove("n2", Phase.READY)
    bed.takeover.act(bed.walker)
    assert bed.takeover.taken == ["n1", "n2"]
    assert bed.takeover.is_over() is None


def test_one_that_is_not_proven_ends_it(bed: Bed) -> None:
    bed.takeover.act(bed.walker)
    del bed.cluster.objects["pods"]["a"]
    bed.takeover.act(bed.walker)
    # It may yet come up.
    bed.prove("n1", Phase.FAILED, final=False)
    bed.takeover.act(bed.walker)
    assert bed.takeover.failed == {}
    bed.prove("n1", Phase.FAILED)
    bed.takeover.act(bed.walker)
    assert bed.takeover.failed == {"n1": "driver: no device of ********"}
    assert bed.takeover.left == ["n2"]
    assert bed.labels("n2") == ON
    assert bed.takeover.is_over() is True


def test_a_driver_s_pod_gets_our_labels_and_counts_as_of_no_version(bed: Bed) -> None:
    made = pod("d", "n1", "driver", **{"app": "theirs", "pod-template-generation": "1"})
    bed.cluster.put("pods", made)
    adopt_pods(bed.takeover.client, {"n1": made}, {"n1": {"app.kubernetes.io/instance": "ours"}})
    assert bed.cluster.objects["pods"]["d"]["metadata"]["labels"] == {
        "app": "theirs",
        "app.kubernetes.io/instance": "ours",
        "pod-template-generation": "0",
    }
