# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What callers take for granted of objects: which fields are texts, numbers, mappings and lists.
Pure.

A shape is a type, a list of one shape, or a mapping: from names of fields to shapes, or from EACH
to the shape of all values. Fields may be missing or null, but for those whose name ends in "!".
Other fields may hold anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, NamedTuple

EACH = "*"
# Stands in an object in the place of all but its metadata that is not as its kind's shape wants.
_MISMATCH = "hardware-enablement.io/mismatch"
_NAMES = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    dict: "a mapping",
    list: "a list",
}


class Written(NamedTuple):
    """The shape of a text that is read further. what: as messages name it."""

    what: str
    matches: Callable[[str], Any]


def _is_moment(text: str) -> bool:
    """As the API server writes metav1.Time and MicroTime; other forms of RFC 3339 are not among its
    answers. It has a year 0, which Python has not."""
    try:
        known = f"0004{text[4:-1]}" if text.startswith("0000") else text[:-1]
        return bool(_FORM.fullmatch(text) and datetime.fromisoformat(known))
    except ValueError:
        return False


_FORM = re.compile(r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}(\.[0-9]{6})?Z")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3}|[munkMGTPE]|[KMGTPE]i)?")
_MOMENT = Written("a time in UTC", _is_moment)
_QUANTITY = Written("a quantity", _NUMBER.fullmatch)
_TEXTS = {EACH: str}

METADATA = {
    "name!": str,
    "namespace": str,
    "uid": str,
    "resourceVersion": str,
    "generation": int,
    "creationTimestamp": _MOMENT,
    "deletionTimestamp": _MOMENT,
    "labels": _TEXTS,
    "annotations": _TEXTS,
    "finalizers": [str],
    "ownerReferences": [
        {"apiVersion": str, "kind": str, "name": str, "uid": str, "controller": bool}
    ],
    # What is in fieldsV1 is looked at by who reads it: of a Node it is more than all the rest.
    "managedFields": [{"manager": str, "subresource": str, "time": _MOMENT, "fieldsV1": {}}],
}
ANY: dict[str, Any] = {"spec": {}, "status": {}}

