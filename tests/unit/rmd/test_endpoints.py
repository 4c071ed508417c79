# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which pod is a node's daemon, and how it is reached, by the pod alone."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._rmd.daemon.endpoints import (
    Endpoint,
    endpoint_of,
    server_name,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.rmd_errors import RmdError

Obj = dict[str, Any]
TLS = {"name": "rmd-tls", "containerPort": 8443, "hostPort": 18443}
DEBUG = {"name": "rmd-debug", "containerPort": 8081}


def pod(
    name: str = "rmd-1",
    *ports: Obj,
    ready: str = "True",
    created: str = "2026-01-01",
    going: bool = False,
) -> Obj:
    metadata: Obj = {"name": name, "creationTimestamp": created}
    return {
        "metadata": {**metadata, **({"deletionTimestamp": created} if going else {})},
        "spec": {
            "nodeName": "n1",
            "containers": [{"ports": list(ports or (TLS,))}, {"ports": [DEBUG]}],
        },
        "status": {
            "podIP": "10.1.2.3",
            "hostIP": "192.0.2.1",
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


def found(*pods: Obj) -> Endpoint:
    endpoint = endpoint_of("n1", "intel-rmd", pods)
    assert isinstance(endpoint, Endpoint), endpoint
    return endpoint


def test_by_the_ports_name() -> None:
    addresses = {"pod_ip": ("10.1.2.3", 8443), "host_port": ("192.0.2.1", 18443)}
    assert found(pod()) == Endpoint("n1", "intel-rmd", "rmd-1", True, 8443, addresses)
    assert not found(pod("rmd-1", DEBUG)).tls
    assert found(pod("rmd-1", DEBUG, TLS)).tls


def test_the_newest_that_is_ready() -> None:
    old, new = pod("old"), pod("new", created="2026-02-01")
    assert found(old, new).pod == "new"
    assert found(old, {**new, **pod("new", ready="False", created="2026-02-01")}).pod == "old"
    assert found(old, pod("new", going=True, created="2026-02-01")).pod == "old"


@pytest.mark.parametrize(
    ("pods", "why"),
    [
        ([], "no pod of the daemon runs there"),
        ([pod(ready="False")], "rmd-1 is not ready yet"),
        ([pod("old", going=True)], "old is being replaced"),
        (
            [pod("rmd-1", {"name": "http", "containerPort": 80})],
            "no port called rmd-tls or rmd-debug",
        ),
    ],
)
def test_none(pods: list[Obj], why: str) -> None:
    error = endpoint_of("n1", "intel-rmd", pods)
    assert isinstance(error, RmdError)
    assert (error.kind, error.where) == ("no_daemon", "node n1")
    assert why in str(error)


def test_each_node_has_a_name_of_its_own() -> None:
    assert server_name("worker-1") == "worker-1.rmd.hardware-enablement.io"
