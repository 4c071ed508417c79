# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recipe cert-manager-ping-pong: what it depends on is proven first, and goes on where it stopped.

cert-manager is played: its kinds, and what it says when it has issued. That the programs talk is
seen in tests/unit/recipes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cluster import Cluster
from tests.cluster.api import Api
from tests.cluster.objects import create_crds, read_objects
from tests.cluster.paths import HERE
from tests.integration.conftest import grant
from tests.integration.operators import Operator
from tests.integration.plays import Runner

pytestmark = pytest.mark.recipes

RECIPE, BASE = "cert-manager-ping-pong", "cert-manager"
VARIABLES: dict[str, Any] = {
    "hardware_enablement_recipe": RECIPE,
    "hardware_enablement_failure_grace": 5,
}
GROUP = "/apis/cert-manager.io/v1"


class CertManager(Operator):
    """Issues what is asked for by an issuer that is there."""

    def __init__(self, api: Api) -> None:
        super().__init__()
        self._api = api

    def reconcile(self) -> None:
        for certificate in self._api.get(f"{GROUP}/certificates")["items"]:
            if not certificate.get("status"):
                self._issue(certificate["metadata"], certificate["spec"])

    def _issue(self, metadata: dict[str, Any], spec: dict[str, Any]) -> None:
        place = f"{GROUP}/namespaces/{metadata['namespace']}"
        self._api.get(f"{place}/issuers/{spec['issuerRef']['name']}")
        secret = {"metadata": {"name": spec["secretName"]}, "stringData": {"tls.crt": "issued"}}
        self._api.create(f"/api/v1/namespaces/{metadata['namespace']}/secrets", secret)
        ready = {"type": "Ready", "status": "True", "reason": "Ready"}
        path = f"{place}/certificates/{metadata['name']}/status"
        self._api.patch(path, {"status": {"conditions": [ready]}})


def test_what_it_depends_on_comes_first_and_goes_on_where_it_stopped(
    cluster: Cluster, runner: Runner
) -> None:
    grant(cluster, runner.user, "cluster-admin")
    missing = runner.play("enable", **VARIABLES)
    assert missing.code != 0
    assert f"{RECIPE} is not enabled, since {BASE}, which it depends on, is not ready" in (
        missing.output
    )
    assert "certificates.cert-manager.io" in missing.output

    create_crds(cluster.api, read_objects(HERE / "crds" / "cert-manager.yaml"))
    with CertManager(cluster.api).running():
        runner.play("enable", **VARIABLES).check()
        runner.play("enable", **VARIABLES).unchanged()

        kept = runner.play("disable", hardware_enablement_recipe=BASE)
        assert kept.code != 0
        assert RECIPE in kept.output
        for name in (RECIPE, BASE):
            runner.play("disable", hardware_enablement_recipe=name).check()
