# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who divides the cache of a node, against a scripted API server."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.daemons_request import (
    DaemonsRequest,
    TlsRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.node_backends import (
    open_fleet,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.agents import (
    BACK_END_LABEL,
    RESCTRL,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.nodes.node_machine import (
    Dialect,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

__all__ = ["fake"]
REQUEST = DaemonsRequest(TlsRequest("intel-rmd-client"), "intel-rmd")


def pod(component: str, **labels: str) -> Obj:
    """A ready pod on n1."""
    ports = [{"name": "rmd-tls", "containerPort": 8443}]
    own = {"app.kubernetes.io/name": "intel-rmd", "app.kubernetes.io/component": component}
    metadata = {"name": component, "namespace": "intel-rmd", "labels": {**own, **labels}}
    ready = [{"type": "Ready", "status": "True"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {"nodeName": "n1", "containers": [{"name": component, "ports": ports}]},
        "status": {"phase": "Running", "podIP": "127.0.0.1", "conditions": ready},
    }


@pytest.mark.parametrize("nodes", [None, ["n1"]])
def test_a_daemon_that_is_about_to_go_needs_no_certificate(
    fake: FakeServer, nodes: list[str] | None
) -> None:
    """It may outlive its certificates for a moment."""
    cluster = ScriptedCluster(fake)
    cluster.put("pods", pod("daemon"))
    cluster.put("pods", pod("agent", **{BACK_END_LABEL: RESCTRL}))
    with open_fleet(fake.client(), REQUEST, nodes) as fleet:
        assert {node: writer.dialect for node, writer in fleet.writers.items()} == {
            "n1": Dialect.RESCTRL
        }
    assert not [asked for asked in fake.asked if "secrets" in asked.path]


def test_a_daemon_whose_agent_only_looks_is_spoken_to_with_its_certificate(
    fake: FakeServer,
) -> None:
    cluster = ScriptedCluster(fake)
    cluster.put("pods", pod("daemon"))
    cluster.put("pods", pod("agent"))
    with (
        pytest.raises(InvalidInput, match="intel-rmd-client"),
        open_fleet(fake.client(), REQUEST),
    ):
        pass
