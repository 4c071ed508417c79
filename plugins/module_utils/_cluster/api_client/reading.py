# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading from the API server: kinds, objects, lists, watches, logs. Objects are plain dicts; no
discovery walk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from ..._json import Obj
from ..api_objects.kinds import Kind, builtin, group_version_path
from ..api_objects.objects import ObjectKey
from .api_errors import Gone, NotFound, TooLarge, UnknownKind
from .decoding import (
    JSON,
    METADATA_ALONE,
    ApiResponse,
    DecodingError,
    Page,
    ReadRules,
    read_event,
    read_json,
    read_kinds,
    read_log,
    read_object,
    read_page,
    read_text,
    read_version,
)
from .transport import (
    READ_S,
    READING,
    ApiRequest,
    ApiTransport,
    RepetitionPolicy,
    RequestBody,
    RequestName,
)
from .watch_stream import WatchStream

T = TypeVar("T")

# How long a pod may take for its answer; the API server itself would wait half a minute for one
# that it cannot reach.
POD_READ_S = 5.0
# So many items of a list come in one answer.
PAGE_ITEMS = 500
# Nodes with all their images have some 30 KiB each. Of objects as large as etcd takes them, 500 would
# have 750 MiB: then fewer come in one answer.
PAGE_BYTES = 32 * 2**20
_FEWER = 10


@dataclass(frozen=True)
class Listing:
    """All items of a list; resource_version is where a watch may start."""

    items: list[Obj]
    resource_version: str


