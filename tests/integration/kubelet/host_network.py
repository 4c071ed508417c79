# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pods of the tests' network reach no loopback address, which the API server listens on: these objects
put pods on the host's network."""

from __future__ import annotations

from typing import Any

from tests.cluster import Cluster

Obj = dict[str, Any]
_GROUP, _KIND = "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy"


def with_api_server(
    cluster: Cluster, name: str, app: str, container: str, host: str = "127.0.0.1"
) -> list[Obj]:
    """What a network for Services does elsewhere: the pods of an app find the API server by their
    environment. host: what their node calls it."""
    address = {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": str(cluster.record.ports.apiserver),
    }
    env = ", ".join(
        f"Object.spec.containers.env{{name: {each!r}, value: {value!r}}}"
        for each, value in address.items()
    )
    changed = f"containers: [Object.spec.containers{{name: {container!r}, env: [{env}]}}]"
    return on_host_network(name, app, changed)


def on_host_network(name: str, app: str, containers: str = "") -> list[Obj]:
    """A policy for the pods of an app, and its binding. containers: what of the pods' spec is
    changed besides, in CEL."""
    spec = ", ".join(filter(None, ("hostNetwork: true", containers)))
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["pods"],
    }
    mutation = {"expression": f"Object{{spec: Object.spec{{{spec}}}}}"}
    policy = {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {
            "objectSelector": {"matchLabels": {"app.kubernetes.io/name": app}},
            "resourceRules": [rule],
        },
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": mutation}],
    }
    metadata = {"name": name}
    bound = {"policyName": name}
    return [
        {"apiVersion": _GROUP, "kind": _KIND, "metadata": metadata, "spec": policy},
        {"apiVersion": _GROUP, "kind": f"{_KIND}Binding", "metadata": metadata, "spec": bound},
    ]
