# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read and write the SpecialResource record: the CRD first, then the record, its status only where
it differs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_client.rights import CLUSTER, OF_RECIPE, READ, WRITE, Right
from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.definitions import ensure
from ..._json import Obj
from .crd import API_VERSION, KIND, RECORD, definition

# What the record needs: itself, and its CRD, unless an admin has applied that.
RIGHTS = (
    Right(DOMAIN, ("specialresources",), READ, CLUSTER, read_only=READ),
    Right(DOMAIN, ("specialresources",), WRITE, CLUSTER, (OF_RECIPE,)),
    Right(DOMAIN, ("specialresources/status",), ("patch",), CLUSTER, (OF_RECIPE,)),
    Right("apiextensions.k8s.io", ("customresourcedefinitions",), READ, CLUSTER, read_only=READ),
    Right(
        "apiextensions.k8s.io",
        ("customresourcedefinitions",),
        WRITE,
        CLUSTER,
        (f"specialresources.{DOMAIN}",),
    ),
)


def read(client: Client, name: str) -> Obj | None:
    """The record, or None, also where the CRD is not there."""
    return client.get(RECORD, name)


def ensure_definition(client: Client) -> bool:
    """Apply the CRD and wait until it is served; returns whether that changed anything."""
    return ensure(client, [definition()])


def write(client: Client, record: Obj) -> Obj:
    """Apply the record (its spec and metadata)."""
    return client.apply({**record, "apiVersion": API_VERSION, "kind": KIND})


def confirm(client: Client, name: str, looked: Mapping[str, Any]) -> None:
    """Note that a run has looked and found everything as it was. looked: the fields of the status that
    say when, and how long it took; None takes one away.

    Runs that disagree on these have all looked, so it takes no lock.
    """
    client.patch(RECORD, name, None, {"status": dict(looked)}, subresource="status")


def write_status(client: Client, name: str, status: Mapping[str, Any]) -> Obj:
    """Replace the record's status."""
    replace = [{"op": "add", "path": "/status", "value": dict(status)}]
    return client.patch(RECORD, name, None, replace, subresource="status")
