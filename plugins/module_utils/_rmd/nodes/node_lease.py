# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One writer per node: a Lease, which also keeps what a node's workloads were while they are being
replaced.

The bodies that were deleted are written there before the DELETE and removed after the POST. A run
that was killed in between has left them, and the next one puts them back before it does anything
else."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..._cluster.api_client.client import Client
from ..._cluster.api_objects.labels import DOMAIN, LOCK_NAMESPACE
from ..._cluster.lease import LEASE, LockTimes, RunLock
from ..._json import Obj, parse_json, part
from ..._runs.context import RunContext

SAVED_ANNOTATION = f"{DOMAIN}/rmd-saved"
# No recipe's name has a dot, so no lock of a special resource is called so.
_PREFIX = "rmd."


class NodeLease:
    """This run's hold on a node. All methods raise EnablementError; none may be called by two
    threads at once."""

    def __init__(
        self,
        client: Client,
        node: str,
        context: RunContext,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._name = lock_name(node)
        self._lock = RunLock(
            client, self._name, context.run_id, info=context.run_info, clock=LockTimes(sleep=sleep)
        )
        self._has_saved = False
        self.is_held = False

    def acquire(self, wait_s: float) -> None:
        """Take the Lease, waiting for another run's at most so long; raises LockHeld."""
        self._lock.acquire(wait_s)
        self.is_held = True

    def check(self) -> None:
        """Before each write: look at the Lease, renew it where it is time; raises LockHeld when it
        was lost."""
        self._lock.check()

    def saved(self) -> list[Obj]:
        """What a run that was killed has left."""
        lease = self._client.get(LEASE, self._name, LOCK_NAMESPACE)
        found = saved_in(lease) if lease else []
        self._has_saved = bool(found)
        return found

    def save(self, bodies: Sequence[Mapping[str, Any]]) -> None:
        """Keep these bodies, and no others; none removes the annotation. No request where nothing
        would change."""
        if not bodies and not self._has_saved:
            return
        text = (
            json.dumps([dict(body) for body in bodies], separators=(",", ":")) if bodies else None
        )
        self._client.patch(
            LEASE,
            self._name,
            LOCK_NAMESPACE,
            {"metadata": {"annotations": {SAVED_ANNOTATION: text}}},
        )
        self._has_saved = bool(bodies)

    def release(self) -> None:
        """Give the Lease back; what is saved stays."""
        if self.is_held:
            self.is_held = False
            self._lock.release()


def lock_name(node: str) -> str:
    """The name of a node's Lease, also for the module run_lock."""
    return f"{_PREFIX}{node}"


def all_saved(client: Client) -> dict[str, list[Obj]]:
    """Node -> what a killed run has left there. One request."""
    leases = client.list(
        LEASE, namespace=LOCK_NAMESPACE, labels=f"app.kubernetes.io/managed-by={DOMAIN}"
    ).items
    names = ((lease["metadata"]["name"], lease) for lease in leases)
    found = {
        name.removeprefix(_PREFIX): saved_in(lease)
        for name, lease in names
        if name.startswith(_PREFIX)
    }
    return {node: bodies for node, bodies in found.items() if bodies}


def saved_in(lease: Mapping[str, Any]) -> list[Obj]:
    """The bodies in a Lease's annotation; none where somebody has spoiled it."""
    text = part(lease["metadata"], "annotations").get(SAVED_ANNOTATION)
    bodies: Any = []
    with contextlib.suppress(ValueError):
        bodies = parse_json(text) if text else []
    return [body for body in bodies if isinstance(body, dict)] if isinstance(bodies, list) else []
