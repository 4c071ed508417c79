# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pods become ours with their DaemonSet."""

from __future__ import annotations

from copy import deepcopy

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.changes import (
    Change,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.labels import (
    STATE_LABEL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.objects import (
    key_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.on_nodes.adopted_pods import (
    label_pods,
)
from ansible_collections.hardware.enablement.tests.unit.forged_pods import (
    DAEMONSET_UID,
    FORGED,
    Obj,
    forged,
    made_by_daemonset,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    ScriptedCluster,
)

__all__ = ["fake"]
BEFORE: Obj = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "driver", "namespace": "toy", "uid": DAEMONSET_UID},
    "spec": {
        "selector": {"matchLabels": {"app": "driver"}},
        "updateStrategy": {"type": "OnDelete"},
        "template": {"metadata": {"labels": {"app": "driver"}}, "spec": {}},
    },
}
METADATA = {"name": "own", "namespace": "toy", "uid": "own", "labels": {"app": "driver"}}
POD = made_by_daemonset(
    {"apiVersion": "v1", "kind": "Pod", "metadata": METADATA, "spec": {}}, "driver", "default"
)


@pytest.mark.parametrize("how", FORGED)
def test_only_pods_that_the_daemonset_has_made(fake: FakeServer, how: str) -> None:
    cluster = ScriptedCluster(fake)
    other = forged(POD, how)
    other["metadata"] |= {"name": "other", "uid": "other"}
    for pod in (POD, other):
        cluster.put("pods", deepcopy(pod))
    after = deepcopy(BEFORE)
    after["spec"]["template"]["metadata"]["labels"][STATE_LABEL] = "driver"
    change = Change(key_of(BEFORE), "update", BEFORE, after)
    change.adopted = True
    label_pods(fake.client(), [change], lambda: None)
    assert [name for name, _patch in cluster.patched] == ["own"]
