# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The core of rmd_reconcile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional

from .._cluster.client import Client, connect
from .._json import Obj
from .._runs.context import RunContext
from .._runs.guard import Guard, given_back
from . import reconcile_results
from .daemon.daemons import open_fleet
from .nodes.node_fleet import Fleet
from .nodes.node_results import WriteSettings
from .objects import object_store
from .objects.operator_crds import ensure_definitions
from .objects.operator_names import WORKLOAD
from .objects.reconcile import Reconciliation
from .objects.workload_spec import Name
from .objects.workload_state import OnNode
from .pods.pod_work import PodWork
from .rmd_rights import RECIPE


def run(params: Mapping[str, Any], context: RunContext) -> Obj:
    """Make RMD on all nodes equal to the RmdWorkload objects."""
    client = connect(params)
    # In check mode the kinds may be missing still; then there are no objects.
    defined = False if context.check_mode else ensure_definitions(client)
    if context.check_mode and not client.serves(WORKLOAD.api_version, WORKLOAD.kind):
        return {
            "changed": True,
            "workloads": [],
            "nodes": [],
            "pods": [],
            "requests": {},
            "offered": {},
        }
    with open_fleet(client, params, None) as fleet:
        work = _Reconciliation(client, fleet, params, context)
        work.observe(dry=True)
        if work.has_work and not context.check_mode:
            # The lock is the deployment's, too: daemons are not replaced or removed meanwhile.
            with given_back(client, RECIPE, context):
                Guard(client, RECIPE, context).before_write(float(params["lock_wait"]))
                work.observe(dry=False)
                work.finish()
        else:
            work.finish()
        result = work.result()
    result["changed"] = result["changed"] or defined
    return (
        reconcile_results.judged(result)
        if params["require_ready"] and not context.check_mode
        else result
    )


class _Reconciliation:
    """One task: look, once more when the lock is held, and finish."""

    def __init__(
        self, client: Client, fleet: Fleet, params: Mapping[str, Any], context: RunContext
    ) -> None:
        self._client = client
        self._fleet = fleet
        self._params = params
        self._context = context
        self._rows: list[Obj] = []
        self._offered: dict[str, Optional[int]] = {}

    @property
    def has_work(self) -> bool:
        """Whether there is more to write than statuses."""
        return self._objects.has_work or self._pods.changed

    def observe(self, *, dry: bool) -> None:
        """See what is declared, what pods ask for (writing that unless dry) and what runs; decide
        what to send."""
        params = self._params
        settings = WriteSettings.of(params, check_mode=self._context.check_mode)
        snapshot = object_store.observe(self._client)
        fleet = self._fleet
        self._objects = Reconciliation(self._client, snapshot, fleet, settings, self._context)
        form, policy = params["pod_form"], params["failure_policy"]
        self._pods = PodWork(self._client, form, policy, self._context)
        self._objects.observe()
        workloads = snapshot.workloads
        if params["pods"] and fleet.agents:
            workloads = self._pods.declare(workloads, self._objects.views, dry=dry)
        self._objects.decide(workloads)

    def finish(self) -> None:
        """Send what differs, and tell what came of it."""
        params, objects, pods = self._params, self._objects, self._pods
        objects.converge()
        if not self._context.check_mode:
            objects.tell()
        if params["extended_resource"]:
            self._offered = objects.offer()
        if params["pods"]:
            self._rows = pods.report(pods.failures(objects.declared, self._states()))

    def result(self) -> Obj:
        """What the task returns."""
        objects, pods = self._objects, self._pods
        result = reconcile_results.make(
            objects, self._states(), pods.decided, self._offered, self._rows
        )
        result["changed"] = objects.changed or pods.changed
        result["requests"] = self._fleet.requests
        return result | reconcile_results.show(objects, pods.decided, self._offered, self._context)

    def _states(self) -> dict[Name, dict[str, OnNode]]:
        return {entry.name: self._objects.states(entry) for entry in self._objects.declared}