_CONDITIONS = [
    {"type": str, "status": str, "reason": str, "message": str, "lastTransitionTime": _MOMENT}
]
_ENDED = {"exitCode": int, "reason": str, "message": str, "finishedAt": _MOMENT}
_CONTAINER_STATE = {
    "waiting": {"reason": str, "message": str},
    "running": {"startedAt": _MOMENT},
    "terminated": _ENDED,
}
_CONTAINER_STATUSES = [
    {
        "name": str,
        "image": str,
        "imageID": str,
        "ready": bool,
        "restartCount": int,
        "state": _CONTAINER_STATE,
        "lastState": _CONTAINER_STATE,
    }
]
_AMOUNTS = {EACH: _QUANTITY}
_CONTAINERS = [
    {
        "name": str,
        "image": str,
        "command": [str],
        "args": [str],
        "restartPolicy": str,
        "env": [{"name": str}],
        "ports": [{"name": str, "containerPort": int}],
        "resources": {"limits": _AMOUNTS, "requests": _AMOUNTS},
        "volumeMounts": [{"name": str, "mountPath": str}],
    }
]
_NODE_AFFINITY = {
    "requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [{"key": str, "values": [str]}]}]
    }
}
_POD_SPEC = {
    "nodeName": str,
    "schedulerName": str,
    "restartPolicy": str,
    "readinessGates": [{"conditionType!": str}],
    "containers": _CONTAINERS,
    "initContainers": _CONTAINERS,
    "affinity": {"nodeAffinity": _NODE_AFFINITY},
    "volumes": [{"name": str, "hostPath": {"path": str}, "configMap": {"name": str}}],
}
_POD_STATUS = {
    "phase": str,
    "reason": str,
    "message": str,
    "podIP": str,
    "qosClass": str,
    "startTime": _MOMENT,
    "conditions": _CONDITIONS,
    "containerStatuses": _CONTAINER_STATUSES,
    "initContainerStatuses": _CONTAINER_STATUSES,
}
_COUNTS = (
    "observedGeneration",
    "replicas",
    "readyReplicas",
    "updatedReplicas",
    "availableReplicas",
    "succeeded",
)
_DAEMON_COUNTS = (
    "desiredNumberScheduled",
    "updatedNumberScheduled",
    "numberAvailable",
    "numberReady",
)
_TOLERATION = ("key", "operator", "value", "effect")
_WORKLOAD = {
    "spec!": {
        "replicas": int,
        "completions": int,
        "selector": {"matchLabels": _TEXTS},
        "template!": {
            "metadata": {"labels": _TEXTS, "annotations": _TEXTS},
            "spec!": {**_POD_SPEC, "tolerations": [dict.fromkeys(_TOLERATION, str)]},
        },
    },
    "status": {
        **dict.fromkeys((*_COUNTS, *_DAEMON_COUNTS, "active", "failed"), int),
        "conditions": _CONDITIONS,
    },
}
_NODE_INFO = (
    "kernelVersion",
    "bootID",
    "osImage",
    "architecture",
    "containerRuntimeVersion",
    "kubeletVersion",
)
_SHAPES: dict[str, dict[str, dict[str, Any]]] = {
    "v1": {
        "Node": {
            "spec": {
                "unschedulable": bool,
                # All that a taint has: a list of them can only be written as a whole.
                "taints": [dict.fromkeys(("key", "value", "effect", "timeAdded"), str)],
            },
            "status": {
                "nodeInfo": dict.fromkeys(_NODE_INFO, str),
                "capacity": _AMOUNTS,
                "allocatable": _AMOUNTS,
                "conditions": _CONDITIONS,
                "addresses": [{"type": str, "address": str}],
            },
        },
        "Pod": {
            "spec!": _POD_SPEC,
            "status": _POD_STATUS,
        },
        "Event": {"reason": str, "message": str, "lastTimestamp": _MOMENT, "eventTime": _MOMENT},
        "Namespace": {"status": {"conditions": _CONDITIONS}},
        "ConfigMap": {"data": _TEXTS},
        "Secret": {"data": _TEXTS},
    },
    "apps/v1": {
        **dict.fromkeys(("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"), _WORKLOAD),
        "ControllerRevision": {"revision": int},
    },
    "batch/v1": {"Job": _WORKLOAD},
    "coordination.k8s.io/v1": {
        "Lease": {
            "spec": {
                "holderIdentity": str,
                "leaseDurationSeconds": int,
                "leaseTransitions": int,
                "acquireTime": _MOMENT,
                "renewTime": _MOMENT,
            }
        }
    },
    "events.k8s.io/v1": {"Event": {"series": {"count": int}}},
    "apiextensions.k8s.io/v1": {
        "CustomResourceDefinition": {
            "spec!": {"group": str, "names": {"kind": str}, "versions": [{"name": str}]},
            "status": {"conditions": _CONDITIONS, "storedVersions": [str]},
        }
    },
    "nfd.k8s-sigs.io/v1alpha1": {
        "NodeFeature": {
            "spec": {
                "features": {
                    "attributes": {EACH: {"elements": _TEXTS}},
                    "flags": {EACH: {"elements": {EACH: {}}}},
                    "instances": {EACH: {"elements": [{"attributes": _TEXTS}]}},
                }
            }
        }
    },
    "hardware-enablement.io/v1": {
        "SpecialResource": {
            "spec": {"pools": [{}]},
            "status": {"problems": [{"node": str, "reason": str, "message": str}]},
        }
    },
    "resource.k8s.io/v1": {
        "ResourceClaim": {
            "status": {
                "allocation": {"devices": {"results": [{"driver!": str}]}},
                "reservedFor": [{"uid!": str}],
            }
        },
        "ResourceSlice": {
            "spec!": {
                "driver!": str,
                "nodeName": str,
                "pool!": {"name!": str, "generation!": int, "resourceSliceCount!": int},
                "devices": [{"taints": [{"effect": str}]}],
            }
        },
    },
    "topology.node.k8s.io/v1alpha2": {
        "NodeResourceTopology": {
            "topologyPolicies": [str],
            "attributes": [{"name!": str, "value!": str}],
            "zones": [{"name!": str, "type": str, "resources": [{"name!": str}]}],
        }
    },
}


# Of each of thousands: what a pod is made of, its workload says once for all.
_KEPT: dict[tuple[str, str], dict[str, Any]] = {
    ("v1", "Pod"): {
        "spec": {field: _POD_SPEC[field] for field in ("nodeName", "affinity", "restartPolicy")},
        "status": _POD_STATUS,
    }
}


