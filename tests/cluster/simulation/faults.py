# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults by node and operand: `set_fault`, `clear_faults`, `list_faults`.

A fault is an entry in the node's annotation sim.hardware-enablement.io/faults, which the daemon
follows. The exception is `never-scheduled`, which lies before any kubelet: see unschedulable.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.cluster.errors import ClusterError

from . import operands, unschedulable
from .api import MERGE, ApiError, Session, load_kubeconfig
from .model import BEHAVIOURS, FAULTS_ANNOTATION, Obj, is_simulated, parse_behaviour

NEVER_SCHEDULED = "never-scheduled"
ALL_BEHAVIOURS = (*BEHAVIOURS, NEVER_SCHEDULED)
ALL = "*"


class FaultError(ClusterError):
    """One sentence: what cannot be set, and what can."""


def set_fault(
    kubeconfig: str | Path, node: str, operand: str, behaviour: str, **params: Any
) -> list[str]:
    """Make an operand misbehave on a node, from now on; the names of the nodes concerned.

    node: a simulated node's name, or "*" for all that exist now. operand: a role or a name of
    operands.yaml, or "*". behaviour: one of ALL_BEHAVIOURS; params as in model.Behaviour (seconds, exit_code,
    message, restart_seconds). Raises FaultError for unknown names and parameters.
    """
    table = operands.load()
    if operand != ALL and operand not in table.roles | table.names:
        known = ", ".join(sorted(table.roles | table.names))
        raise FaultError(f"There is no operand {operand!r}: choose one of {known} or '*'.")
    if behaviour == NEVER_SCHEDULED and params:
        raise FaultError(
            f"The behaviour {NEVER_SCHEDULED} takes no parameters: leave out {', '.join(sorted(params))}."
        )
    fault = {"behaviour": behaviour, **params}
    if behaviour != NEVER_SCHEDULED:
        try:
            parse_behaviour(fault)
        except (ValueError, TypeError) as error:
            raise FaultError(f"The fault cannot be set: {error}.") from error
    session = Session(load_kubeconfig(kubeconfig))
    names = _nodes(session, node)
    for name in names:
        # The note first: what is half done can then be cleared.
        _change(session, name, {operand: fault}, ())
        if behaviour == NEVER_SCHEDULED:
            unschedulable.forbid(session, name, operand, table)
    return names


def clear_faults(kubeconfig: str | Path, node: str = ALL, operand: str | None = None) -> list[str]:
    """Take faults away: of one operand, or of all; the names of the nodes that had some. Pods
    recover by themselves."""
    session = Session(load_kubeconfig(kubeconfig))
    cleared = []
    for name in _nodes(session, node):
        present = _faults(session.request("GET", f"/api/v1/nodes/{name}"))
        gone = [key for key in present if operand in (None, key)]
        for key in gone:
            if present[key]["behaviour"] == NEVER_SCHEDULED:
                unschedulable.allow(session, name, key)
        if gone:
            _change(session, name, {}, gone)
            cleared.append(name)
    return cleared


def list_faults(kubeconfig: str | Path) -> dict[str, dict[str, Obj]]:
    """node -> operand -> {"behaviour": ..., parameters}, for the nodes that have faults."""
    nodes, _version = Session(load_kubeconfig(kubeconfig)).list_all("/api/v1/nodes")
    return {item["metadata"]["name"]: faults for item in nodes if (faults := _faults(item))}


def _nodes(session: Session, node: str) -> list[str]:
    items, _version = session.list_all("/api/v1/nodes")
    names = [item["metadata"]["name"] for item in items if is_simulated(item)]
    if node == ALL:
        return names
    if node not in names:
        raise FaultError(
            f"There is no simulated node {node!r}: the nodes are {', '.join(names[:20]) or 'none'}."
        )
    return [node]


def _faults(node: Obj) -> dict[str, Obj]:
    faults: dict[str, Obj] = json.loads(
        (node["metadata"].get("annotations") or {}).get(FAULTS_ANNOTATION) or "{}"
    )
    return faults


def _change(session: Session, name: str, added: dict[str, Obj], removed: Iterable[str]) -> None:
    """Rewrite the node's annotation; begin again when somebody else wrote the node meanwhile."""
    while True:
        node = session.request("GET", f"/api/v1/nodes/{name}")
        faults = {
            key: value for key, value in {**_faults(node), **added}.items() if key not in removed
        }
        text = json.dumps(faults, sort_keys=True) if faults else None
        meta = {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "annotations": {FAULTS_ANNOTATION: text},
        }
        try:
            session.request("PATCH", f"/api/v1/nodes/{name}", {"metadata": meta}, MERGE)
        except ApiError as error:
            if error.status != 409:
                raise
        else:
            return
