# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading from the API server: kinds, objects, lists, watches, logs. Objects are plain dicts; no discovery walk."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, replace
from typing import Any

from ansible_collections.hardware.enablement.plugins.module_utils.cluster.errors import Gone, NotFound, UnknownKind
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.kinds import Kind, builtin, group_version_path
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.objects import ObjectKey
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.transport import JSON, Answer, Call, Transport
from ansible_collections.hardware.enablement.plugins.module_utils.cluster.watch import WatchStream

Obj = dict[str, Any]

# How long a pod may take for its answer; the API server itself would wait half a minute for one that it cannot reach.
POD_READ_S = 5.0
_METADATA = f"{JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


@dataclass(frozen=True)
class Listing:
    """All items of a list; resource_version is where a watch may start."""

    items: list[Obj]
    resource_version: str


class Reader:
    """Reads from one API server. All methods raise ApiError and may be called by several threads."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self._served: dict[str, dict[str, Kind]] = {}
        self._served_lock = threading.Lock()

    @property
    def host(self) -> str:
        """The API server's URL."""
        return self.transport.host

    @property
    def context(self) -> str:
        """The context of the kubeconfig that is used, "" where there is none."""
        return self.transport.context

    @property
    def requests(self) -> dict[str, int]:
        """How many requests were sent, by verb; dry runs count as "apply (dry run)" and so on."""
        return dict(self.transport.requests)

    def kind(self, api_version: str, kind: str, *, refresh: bool = False) -> Kind:
        """The kind: from the table, else by one request for its group-version. Raises UnknownKind.

        Answers are remembered; refresh asks once more before a kind is called unknown (its CRD may have come).
        """
        known = builtin(api_version, kind)
        if known is not None:
            return known
        with self._served_lock:
            asked = api_version in self._served
            if not asked:
                self._served[api_version] = self._discover(api_version)
            if asked and refresh and kind not in self._served[api_version]:
                self._served[api_version] = self._discover(api_version)
            found = self._served[api_version].get(kind)
        if found is None:
            raise UnknownKind(
                f"The API server does not serve {kind} of {api_version}",
                where=self.host,
                todo="install what brings it, or correct apiVersion and kind",
            )
        return found

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the API server has this kind."""
        try:
            self.kind(api_version, kind)
        except UnknownKind:
            return False
        return True

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Obj | None:
        """The object, or None where it, its namespace or its kind is not there."""
        path = kind.path(namespace, name)
        try:
            return self.ask(Call("GET", path, "get", describe(kind, namespace, name), repeatable=True))
        except NotFound:
            return None

    def list(
        self,
        kind: Kind,
        *,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        limit: int = 500,
        metadata_only: bool = False,
    ) -> Listing:
        """All objects that match, in pages of limit; without a namespace those of all namespaces.

        Items carry apiVersion and kind, and with metadata_only nothing else but metadata.
        """
        accept = _METADATA if metadata_only else JSON
        try:
            return self._list(kind, namespace, _selection(labels, fields), limit, accept)
        except Gone:
            # The list was so long that its continue token has expired meanwhile: take it in one piece.
            return self._list(kind, namespace, _selection(labels, fields), 0, accept)

    def watch(
        self,
        kind: Kind,
        *,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        resource_version: str,
        timeout_s: float,
    ) -> WatchStream:
        """An iterator of WatchEvents, bookmarks included, that ends after timeout_s or by its stop().

        Raises Gone when resource_version is too old, Unreachable when the connection is cut.
        """
        query = {
            **_selection(labels, fields),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(max(1, round(timeout_s))),
        }
        call = Call("GET", kind.path(namespace), "watch", describe(kind, namespace), query=query)
        return WatchStream(self.transport, call, timeout_s)

    def logs(
        self, namespace: str, pod: str, *, container: str | None = None, tail: int = 20, previous: bool = False
    ) -> str:
        """The last lines of a container's log."""
        query = {"tailLines": str(tail), "previous": flag(previous)}
        if container:
            query["container"] = container
        path = f"{self.kind('v1', 'Pod').path(namespace, pod)}/log"
        return self._text(Call("GET", path, "read the log of", f"Pod {namespace}/{pod}", query, count_as="logs"))

    def whole_log(self, namespace: str, pod: str, container: str, limit_bytes: int) -> str:
        """A container's log from its beginning, as far as the node still has it; no more than limit_bytes."""
        query = {"container": container, "limitBytes": str(limit_bytes)}
        path = f"{self.kind('v1', 'Pod').path(namespace, pod)}/log"
        return self._text(Call("GET", path, "read the log of", f"Pod {namespace}/{pod}", query, count_as="logs"))

    def newest_warning(self, namespace: str, kind: str, name: str) -> str:
        """What the cluster has complained of about an object last ("FailedMount: ..."), "" for nothing."""
        fields = f"involvedObject.kind={kind},involvedObject.name={name},type=Warning"
        events = self.list(self.kind("v1", "Event"), namespace=namespace, fields=fields).items
        newest = max(events, key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime")), default=None)
        return f"{newest.get('reason')}: {newest.get('message')}" if newest else ""

    def build_log(self, kind: Kind, name: str, namespace: str, *, tail: int = 20) -> str:
        """The last lines of an OpenShift Build's log."""
        path, target = kind.path(namespace, name, "log"), describe(kind, namespace, name)
        return self._text(Call("GET", path, "read the log of", target, {"tailLines": str(tail)}, count_as="logs"))

    def pod_proxy(self, namespace: str, pod: str, port: int, path: str) -> str:
        """What a pod answers to a GET, by way of the API server."""
        base = self.kind("v1", "Pod").path(namespace, f"{pod}:{port}").replace("%3A", ":")
        target = f"port {port} of Pod {namespace}/{pod}"
        path = f"{base}/proxy/{path.lstrip('/')}"
        return self._text(Call("GET", path, "get", target, count_as="proxy", read_s=POD_READ_S))

    def version(self) -> Obj:
        """The API server's version, as GET /version tells it."""
        return self.ask(Call("GET", "/version", "get", "the version", repeatable=True))

    def _discover(self, api_version: str) -> dict[str, Kind]:
        path = group_version_path(api_version)
        try:
            call = Call("GET", path, "read the kinds of", api_version, count_as="discover", repeatable=True)
            found = self.ask(call)
        except NotFound:
            return {}
        group, _slash, version = api_version.rpartition("/")
        return {
            entry["kind"]: Kind(group, version, entry["kind"], entry["name"], bool(entry["namespaced"]))
            for entry in found.get("resources") or []
            if "/" not in entry["name"]
        }

    def _list(self, kind: Kind, namespace: str | None, query: dict[str, str], limit: int, accept: str) -> Listing:
        items: list[Obj] = []
        query = {**query, "limit": str(limit)} if limit else query
        while True:
            target = describe(kind, namespace)
            call = Call("GET", kind.path(namespace), "list", target, query=query, accept=accept, repeatable=True)
            page = self.ask(call)
            items += ({**item, "apiVersion": kind.api_version, "kind": kind.kind} for item in page.get("items") or [])
            metadata = page.get("metadata") or {}
            if not metadata.get("continue"):
                return Listing(items, str(metadata.get("resourceVersion") or ""))
            query = {**query, "continue": metadata["continue"]}

    def ask(self, call: Call) -> Obj:
        """Send a call whose answer is JSON."""
        return decode(self.transport.send(call))

    def _text(self, call: Call) -> str:
        # A pod that does not answer is a finding, not a reason to try again here.
        answer = self.transport.send(replace(call, accept="*/*", patience_s=0.0))
        return answer.body.decode(errors="replace")


def describe(kind: Kind, namespace: str | None, name: str | None = None) -> str:
    """How messages name an object ("Pod a/b") or a collection ("pods in a")."""
    if name:
        return str(ObjectKey(kind.api_version, kind.kind, (namespace or "") if kind.namespaced else "", name))
    return f"{kind.plural} in {namespace}" if kind.namespaced and namespace else kind.plural


def _selection(labels: str | None, fields: str | None) -> dict[str, str]:
    return {name: value for name, value in (("labelSelector", labels), ("fieldSelector", fields)) if value}


def flag(value: bool) -> str:
    """A boolean as query parameters write it."""
    return "true" if value else "false"


def decode(answer: Answer) -> Obj:
    """The JSON object in an answer."""
    found: Obj = json.loads(answer.body)
    return found
