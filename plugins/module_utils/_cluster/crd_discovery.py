# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a CRD that was applied, by this run or by another one just now, to a kind that the API server
serves."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from .._errors import EnablementError
from .._json import Obj
from .api_client.api_errors import UnknownKind
from .api_client.client import Client
from .api_client.watch import WatchHub

ESTABLISHED_S = 60.0
_TICK_S = 1.0
_SERVED_PAUSE_S = 0.1


def wait_until_served(
    client: Client, definitions: Sequence[Obj], *, guard: Callable[[], None]
) -> None:
    """Wait until the API server serves what these CRDs bring, and the client knows of it.

    definitions: as they are in the cluster. guard is called meanwhile and may raise. Raises
    EnablementError where it takes longer than ESTABLISHED_S. Costs nothing where all is served.
    """
    deadline = time.monotonic() + ESTABLISHED_S
    waiting = {crd["metadata"]["name"] for crd in definitions if not _is_established(crd)}
    if waiting:
        _watch(client, waiting, deadline, guard)
    brought = [pair for crd in definitions for pair in _brought(crd)]
    while not waiting and not all(_is_served(client, *pair) for pair in brought):
        # Discovery follows the condition with a short delay, and cannot be watched.
        if time.monotonic() > deadline:
            waiting.update(f"{kind} of {api_version}" for api_version, kind in brought)
        time.sleep(_SERVED_PAUSE_S)
    if waiting:
        raise EnablementError(
            f"The API server does not serve {', '.join(sorted(waiting))} yet",
            where=client.host,
            why=f"{ESTABLISHED_S:.0f} s after the CRD was applied it is not established",
            todo="look at the CRD's conditions",
        )


def _watch(client: Client, waiting: set[str], deadline: float, guard: Callable[[], None]) -> None:
    """Take the names of CRDs that are established out of `waiting`, until the deadline."""
    hub = WatchHub(client)
    try:
        kind = client.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        for name in sorted(waiting):
            hub.subscribe(kind, fields=f"metadata.name={name}")
        while waiting and time.monotonic() < deadline:
            guard()
            for event in hub.next(_TICK_S):
                if _is_established(event.object):
                    waiting.discard(event.object["metadata"]["name"])
    finally:
        hub.close()


def _is_served(client: Client, api_version: str, kind: str) -> bool:
    try:
        client.kind(api_version, kind, refresh=True)
    except UnknownKind:
        return False
    return True


def _is_established(crd: Obj) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return any(
        entry.get("type") == "Established" and entry.get("status") == "True" for entry in conditions
    )


def _brought(crd: Obj) -> list[tuple[str, str]]:
    """(api version, kind) that a CRD brings."""
    spec = crd.get("spec") or {}
    served = [version["name"] for version in spec.get("versions") or [] if version.get("served")]
    return [(f"{spec['group']}/{name}", spec["names"]["kind"]) for name in served]