def with_mismatch(head: Mapping[str, Any], wrong: str) -> dict[str, Any]:
    """What is left of an object whose own fields are not as their shape wants; wrong: what is not."""
    return {**head, _MISMATCH: wrong}


def mismatch_of(obj: Mapping[str, Any]) -> str:
    """What is wrong with an object of which only metadata was taken, "" for nothing."""
    return str(obj.get(_MISMATCH) or "")


def shape_of(api_version: str, kind: str) -> dict[str, Any]:
    """What is taken for granted of a kind besides its metadata."""
    return _SHAPES.get(api_version, {}).get(kind, ANY)


def kept_of(api_version: str, kind: str) -> dict[str, Any]:
    """What is kept of a kind besides its metadata where there may be thousands of it."""
    return _KEPT.get((api_version, kind)) or shape_of(api_version, kind)


def mismatch(value: Any, shape: Any) -> str:
    """What of a value is not as its shape wants ("status.phase is a list, where text is due"), ""
    for nothing."""
    try:
        named_part(value, shape)
    except ShapeError as found:
        return str(found)
    return ""


def named_part(value: Any, shape: Any) -> Any:
    """What of a value its shape names. A mapping without names is kept whole; texts that are the same
    are kept once, since there may be thousands of objects. Raises ShapeError."""
    # Most fields are texts, and of those that are not most are mappings.
    if shape is str and isinstance(value, str):
        return _once(value)
    if isinstance(shape, Mapping):
        _fit(value, dict)
        return _named_fields(value, shape)
    if isinstance(shape, list):
        _fit(value, list)
        return _named_items(value, shape[0])
    if isinstance(shape, Written):
        if not isinstance(value, str) or not shape.matches(value):
            raise ShapeError(f"is not {shape.what}")
        return _once(value)
    _fit(value, shape)
    return value


class ShapeError(Exception):
    """What is wrong, and where below the value that was looked at: ".phase", "[0].name"."""

    def __init__(self, what: str, path: str = "") -> None:
        super().__init__(f"{path.removeprefix('.') or 'it'} {what}")
        self._what, self._path = what, path

    def below(self, step: str) -> ShapeError:
        """The same of what the value is a part of."""
        return ShapeError(self._what, step + self._path)


def _named_fields(value: Mapping[str, Any], shape: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a mapping that its shape names; all of them where it names none, or EACH."""
    if EACH in shape:
        return _named_entries(value, shape[EACH])
    if not shape:
        return value
    kept = {}
    for name, below in shape.items():
        field = _field(name)
        entry = value.get(field)
        if entry is None:
            if name.endswith("!"):
                raise ShapeError("is missing", f".{field}")
            continue
        try:
            kept[field] = named_part(entry, below)
        except ShapeError as found:
            raise found.below(f".{field}") from None
    return kept


def _named_entries(value: Mapping[str, Any], each: Any) -> Mapping[str, Any]:
    """All entries of a mapping, which have one shape. Labels are most of what is kept of a node."""
    texts = value.values()
    if each is str and all(isinstance(text, str) for text in texts):
        return dict(zip(map(_once, value), map(_once, texts), strict=True))
    kept = {}
    for name, entry in value.items():
        try:
            kept[_once(name)] = named_part(entry, each)
        except ShapeError as found:
            raise found.below(f".{name}") from None
    return kept


def _named_items(value: Sequence[Any], each: Any) -> list[Any]:
    kept: list[Any] = []
    for item in value:
        try:
            kept.append(named_part(item, each))
        except ShapeError as found:
            raise found.below(f"[{len(kept)}]") from None
    return kept


def _fit(value: Any, wanted: type) -> None:
    """Raises ShapeError where a value of JSON is not of a type; true is no number."""
    if not isinstance(value, wanted) or (wanted is not bool and isinstance(value, bool)):
        raise ShapeError(f"is {named(value)}, where {_NAMES[wanted]} is due")


@cache
def _field(name: str) -> str:
    """The field that a name of a shape is for."""
    return name.removesuffix("!")


# Ansible replaces sys.intern by a function of its own, and interned texts of a watch would never be
# fewer.
_once = lru_cache(maxsize=65_536)(str)


def named(value: Any) -> str:
    """What a value read from JSON is, without telling what it says."""
    return "null" if value is None else _NAMES.get(type(value), "a number")
