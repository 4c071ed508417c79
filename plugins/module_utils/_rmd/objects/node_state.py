# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an RmdNodeState says: the workloads of a node in the operator's words, and whether RMD
answers. Pure.

Unlike the operator's, it keeps what was seen last while RMD does not answer, and is written only
when it changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Optional

from ..._cluster.api_objects.labels import DOMAIN
from ..._cluster.api_objects.object_conditions import condition
from ..._json import Obj, elements, part
from ..._nodes.cpuset import to_ranges
from ..._times import seconds, timestamp
from ..nodes.node_snapshot import NodeSnapshot
from ..nodes.report_fields import groups_of
from ..workloads import PARTS, RunningWorkload
from .operator_names import HOME_NAMESPACE, NODE_STATE, node_state_name
from .workload_state import Verdict

SEEN_EVERY_S = 3600.0


def rows(running: Iterable[RunningWorkload]) -> dict[str, dict[str, str]]:
    """The workloads by uuid; one without a uuid is "id N", so that several do not become one."""
    return {entry.uuid or f"id {entry.id}": _row(entry) for entry in running}


def _row(running: RunningWorkload) -> dict[str, str]:
    wanted = running.workload
    cores = ",".join(str(core) for core in wanted.cores)
    row = {
        "ID": running.id,
        "Core IDs": cores or ",".join(str(item) for item in elements(running.body, "core_ids")),
        "Status": running.status,
        "Cos Name": running.cos_name,
        "Origin": running.origin,
        **{name.capitalize(): text for name, text in wanted.texts().items()},
    }
    for name, given in wanted.parts().items():
        known = PARTS[name].parameters()
        row |= {known[each]["title"]: _text(value) for each, value in given.items()}
    return {key: value for key, value in row.items() if value}


def groups(report: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """All groups of the node's resctrl, by whoever made them, the default one as ".": CPUs, and what
    each resource is set to."""
    found = {}
    for name, group in sorted(groups_of(report).items()):
        schemata = {
            resource: ";".join(f"{cache}={value}" for cache, value in sorted(values.items()))
            for resource, values in part(group, "schemata").items()
        }
        found[name or "."] = {"CPUs": str(group.get("cpus_list") or ""), **schemata}
    return found


def status(
    previous: Mapping[str, Any],
    snapshot: Optional[NodeSnapshot],
    why: str,
    now: float,
    *,
    boot: str = "",
) -> Obj:
    """The status to have; equal to previous where nothing is to be written.

    snapshot: None where the node could not be looked at, and why then says why. now: seconds since the
    epoch. boot: which boot of the node this is.
    """
    if snapshot is None:
        found = _kept(previous)
        verdicts = {"Reachable": (False, "NoAnswer", why), "Enforced": (None, "NotSeen", "")}
    else:
        found = _seen(snapshot, boot)
        verdicts = {"Reachable": (True, "Answered", ""), "Enforced": _enforced(snapshot)}
    before = elements(previous, "conditions")
    found["conditions"] = [
        condition(before, kind, *verdict, now=now) for kind, verdict in verdicts.items()
    ]
    seen = seconds(previous.get("lastSeen"))
    if seen is not None:
        found["lastSeen"] = previous["lastSeen"]
    if found["reachable"] and (
        seen is None or found != dict(previous) or now - seen >= SEEN_EVERY_S
    ):
        found["lastSeen"] = timestamp(now)
    return found


def _seen(snapshot: NodeSnapshot, boot: str) -> Obj:
    """What a look says of the node, but for conditions."""
    found: Obj = {
        "workloads": rows(snapshot.running),
        "groups": groups(snapshot.report or {}),
        "reachable": True,
    }
    return {**found, "bootID": boot} if boot else found


def _kept(previous: Mapping[str, Any]) -> Obj:
    """What was said of a node that cannot be looked at now."""
    kept: Obj = {name: dict(previous.get(name) or {}) for name in ("workloads", "groups")}
    boot = previous.get("bootID")
    return {**kept, "reachable": False, **({"bootID": boot} if boot else {})}


def _enforced(snapshot: NodeSnapshot) -> Verdict:
    """Whether the kernel does all that RMD says."""
    names = {found.id: found.uuid or f"id {found.id}" for found in snapshot.running}
    problems = [
        f"{names[key]}: {why}"
        for key, why in sorted({**snapshot.disturbed, **snapshot.broken}.items())
    ]
    if snapshot.strays:
        problems.append(
            f"core {to_ranges(snapshot.strays)} is in a group of workloads, and no workload's"
        )
    return not problems, "NotEnforced" if problems else "AsRmdSays", "; ".join(problems)


def is_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a run has changed more than what it saw: when, and groups, which an agent may have
    seen half-way through what RMD was told, so that the next run sees others."""
    decided = (before.keys() | after.keys()) - {"lastSeen", "groups"}
    return any(before.get(name) != after.get(name) for name in decided)


def skeleton(node: str, uid: str) -> Obj:
    """The object of a node, without status; it goes with the node."""
    metadata: Obj = {
        "name": node_state_name(node),
        "namespace": HOME_NAMESPACE,
        "labels": {"app.kubernetes.io/managed-by": DOMAIN},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid}],
    }
    return {
        "apiVersion": NODE_STATE.api_version,
        "kind": NODE_STATE.kind,
        "metadata": metadata,
        "spec": {"node": node, "nodeUid": uid},
    }


def is_ours(state: Optional[Mapping[str, Any]]) -> bool:
    """Whether a run of ours has made a node's RmdNodeState."""
    labels = part(state or {}, "metadata", "labels")
    return bool(labels.get("app.kubernetes.io/managed-by") == DOMAIN)


def _text(value: Any) -> str:
    return f"{value:f}" if isinstance(value, float) else str(value)
