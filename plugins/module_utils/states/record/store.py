# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the SpecialResource record: the CRD first, then the record, its status only where it differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.apply import execute, plan
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.client import Client
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import Kind
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import key_of
from ansible_collections.hardware.enablement.plugins.module_utils.states.record.crd import (
    API_VERSION,
    GROUP,
    KIND,
    NAME,
    PLURAL,
    VERSION,
    definition,
)

Obj = dict[str, Any]

RECORD = Kind(GROUP, VERSION, KIND, PLURAL, namespaced=False)


def read(client: Client, name: str) -> Obj | None:
    """The record, or None, also where the CRD is not there."""
    return client.get(RECORD, name)


def ensure_definition(client: Client) -> bool:
    """Apply the CRD and wait until it is served; returns whether that changed anything."""
    kind = client.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    wanted = definition()
    live = client.get(kind, NAME)
    changes = plan(client, [wanted], live={key_of(wanted): live} if live else {}, adopt=True, owner="", recreate=False)
    changes = [change for change in changes if change.action != "unchanged"]
    if changes:
        execute(client, changes, guard=lambda: None)
    return bool(changes)


def write(client: Client, record: Obj) -> Obj:
    """Apply the record (its spec and metadata)."""
    return client.apply({**record, "apiVersion": API_VERSION, "kind": KIND})


def write_status(client: Client, name: str, status: Mapping[str, Any]) -> Obj:
    """Replace the record's status."""
    replace = [{"op": "add", "path": "/status", "value": dict(status)}]
    return client.patch(RECORD, name, None, replace, subresource="status")
