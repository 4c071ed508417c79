# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""rmd_certificates against a scripted API server: made once, nobody else's overwritten, all shown is public."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._interface.arguments import (
    RMD_CERTIFICATES,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.certificates import renewal
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.certificates.secret_objects import (
    AUTHORITY,
    CLIENT,
    TRUST,
)
from ansible_collections.hardware.enablement.plugins.module_utils._runs.context import RunContext
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    FakeServer,
    fake,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states import runs
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.states.scripted_cluster import (
    Obj,
    ScriptedCluster,
)

pytest.importorskip("cryptography")
__all__ = ["fake"]


@pytest.fixture
def cluster(fake: FakeServer) -> ScriptedCluster:
    """An empty namespace for RMD."""
    found = ScriptedCluster(fake)
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "intel-rmd"}}
    found.put("namespaces", namespace)
    return found


def certify(fake: FakeServer, *, check: bool = False, **given: Any) -> Obj:
    context = RunContext(check_mode=check, diff=True, run_id="run-1")
    return runs.run(renewal.TASK, RMD_CERTIFICATES, fake, context, nodes=["n1", "n2"], **given)


def test_they_are_made_once_and_no_key_is_shown(fake: FakeServer, cluster: ScriptedCluster) -> None:
    result = certify(fake)
    assert result["issued"] == ["n1", "n2"]
    assert "PRIVATE KEY" not in json.dumps([result, cluster.objects["configmaps"]])
    written = [write for write in cluster.writes if "leases" not in write]
    assert written[0] == "POST namespaces/hardware-enablement"
    assert written[-1] == f"PATCH configmaps/{TRUST}"
    assert cluster.objects["leases"]["intel-rmd"]["spec"]["holderIdentity"] == ""
    cluster.writes.clear()
    assert not certify(fake)["changed"]
    assert cluster.writes == []


def test_check_mode_makes_none(fake: FakeServer, cluster: ScriptedCluster) -> None:
    assert certify(fake, check=True)["changed"]
    assert cluster.writes == []


def test_a_secret_of_somebody_else_is_not_overwritten(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    metadata = {"name": CLIENT, "namespace": "intel-rmd"}
    cluster.put("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    with pytest.raises(EnablementError, match="is somebody else's"):
        certify(fake)
    assert cluster.writes == []


def test_only_ours_are_removed(fake: FakeServer, cluster: ScriptedCluster) -> None:
    certify(fake)
    metadata = {"name": "theirs", "namespace": "intel-rmd"}
    cluster.put("secrets", {"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    assert f"Secret intel-rmd/{AUTHORITY}" in certify(fake, state="absent")["removed"]
    assert list(cluster.objects["secrets"]) == ["theirs"]


def test_those_that_are_provided_have_to_fit(fake: FakeServer, cluster: ScriptedCluster) -> None:
    certify(fake)
    taken = certify(fake, source="provided")
    assert not taken["changed"]
    cluster.objects["secrets"][CLIENT]["data"]["tls.key"] = "bm9uZQ=="
    with pytest.raises(EnablementError, match="key does not belong to the certificate"):
        certify(fake, source="provided")


def test_who_may_only_look_is_told_what_of_a_removal_can_be_seen(
    fake: FakeServer, cluster: ScriptedCluster
) -> None:
    certify(fake)
    seen = fake.answer
    fake.answer = lambda asked: (403, {}, {}) if "/secrets" in asked.path else seen(asked)
    result = certify(fake, check=True, state="absent")
    assert result["removed"] == [f"ConfigMap intel-rmd/{TRUST}"]
    with pytest.raises(EnablementError, match="secrets"):
        certify(fake, state="absent")
    assert AUTHORITY in cluster.objects["secrets"]
