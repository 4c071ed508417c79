# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTPS behind the API server: what is stored is asked of it, under another name; the rest is
answered here.

The API server in front has authenticated and authorized each request before it comes here, and
stores the objects: what it does for custom resources (watches, dry runs, server-side apply, field
validation, garbage collection) is real.
"""

from __future__ import annotations

import json
import logging
import socket
import ssl
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from cryptography import x509
from cryptography.x509.oid import NameOID
from urllib3 import BaseHTTPResponse

from tests.cluster.api import Api, ApiError
from tests.cluster.builds_api import stored
from tests.cluster.builds_api.builds import Builds
from tests.cluster.builds_api.image_streams import ImageStreams
from tests.cluster.builds_api.stored import GROUPS, VERSION, Obj

LOG = logging.getLogger(__name__)
# The only client that may say who its users are (kube-apiserver's flag
# --requestheader-allowed-names).
FRONT_PROXY = "front-proxy-client"
_HEALTH = ("/healthz", "/livez", "/readyz")
_APPLY = "application/apply-patch+yaml"
_REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
_REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "AlreadyExists",
    422: "Invalid",
    503: "ServiceUnavailable",
    504: "Timeout",
}
# What is not stored: (name, kind, verbs).
_ADDED = {
    stored.BUILD_GROUP: (
        ("buildconfigs/instantiate", "BuildRequest", ["create"]),
        ("builds/log", "BuildLog", ["get"]),
    ),
    stored.IMAGE_GROUP: (("imagestreamtags", "ImageStreamTag", ["get", "list"]),),
}


class Server(ThreadingHTTPServer):
    """Listens on loopback. pki: the folder with its certificate and the front proxy's, which its
    clients must have."""

    daemon_threads = True

    def __init__(
        self, port: int, kubeconfig: Path, pki: Path, builds: Builds, streams: ImageStreams
    ) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.kubeconfig, self.builds, self.streams = kubeconfig, builds, streams
        self.api = Api(kubeconfig)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(pki / "builds-api.crt", pki / "builds-api.key")
        self.tls.load_verify_locations(pki / "front-proxy.crt")
        # Health is for everybody; the rest is refused to who shows no certificate.
        self.tls.verify_mode = ssl.CERT_OPTIONAL

    def finish_request(
        self, request: socket.socket | tuple[bytes, socket.socket], client_address: object
    ) -> None:
        # Here and not around the listening socket, so that a slow handshake holds up its own thread
        # only.
        if not isinstance(request, socket.socket):
            return
        request.settimeout(30)
        with self.tls.wrap_socket(request, server_side=True) as secured:
            # The API server keeps connections for later requests.
            secured.settimeout(None)
            super().finish_request(secured, client_address)

    def handle_error(self, _request: object, client_address: object) -> None:
        """A client that went away, or that showed a certificate of somebody else's authority, is no
        news."""
        if not isinstance(sys.exc_info()[1], OSError):
            LOG.exception("connection of %s", client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def handle_one_request(self) -> None:
        """Any method is answered in one place: no do_GET and the like."""
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline:
            self.close_connection = True
        elif self.parse_request():
            body = self._body()
            try:
                self._answer(urlsplit(self.path).path, body)
            except ApiError as error:
                self._refuse(error.status or 503, stored.to_served(str(error).encode()).decode())
            self.wfile.flush()
            if self.command not in ("GET", "HEAD"):
                self.server.builds.changed()

    def _body(self) -> bytes:
        """The request's body; the API server passes some on in chunks."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailers
        return b"".join(pieces)

    def _answer(self, path: str, body: bytes) -> None:
        if path in _HEALTH:
            return self._send(200, b"ok", "text/plain")
        if not self._is_front_proxy():
            return self._refuse(401, "Unauthorized")
        match path.strip("/").split("/"):
            case ["apis"] if "APIGroupDiscoveryList" not in self.headers.get("Accept", ""):
                groups = [_group(name) for name in GROUPS]
                return self._say({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
            case ["apis", group, version] if group in GROUPS and version == VERSION:
                return self._discover(group)
            case [
                "apis",
                stored.BUILD_GROUP,
                _version,
                "namespaces",
                namespace,
                "buildconfigs",
                name,
                "instantiate",
            ]:
                return self._say(
                    self.server.builds.instantiate(namespace, name, json.loads(body)), 201
                )
            case [
                "apis",
                stored.BUILD_GROUP,
                _version,
                "namespaces",
                namespace,
                "builds",
                name,
                "log",
            ]:
                tail = dict(parse_qsl(urlsplit(self.path).query)).get("tailLines", "0")
                return self._send(
                    200, self.server.builds.log(namespace, name, int(tail)).encode(), "text/plain"
                )
            case [
                "apis",
                stored.IMAGE_GROUP,
                _version,
                "namespaces",
                namespace,
                "imagestreamtags",
                *name,
            ]:
                streams = self.server.streams
                return self._say(
                    streams.tag(namespace, name[0]) if name else streams.tags(namespace)
                )
            case ["apis", group, _version, *rest] if group in GROUPS and rest:
                return self._forward(body)
        return self._refuse(404, "the server could not find the requested resource")

    def _is_front_proxy(self) -> bool:
        assert isinstance(self.connection, ssl.SSLSocket)
        shown = self.connection.getpeercert(True)
        certificate = x509.load_der_x509_certificate(shown) if shown else None
        names = (
            certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME) if certificate else []
        )
        return [name.value for name in names] == [FRONT_PROXY]

    def _discover(self, group: str) -> None:
        found = self.server.api.get(stored.to_stored(f"/apis/{group}/{VERSION}".encode()).decode())
        served = json.loads(stored.to_served(json.dumps(found).encode()))
        for resource in served["resources"]:
            resource["shortNames"] = stored.short_names(resource["name"])
        for name, kind, verbs in _ADDED[group]:
            entry = {
                "name": name,
                "singularName": "",
                "namespaced": True,
                "kind": kind,
                "verbs": verbs,
            }
            served["resources"].append(entry)
        self._say(served)

    def _forward(self, body: bytes) -> None:
        """Ask the API server the same of what is stored."""
        path = stored.to_stored(self.path.encode()).decode()
        headers = {
            name: self.headers[name]
            for name in ("Content-Type", "User-Agent")
            if name in self.headers
        }
        # Groups can be renamed in text only.
        headers["Accept"] = ",".join(
            item for item in self.headers.get("Accept", "").split(",") if "json" in item
        )
        if dict(parse_qsl(urlsplit(path).query)).get("watch") in ("true", "1"):
            self._watch(path, headers)
            return
        if headers.get("Content-Type") == _APPLY:
            self._need_create(path)
        answer = self.server.api.send(self.command, path, stored.to_stored(body), headers)
        self._send(
            answer.status,
            stored.to_served(answer.data),
            answer.headers["Content-Type"],
            _warnings(answer),
        )

    def _need_create(self, path: str) -> None:
        """An apply that creates needs both rights, and the API server in front has asked for
        one."""
        try:
            self.server.api.get(path.partition("?")[0])
            return
        except ApiError as error:
            if error.status != 404:
                raise
        _apis, group, version, _namespaces, namespace, plural, name = (
            urlsplit(self.path).path.strip("/").split("/")
        )
        attributes = {"verb": "create", "group": group, "version": version, "resource": plural}
        spec = {
            "user": self.headers["X-Remote-User"],
            "groups": self.headers.get_all("X-Remote-Group") or [],
            "resourceAttributes": {**attributes, "namespace": namespace, "name": name},
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": spec,
        }
        if not self.server.api.request("POST", _REVIEWS, review)["status"]["allowed"]:
            why = f'User "{spec["user"]}" cannot create resource "{plural}" in API group "{group}"'
            raise ApiError(
                403, f'{plural}.{group} "{name}" is forbidden: {why} in the namespace "{namespace}"'
            )

    def _watch(self, path: str, headers: Mapping[str, str]) -> None:
        # On a connection of its own: those that are kept are for requests that end.
        with closing(Api(self.server.kubeconfig)) as api:
            answer = api.send("GET", path, None, headers, stream=True)
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.headers["Content-Type"])
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.flush()
            for line in answer:
                piece = stored.to_served(line)
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")

    def _say(self, obj: Obj, status: int = 200) -> None:
        self._send(status, json.dumps(obj).encode(), "application/json")

    def _refuse(self, code: int, message: str) -> None:
        refusal = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        self._say(
            {
                **refusal,
                "message": message,
                "reason": _REASONS.get(code, "InternalError"),
                "code": code,
            },
            code,
        )

    def _send(
        self, status: int, body: bytes, content_type: str, warnings: Sequence[str] = ()
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        for warning in warnings:
            self.send_header("Warning", warning)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: object) -> None:
        """Requests are in the API server's audit log already."""


def _warnings(answer: BaseHTTPResponse) -> list[str]:
    return [
        stored.to_served(value.encode()).decode() for value in answer.headers.getlist("Warning")
    ]


def _group(name: str) -> Obj:
    version = {"groupVersion": f"{name}/{VERSION}", "version": VERSION}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": [version],
        "preferredVersion": version,
    }
