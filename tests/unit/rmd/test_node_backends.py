# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who divides the cache of a node, against a scripted API server."""

from __future__ import annotations

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.node_backends import (
    DaemonsRequest,
    TlsRequest,
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
from tests.unit.forged_pods import FORGED, forged, made_by_daemonset

__all__ = ["fake"]
REQUEST = DaemonsRequest(TlsRequest("intel-rmd-client"), "intel-rmd")


def workload(component: str) -> Obj:
    """The DaemonSet of the recipe."""
    name = {"daemon": "intel-rmd", "agent": "intel-rmd-agent"}[component]
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "intel-rmd", "uid": f"uid-{component}"},
        "spec": {"template": {"spec": {"serviceAccountName": name}}},
    }


def put(cluster: ScriptedCluster, component: str, **labels: str) -> None:
    """A DaemonSet, and its pod."""
    daemonset = workload(component)
    name, uid = daemonset["metadata"]["name"], daemonset["metadata"]["uid"]
    cluster.put("daemonsets", daemonset)
    cluster.put("pods", made_by_daemonset(pod(component, **labels), name, name, uid))


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
    put(cluster, "daemon")
    put(cluster, "agent", **{BACK_END_LABEL: RESCTRL})
    with open_fleet(fake.client(), REQUEST, nodes) as fleet:
        assert {node: writer.dialect for node, writer in fleet.writers.items()} == {
            "n1": Dialect.RESCTRL
        }
    assert not [asked for asked in fake.asked if "secrets" in asked.path]


def test_a_daemon_whose_agent_only_looks_is_spoken_to_with_its_certificate(
    fake: FakeServer,
) -> None:
    cluster = ScriptedCluster(fake)
    put(cluster, "daemon")
    put(cluster, "agent")
    with (
        pytest.raises(InvalidInput, match="intel-rmd-client"),
        open_fleet(fake.client(), REQUEST),
    ):
        pass


FORGERIES = {
    **{how: (lambda found, how=how: forged(found, how)) for how in FORGED},
    "of a DaemonSet that is gone": lambda found: _owned(found, uid="uid-of-before"),
    "as another account": lambda found: _as_account(found, "default"),
}


def _owned(found: Obj, **fields: str) -> Obj:
    found["metadata"]["ownerReferences"][0].update(fields)
    return found


def _as_account(found: Obj, account: str) -> Obj:
    found["spec"]["serviceAccountName"] = account
    return found


@pytest.mark.parametrize("component", ["agent", "daemon"])
@pytest.mark.parametrize("how", FORGERIES)
def test_what_only_has_the_labels_is_neither_believed_nor_spoken_to(
    fake: FakeServer, how: str, component: str
) -> None:
    """It would be asked for its report, and told the account of RMD."""
    cluster = ScriptedCluster(fake)
    daemonset = workload(component)
    cluster.put("daemonsets", daemonset)
    name, uid = daemonset["metadata"]["name"], daemonset["metadata"]["uid"]
    found = made_by_daemonset(pod(component, **{BACK_END_LABEL: RESCTRL}), name, name, uid)
    cluster.put("pods", FORGERIES[how](found))
    with open_fleet(fake.client(), REQUEST) as fleet:
        assert (fleet.writers, fleet.agents) == ({}, {})
