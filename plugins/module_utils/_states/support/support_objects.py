# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a cluster has of a special resource, as texts that help whoever was not there: objects and what
differs, pods, events, nodes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..._cluster.api_objects.changes import Change, as_stored, overlaid
from ..._cluster.api_objects.controller_references import controller_of
from ..._cluster.api_objects.diff import yaml_lines
from ..._cluster.api_objects.field_changes import MISSING, field_changes, presentable
from ..._cluster.api_objects.objects import ObjectKey, key_of
from ..._json import Obj, elements, part
from ..._verdicts.conditions import condition
from ..._verdicts.pod_status import statuses
from ..validation.node_table import moment_of
from .redaction import without_secret_variables

_LONGEST = 300
_EVENTS = 500
_NODE_STATUS = ("conditions", "nodeInfo", "capacity", "allocatable")
_POD_STATUS = (
    "phase",
    "reason",
    "message",
    "conditions",
    "initContainerStatuses",
    "containerStatuses",
)


def documents(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as a stream of YAML, with their status and without secrets that their kind, or a name, tells."""
    return "".join(_document(obj) for obj in objects)


def _document(obj: Mapping[str, Any]) -> str:
    shown: Obj = without_secret_variables(presentable(obj, frozenset()))
    status = {"status": obj["status"]} if obj.get("status") else {}
    return "\n".join(["---", *yaml_lines({**shown, **status}), ""])


def differences(wanted: Mapping[ObjectKey, Obj], live: Mapping[ObjectKey, Obj]) -> str:
    """A line for each field that is not as the recipe has it; what others have added does not count."""
    lines = [line for key, obj in wanted.items() for line in _differences(key, obj, live.get(key))]
    return "".join(f"{line}\n" for line in lines or ["All objects are as the recipe has them."])


def _differences(key: ObjectKey, wanted: Obj, live: Obj | None) -> Iterator[str]:
    if live is None:
        yield f"{key}: not there"
        return
    change = Change(key, "update", live, overlaid(live, as_stored(wanted)))
    for field in field_changes(change):
        yield f"{key}: {'.'.join(field.path)}: is {_shown(field.before)}, not {_shown(field.after)}"


def _shown(value: Any) -> str:
    text = "nothing" if value is MISSING else repr(without_secret_variables(value))
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


def sight_of_record(record: Mapping[str, Any]) -> list[str]:
    """How a special resource stood when the last run looked, in the lines of a table."""
    name, status = record["metadata"]["name"], part(record, "status")
    if not status.get("phase"):
        return [f"{name}: no run has come to its end yet"]
    seen = status.get("lastChecked") or "some time"
    lines = [
        f"{name}: {status['phase']}, as the last run saw it at {seen}: {status.get('message')}"
    ]
    for cause in elements(status, "causes"):
        lines.append(f"! {cause.get('state')} {cause.get('phase')}: {cause.get('message')}")
        if cause.get("todo"):
            lines.append(f"  -> {cause['todo']}")
    return lines


def node_entry(node: Mapping[str, Any]) -> Obj:
    """A node as far as enablement depends on it."""
    meta, status = node["metadata"], part(node, "status")
    return {
        "name": meta["name"],
        "created": meta.get("creationTimestamp"),
        "labels": dict(part(meta, "labels")),
        "annotations": dict(part(meta, "annotations")),
        "spec": {
            name: value
            for name, value in part(node, "spec").items()
            if name in ("taints", "unschedulable")
        },
        **{name: status[name] for name in _NODE_STATUS if name in status},
    }


def pod_entry(pod: Mapping[str, Any]) -> Obj:
    """A pod as far as it tells of trouble."""
    meta, status = pod["metadata"], part(pod, "status")
    return {
        "name": meta["name"],
        "node": part(pod, "spec").get("nodeName"),
        "created": meta.get("creationTimestamp"),
        "deleted": meta.get("deletionTimestamp"),
        "labels": dict(part(meta, "labels")),
        **{name: status[name] for name in _POD_STATUS if name in status},
    }


def is_troubled(pod: Obj) -> bool:
    """Whether something is wrong with a pod, or has been."""
    ready = (condition(pod, "Ready") or {}).get("status") == "True"
    restarted = any(each.get("restartCount") for each in statuses(pod))
    return restarted or not (ready or part(pod, "status").get("phase") == "Succeeded")


def worth_reading(pods: Sequence[Obj], most: int) -> list[Obj]:
    """The pods whose logs tell something: those in trouble, and of each owner one that is well."""
    troubled = [pod for pod in pods if is_troubled(pod)]
    well: dict[str, Obj] = {}
    for pod in pods:
        if not is_troubled(pod):
            well.setdefault(str(controller_of(pod).get("name")), pod)
    return [*troubled, *well.values()][:most]


def events_text(events: Sequence[Mapping[str, Any]]) -> str:
    """A line for each, the newest last."""
    newest = sorted(events, key=moment_of)[-_EVENTS:]
    return "".join(f"{_event(each)}\n" for each in newest)


def _event(event: Mapping[str, Any]) -> str:
    about = part(event, "involvedObject")
    count = part(event, "series").get("count") or event.get("count") or 1
    said = " ".join(str(event.get("message") or "").split())
    name = f"{about.get('kind')} {about.get('name')}"
    return f"{moment_of(event)} {event.get('type')} {event.get('reason')} {name} (x{count}): {said}"


def keyed(objects: Iterable[Obj]) -> dict[ObjectKey, Obj]:
    """Objects by what they are."""
    return {key_of(obj): obj for obj in objects}