class ObjectReader:
    """Reads from one API server. All methods raise ApiError and may be called by several threads."""

    def __init__(self, transport: ApiTransport) -> None:
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

        Answers are remembered; refresh asks once more before a kind is called unknown (its CRD may
        have come).
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
            named = RequestName("get", describe(kind, namespace, name))
            call = ApiRequest("GET", path, named, repetition=READING)
            return self.request(call, partial(read_object, kind, name))
        except NotFound:
            return None

    def list(
        self,
        kind: Kind,
        *,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        metadata_only: bool = False,
        leanly: bool = False,
        kept: Mapping[str, Any] | None = None,
        each_alone: bool = False,
    ) -> Listing:
        """All objects that match, in pages; without a namespace those of all namespaces.

        Items carry apiVersion and kind, and with metadata_only nothing else but metadata. leanly:
        nothing but what is read of the kind, for lists that are long and kept; kept: nothing but
        this shape. each_alone: of an item whose fields have other types than its kind's there is
        metadata alone (mismatch_of); it ends the list where that is not looked for.
        """
        query = _selection(labels, fields)
        rules = ReadRules(metadata_only, leanly, kept, each_alone)
        pages = partial(self._list, kind, namespace, query, rules)
        try:
            return pages(limit=PAGE_ITEMS)
        except Gone:
            # The list was so long that its continue token has expired meanwhile: take it in one
            # piece.
            return pages(limit=0)

    def watch(
        self,
        kind: Kind,
        *,
        namespace: str | None = None,
        labels: str | None = None,
        fields: str | None = None,
        resource_version: str,
        timeout_s: float,
        leanly: bool = False,
        each_alone: bool = False,
    ) -> WatchStream:
        """An iterator of WatchEvents, bookmarks included, that ends after timeout_s or by its
        stop().

        leanly, each_alone: as of a list. Raises Gone when resource_version is too old, Unreachable when the
        connection is cut.
        """
        query = {
            **_selection(labels, fields),
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(max(1, round(timeout_s))),
        }
        named = RequestName("watch", describe(kind, namespace))
        call = ApiRequest("GET", kind.path(namespace), named, query=query)
        rules = ReadRules(leanly=leanly, each_alone=each_alone)
        return WatchStream(self.transport, call, partial(read_event, kind, rules=rules), timeout_s)

    def logs(
        self,
        namespace: str,
        pod: str,
        *,
        container: str | None = None,
        tail: int = 20,
        previous: bool = False,
    ) -> str:
        """The last lines of a container's log."""
        query = {"tailLines": str(tail), "previous": flag(previous)}
        if container:
            query["container"] = container
        path = f"{self.kind('v1', 'Pod').path(namespace, pod)}/log"
        return self._log(path, f"Pod {namespace}/{pod}", query)

    def whole_log(
        self,
        namespace: str,
        pod: str,
        container: str,
        limit_bytes: int,
        *,
        since_s: int | None = None,
    ) -> str:
        """A container's log from its beginning, or of the last so many seconds, as far as the node
        still has it; no more than limit_bytes."""
        query = {"container": container, "limitBytes": str(limit_bytes)}
        if since_s is not None:
            query["sinceSeconds"] = str(since_s)
        path = f"{self.kind('v1', 'Pod').path(namespace, pod)}/log"
        return self._log(path, f"Pod {namespace}/{pod}", query)

    def newest_warning(self, namespace: str, kind: str, name: str) -> str:
        """What the cluster has complained of about an object last ("FailedMount: ..."), "" for
        nothing."""
        events = self.events_about(namespace, kind, name, "type=Warning")
        newest = max(
            events,
            key=lambda event: str(event.get("lastTimestamp") or event.get("eventTime")),
            default=None,
        )
        return f"{newest.get('reason')}: {newest.get('message')}" if newest else ""

    def events_about(self, namespace: str, kind: str, name: str, more: str = "") -> Sequence[Obj]:
        """The events about an object that are still kept. more: a selector of other fields."""
        about = f"involvedObject.kind={kind},involvedObject.name={name}"
        fields = f"{about},{more}" if more else about
        return self.list(self.kind("v1", "Event"), namespace=namespace, fields=fields).items

    def build_log(self, kind: Kind, name: str, namespace: str, *, tail: int = 20) -> str:
        """The last lines of an OpenShift Build's log."""
        path, target = kind.path(namespace, name, "log"), describe(kind, namespace, name)
        return self._log(path, target, {"tailLines": str(tail)})

    def pod_proxy(
        self, namespace: str, pod: str, port: int, path: str, *, scheme: str = "http"
    ) -> str:
        """What a pod answers to a GET, by way of the API server, which checks no certificate of a pod."""
        name = f"{scheme}:{pod}:{port}" if scheme != "http" else f"{pod}:{port}"
        base = self.kind("v1", "Pod").path(namespace, name).replace("%3A", ":")
        target = f"port {port} of Pod {namespace}/{pod}"
        path = f"{base}/proxy/{path.lstrip('/')}"
        return self._once(path, RequestName("get", target, "proxy"), read_text, read_s=POD_READ_S)

    def node_configz(self, node: str) -> Obj:
        """The configuration that the kubelet of a node runs, defaults included, by way of the API
        server: {"kubeletconfig": KubeletConfiguration}."""
        path = f"{self.kind('v1', 'Node').path(None, node)}/proxy/configz"
        target = f"the kubelet's configuration of Node {node}"
        named = RequestName("get", target, "configz")
        return self._once(path, named, read_json, read_s=POD_READ_S)

    def version(self) -> Obj:
        """The API server's version, as GET /version tells it."""
        named = RequestName("get", "the version")
        return self.request(ApiRequest("GET", "/version", named, repetition=READING), read_version)

    def openapi(self, api_version: str) -> Obj:
        """The OpenAPI v3 document of a group-version."""
        path = f"/openapi/v3{group_version_path(api_version)}"
        named = RequestName("read the fields of", api_version, "openapi")
        return self.request(ApiRequest("GET", path, named, repetition=READING), read_json)

    def _discover(self, api_version: str) -> dict[str, Kind]:
        path = group_version_path(api_version)
        try:
            named = RequestName("read the kinds of", api_version, "discover")
            call = ApiRequest("GET", path, named, repetition=READING)
            return self.request(call, partial(read_kinds, api_version))
        except NotFound:
            return {}

    def _list(
        self,
        kind: Kind,
        namespace: str | None,
        query: dict[str, str],
        rules: ReadRules,
        *,
        limit: int,
    ) -> Listing:
        items: list[Obj] = []
        seen = {""}

        def read_next(answer: ApiResponse) -> Page:
            page = read_page(kind, answer, rules)
            if page[1] and page[1] in seen:
                raise DecodingError("it leads back to a page that was there already")
            return page

        while True:
            call = ApiRequest(
                "GET",
                kind.path(namespace),
                RequestName("list", describe(kind, namespace)),
                query={**query, "limit": str(limit)} if limit else query,
                body=RequestBody(accept=METADATA_ALONE if rules.metadata_only else JSON),
                repetition=READING,
                most_bytes=PAGE_BYTES if limit else None,
            )
            try:
                found, more, resource_version = self.request(call, read_next)
            except TooLarge:
                if limit == 1:
                    raise
                limit = max(1, limit // _FEWER)
                continue
            items += found
            if not more:
                return Listing(items, resource_version)
            seen.add(more)
            query = {**query, "continue": more}

    def request(self, call: ApiRequest, read: Callable[[ApiResponse], T]) -> T:
        """Send a call; read makes of its answer what is returned (decoding.py)."""
        return self.transport.send(call, read)

    def _log(self, path: str, target: str, query: dict[str, str]) -> str:
        named = RequestName("read the log of", target, "logs")
        return self._once(path, named, read_log, query=query, read_s=READ_S)

    def _once(
        self,
        path: str,
        named: RequestName,
        read: Callable[[ApiResponse], T],
        *,
        query: Mapping[str, str] | None = None,
        read_s: float,
    ) -> T:
        """What a pod or its kubelet answers. One that does not answer is a finding, not a reason to
        try again here."""
        call = ApiRequest(
            "GET",
            path,
            named,
            query or {},
            RequestBody(accept="*/*"),
            RepetitionPolicy(once=True),
            relayed_read_s=read_s,
        )
        return self.request(call, read)


def describe(kind: Kind, namespace: str | None, name: str | None = None) -> str:
    """How messages name an object ("Pod a/b") or a collection ("pods in a")."""
    if name:
        return str(
            ObjectKey(
                kind.api_version, kind.kind, (namespace or "") if kind.namespaced else "", name
            )
        )
    return f"{kind.plural} in {namespace}" if kind.namespaced and namespace else kind.plural


def _selection(labels: str | None, fields: str | None) -> dict[str, str]:
    return {
        name: value
        for name, value in (("labelSelector", labels), ("fieldSelector", fields))
        if value
    }


def flag(value: bool) -> str:  # noqa: FBT001 - all that it is about
    """A boolean as query parameters write it."""
    return "true" if value else "false"
