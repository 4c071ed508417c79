# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An API server with objects in memory: lists, watches, server-side apply, patches, and what it refuses."""

from __future__ import annotations

import json
import queue
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_objects.kinds import (
    Kind,
    builtin,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.objects.operator_names import (
    WORKLOAD,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.inventory.node_features import (
    NODE_FEATURE,
)
from ansible_collections.hardware.enablement.plugins.module_utils._states.record.crd import (
    RECORD,
    definition,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
)

Obj = dict[str, Any]
Answer = tuple[int, dict[str, str], Any]

_BUILTIN = (
    *(("v1", kind) for kind in ("ConfigMap", "Namespace", "Node", "Pod", "Secret", "Service")),
    *(("v1", kind) for kind in ("Event", "LimitRange", "ResourceQuota", "ServiceAccount")),
    *(("apps/v1", kind) for kind in ("ControllerRevision", "DaemonSet", "Deployment")),
    *(
        ("batch/v1", "Job"),
        ("coordination.k8s.io/v1", "Lease"),
        ("policy/v1", "PodDisruptionBudget"),
    ),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("node.k8s.io/v1", "RuntimeClass"),
    ("scheduling.k8s.io/v1", "PriorityClass"),
)
CLUSTER_POLICY = Kind("nvidia.com", "v1", "ClusterPolicy", "clusterpolicies", namespaced=False)
MACHINE_CONFIG_POOL = Kind(
    "machineconfiguration.openshift.io",
    "v1",
    "MachineConfigPool",
    "machineconfigpools",
    namespaced=False,
)
# The kinds of these are found as a client finds them, all of the cluster.
_DISCOVERED = (RECORD, CLUSTER_POLICY, MACHINE_CONFIG_POOL)
KINDS: dict[str, Kind] = {
    kind.plural: kind
    for kind in (
        *(builtin(*each) for each in _BUILTIN),
        *(*_DISCOVERED, NODE_FEATURE, WORKLOAD),
    )
    if kind
}
_REVIEWS = "selfsubjectaccessreviews"
_IN = re.compile(r"^(\S+) in \((.*)\)$")


def refusal(code: int, reason: str, message: str = "no, says a webhook") -> Answer:
    """An answer of the API server that says no."""
    body = {
        "kind": "Status",
        "status": "Failure",
        "code": code,
        "reason": reason,
        "message": message,
    }
    return code, {}, body


@dataclass(frozen=True)
class _Request:
    """A request, taken apart. name: "" for a collection."""

    method: str
    plural: str
    namespace: str
    name: str
    query: Mapping[str, str]
    body: Any
    is_apply: bool

    @classmethod
    def of(cls, asked: Asked) -> _Request:
        url = urlsplit(asked.path)
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        places = [place for place, part in enumerate(parts) if part in (*KINDS, _REVIEWS)]
        place = places[-1] if places else len(parts)
        plural, name = (*parts[place : place + 2], "", "")[:2]
        namespace = parts[place - 1] if place > 1 and parts[place - 2] == "namespaces" else ""
        body = json.loads(asked.body) if asked.body else {}
        query = {key: values[0] for key, values in parse_qs(url.query).items()}
        is_apply = "apply-patch" in str(asked.headers.get("Content-Type"))
        return cls(asked.method, plural, namespace, name, query, body, is_apply)

    @property
    def is_write(self) -> bool:
        """Whether something is to be changed."""
        return self.method != "GET" and "dryRun" not in self.query and self.plural != _REVIEWS

    def __str__(self) -> str:
        name = self.name or (self.body.get("metadata") or {}).get("name", "*")
        return f"{self.method} {self.plural}/{name}"


class _Stream(list[Any]):
    """The events of a watch as they come; it never ends by itself."""

    def __init__(self, events: queue.SimpleQueue[Obj]) -> None:
        super().__init__()
        self._events = events

    def __iter__(self) -> Iterator[Any]:
        while True:
            yield self._events.get()


class ScriptedCluster:
    """objects: by plural and name, whatever the namespace; the CRD of records is there. refuse: gets each request,
    returns an answer instead of the usual one, or None.

    patched: (name, patch) as they came. writes: what was sent to change something, as "VERB plural/name". denied: the
    rights that the user lacks, as (verb, plural). on_watch: called when the watch of nodes has begun. start_pod: gets
    each pod that is created.
    """

    def __init__(self, fake: FakeServer, *nodes: Obj) -> None:
        self.objects: dict[str, dict[str, Obj]] = {plural: {} for plural in KINDS}
        self.refuse: Callable[[Asked], Answer | None] = lambda _asked: None
        self.patched: list[tuple[str, Obj]] = []
        self.writes: list[str] = []
        self.denied: set[tuple[str, str]] = set()
        self.deleted: list[str] = []
        self.on_watch: Callable[[], None] = lambda: None
        self.start_pod: Callable[[Obj], None] = lambda pod: self.put("pods", pod)
        self._watches: dict[str, list[queue.SimpleQueue[Obj]]] = defaultdict(list)
        self._events: dict[str, list[tuple[int, Obj]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._version = 1
        served = {"conditions": [{"type": "Established", "status": "True"}]}
        self.put("customresourcedefinitions", {**definition(), "status": served})
        for node in nodes:
            self.put("nodes", node)
        fake.answer = self._answer

    def put(self, plural: str, obj: Obj) -> None:
        """Make or change an object."""
        name = obj["metadata"]["name"]
        kind = "MODIFIED" if name in self.objects[plural] else "ADDED"
        obj["metadata"].setdefault("uid", f"uid-{name}")
        self.objects[plural][name] = obj
        self._tell(plural, kind, obj)

    def remove(self, plural: str, name: str) -> None:
        """Take an object away."""
        self._tell(plural, "DELETED", self.objects[plural].pop(name))

    def labels(self, node: str) -> dict[str, str]:
        """The labels of ours that a node carries, without the domain."""
        found = self.objects["nodes"][node]["metadata"]["labels"]
        return {
            name.partition("/")[2]: value
            for name, value in found.items()
            if name.startswith("hardware-en")
        }

    def _tell(self, plural: str, kind: str, obj: Obj) -> None:
        with self._lock:
            self._version += 1
            obj["metadata"]["resourceVersion"] = str(self._version)
            event = {"type": kind, "object": json.loads(json.dumps(obj))}
            self._events[plural].append((self._version, event))
            for events in self._watches[plural]:
                events.put(event)

    def _answer(self, asked: Asked) -> Answer:
        refused = self.refuse(asked)
        if refused:
            return refused
        for kind in _DISCOVERED:
            if asked.path == f"/apis/{kind.api_version}":
                return _served(kind)
        if asked.path == "/version":
            return 200, {}, {"major": "1", "minor": "36", "gitVersion": "v1.36.2"}
        if asked.path in ("/api", "/apis"):
            return 200, {}, _all_kinds(core=asked.path == "/api")
        request = _Request.of(asked)
        if not request.plural:
            return refusal(404, "NotFound", "not here")
        if request.is_write:
            self.writes.append(str(request))
        if request.method == "GET" and "watch" in request.query:
            return (
                200,
                {},
                self._watch(request.plural, int(request.query.get("resourceVersion") or 0)),
            )
        verbs = {"GET": self._get, "PATCH": self._patch, "POST": self._post, "DELETE": self._delete}
        return verbs[request.method](request)

    def _watch(self, plural: str, since: int) -> _Stream:
        events: queue.SimpleQueue[Obj] = queue.SimpleQueue()
        with self._lock:
            for version, event in self._events[plural]:
                if version > since:
                    events.put(event)
            self._watches[plural].append(events)
        if plural == "nodes":
            self.on_watch()
        return _Stream(events)

    def _get(self, request: _Request) -> Answer:
        known = self.objects[request.plural]
        if not request.name:
            found = [obj for obj in known.values() if _is_meant(obj, request)]
            return (
                200,
                {},
                {
                    "kind": "List",
                    "metadata": {"resourceVersion": str(self._version)},
                    "items": found,
                },
            )
        one = known.get(request.name)
        return (200, {}, one) if one else refusal(404, "NotFound", "it is gone")

    def _patch(self, request: _Request) -> Answer:
        plural, name, body = request.plural, request.name, request.body
        live = self.objects[plural].get(name)
        if request.is_apply:
            return self._apply(request, live)
        if isinstance(body, list):
            body = {entry["path"].strip("/"): entry["value"] for entry in body}
        self.patched.append((name, body))
        if live is None:
            return refusal(404, "NotFound", f'{plural} "{name}" not found')
        version = (body.get("metadata") or {}).pop("resourceVersion", None)
        if version not in (None, live["metadata"]["resourceVersion"]):
            return refusal(409, "Conflict", "the object has been modified")
        _merge(live, _with_all_conditions(live, body))
        self._tell(plural, "MODIFIED", live)
        return 200, {}, live

    def _apply(self, request: _Request, live: Obj | None) -> Answer:
        if missing := self._missing_namespace(request):
            return missing
        made = json.loads(json.dumps(live or {"metadata": {"uid": f"uid-{request.name}"}}))
        _merge(made, request.body)
        if "dryRun" not in request.query and made != live:
            self.put(request.plural, made)
        return (200 if live else 201), {}, made

    def _post(self, request: _Request) -> Answer:
        obj = request.body
        if request.plural == _REVIEWS:
            wanted = obj["spec"]["resourceAttributes"]
            return (
                201,
                {},
                {
                    **obj,
                    "status": {"allowed": (wanted["verb"], wanted["resource"]) not in self.denied},
                },
            )
        if request.plural == "pods":
            obj["metadata"]["uid"] = f"uid-{obj['metadata']['name']}"
            self.start_pod(obj)
            return 201, {}, obj
        if missing := self._missing_namespace(request):
            return missing
        if obj["metadata"]["name"] in self.objects[request.plural]:
            return refusal(409, "AlreadyExists", "it is there already")
        self.put(request.plural, obj)
        return 201, {}, obj

    def _missing_namespace(self, request: _Request) -> Answer | None:
        if not request.namespace or request.namespace in self.objects["namespaces"]:
            return None
        return refusal(404, "NotFound", f'namespaces "{request.namespace}" not found')

    def _delete(self, request: _Request) -> Answer:
        known = self.objects[request.plural]
        self.deleted.append(request.name or f"all {request.plural}")
        if not request.name:
            meant = [name for name, obj in known.items() if _is_meant(obj, request)]
            limit = int(request.query.get("limit", 0)) or None
            for name in meant[:limit]:
                self.remove(request.plural, name)
        live = known.get(request.name)
        if live is not None:
            uid = (request.body.get("preconditions") or {}).get("uid")
            if uid not in (None, live["metadata"]["uid"]):
                return refusal(409, "Conflict", "the UID in the precondition does not match")
            self.remove(request.plural, request.name)
        return 200, {}, {"kind": "Status", "status": "Success"}


def _served(kind: Kind) -> Answer:
    """What a group-version has, of which this is the only kind."""
    resource = {"name": kind.plural, "kind": kind.kind, "namespaced": False, "verbs": ["get"]}
    listed = {"groupVersion": kind.api_version, "resources": [resource]}
    return 200, {}, {"kind": "APIResourceList", **listed}


def _all_kinds(*, core: bool) -> Obj:
    """The kinds that the cluster knows, as aggregated discovery tells them."""
    groups: dict[tuple[str, str], list[Obj]] = defaultdict(list)
    for kind in KINDS.values():
        if (kind.group == "") == core:
            resource = {
                "resource": kind.plural,
                "responseKind": {"kind": kind.kind},
                "scope": "Namespaced" if kind.namespaced else "Cluster",
                "verbs": ["delete", "get", "list"],
            }
            groups[kind.group, kind.version].append(resource)
    items = [
        {"metadata": {"name": group}, "versions": [{"version": version, "resources": found}]}
        for (group, version), found in groups.items()
    ]
    return {"kind": "APIGroupDiscoveryList", "items": items}


def _merge(into: Obj, patch: Mapping[str, Any]) -> None:
    """A JSON merge patch."""
    for key, value in patch.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, Mapping):
            _merge(into.setdefault(key, {}), value)
        else:
            into[key] = value


def _with_all_conditions(live: Obj, body: Obj) -> Obj:
    """A strategic merge of a node's conditions, by type, as the merge patch that does the same."""
    given = body.get("status", {}).get("conditions")
    if not given or live.get("kind") != "Node":
        return body
    known = {each["type"]: each for each in live["status"]["conditions"]}
    for each in given:
        known[each["type"]] = {**known.get(each["type"], {}), **each}
    left = [each for each in known.values() if "$patch" not in each]
    return {**body, "status": {**body["status"], "conditions": left}}


def _is_meant(obj: Obj, request: _Request) -> bool:
    """Whether a list's selection takes an object."""
    metadata = obj["metadata"]
    labels = metadata.get("labels") or {}
    wanted = request.query.get("labelSelector", "")
    fields = request.query.get("fieldSelector", "")
    return (
        request.namespace in ("", metadata.get("namespace", request.namespace))
        and all(_holds(term, _fields(obj)) for term in fields.split(",") if term)
        and all(_holds(term, labels) for term in re.split(r",(?![^(]*\))", wanted) if term)
    )


def _fields(obj: Obj) -> dict[str, str]:
    """What field selectors choose by; text that is not there is empty."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    return {
        "metadata.name": obj["metadata"]["name"],
        "spec.nodeName": spec.get("nodeName", ""),
        "status.phase": status.get("phase", ""),
    }


def _holds(term: str, labels: Mapping[str, str]) -> bool:
    """One requirement of a label selector."""
    if among := _IN.match(term):
        return labels.get(among[1]) in among[2].split(",")
    name, unequal, value = term.partition("!=")
    if unequal:
        return labels.get(name) != value
    name, equal, value = term.partition("=")
    if equal:
        return labels.get(name) == value
    return term.removeprefix("!") not in labels if term.startswith("!") else term in labels
