# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRDs are served when ensure() returns, whoever has applied them."""

from __future__ import annotations

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.definitions import (
    ensure,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import (
    NAME,
    RECORD,
    definition,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
)

from .scripted_cluster import Answer, ScriptedCluster, refusal

__all__ = ["fake"]
PLURAL = "customresourcedefinitions"


def test_what_another_run_applies_meanwhile_is_waited_for(fake: FakeServer) -> None:
    """Runs that begin together on a new cluster all want the same CRD."""
    cluster = ScriptedCluster(fake)
    established = cluster.objects[PLURAL][NAME]
    cluster.remove(PLURAL, NAME)

    def happens(asked: Asked) -> Answer | None:
        there = cluster.objects[PLURAL].get(NAME)
        if asked.path == f"/apis/{RECORD.api_version}" and "status" not in (there or {}):
            return refusal(404, "NotFound")
        if PLURAL in asked.path and asked.method == "PATCH" and not there:
            cluster.put(PLURAL, definition())
        elif PLURAL in asked.path and "watch=" in asked.path:
            cluster.put(PLURAL, established)
        return None

    cluster.refuse = happens
    client = fake.client()
    assert not client.serves(RECORD.api_version, RECORD.kind)
    assert not ensure(client, [definition()])
    assert client.serves(RECORD.api_version, RECORD.kind)
