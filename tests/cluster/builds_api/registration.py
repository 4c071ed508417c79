# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the API server of a cluster pass requests on to this one: certificate, Service,
APIServices."""

from __future__ import annotations

import base64
import time
from pathlib import Path

from tests.cluster.api import Api
from tests.cluster.builds_api.stored import GROUPS, VERSION, Obj
from tests.cluster.errors import ClusterError
from tests.cluster.objects import create_objects
from tests.cluster.pki import Authority, write_secret

# As in OpenShift.
NAMESPACE, SERVICE = "openshift-apiserver", "api"
_APISERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"


def make_certificate(pki: Path) -> None:
    """The server's certificate, for the name by which the API server knows it."""
    pair = Authority(pki, "kubernetes").server(
        SERVICE, [f"{SERVICE}.{NAMESPACE}.svc", "localhost", "127.0.0.1"]
    )
    (pki / "builds-api.crt").write_bytes(pair.certificate)
    write_secret(pki / "builds-api.key", pair.key)


def register(api: Api, port: int, pki: Path, *, timeout: float = 30) -> None:
    """Register the server, which must be up; comes back when its kinds are served."""
    authority = base64.b64encode((pki / "kubernetes.crt").read_bytes()).decode()
    create_objects(
        api, [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}]
    )
    create_objects(api, [_service(port)])
    create_objects(api, [_api_service(group, port, authority) for group in GROUPS])
    deadline = time.monotonic() + timeout
    while waiting := [group for group in GROUPS if not _is_available(api, group)]:
        if time.monotonic() > deadline:
            raise ClusterError(
                f"The API server did not serve {', '.join(waiting)} within {timeout:.0f} s: "
                f"see the conditions in `kubectl get apiservice {VERSION}.{waiting[0]} -o yaml`."
            )
        time.sleep(0.05)


def _service(port: int) -> Obj:
    # By name: the API server refuses endpoints with loopback addresses.
    spec = {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": SERVICE, "namespace": NAMESPACE},
        "spec": spec,
    }


def _api_service(group: str, port: int, authority: str) -> Obj:
    spec = {
        "group": group,
        "version": VERSION,
        "service": {"name": SERVICE, "namespace": NAMESPACE, "port": port},
        "caBundle": authority,
        "groupPriorityMinimum": 9900,
        "versionPriority": 15,
    }
    meta = {"name": f"{VERSION}.{group}"}
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": meta,
        "spec": spec,
    }


def _is_available(api: Api, group: str) -> bool:
    status = api.get(f"{_APISERVICES}/{VERSION}.{group}").get("status") or {}
    return any(
        item["type"] == "Available" and item["status"] == "True"
        for item in status.get("conditions") or []
    )
