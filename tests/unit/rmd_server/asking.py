# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests over real sockets, and bodies of both dialects."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.rmd import Dialect, RmdServer

JSON = {"Content-Type": "application/json"}
INVALID = "Failed to validate workload. Reason: "
IN_DATABASE = f"{INVALID}Workload validation in database failed. Details: "


@dataclass(frozen=True)
class Reply:
    """kind: the content type, "" without."""

    status: int
    kind: str
    text: str

    @property
    def json(self) -> Any:
        assert self.kind == "application/json", self
        return json.loads(self.text)


def ask(
    server: RmdServer,
    method: str,
    path: str,
    body: object = None,
    *,
    headers: Mapping[str, str] | None = None,
    tls: ssl.SSLContext | None = None,
) -> Reply:
    """body: what is no text is sent as JSON, with its content type. Errors of the connection are
    raised."""
    connection: http.client.HTTPConnection
    if tls is None:
        connection = http.client.HTTPConnection(server.address, server.port, timeout=10)
    else:
        connection = http.client.HTTPSConnection(
            server.address, server.port, timeout=10, context=tls
        )
    content = body if body is None or isinstance(body, str) else json.dumps(body)
    try:
        connection.request(
            method, f"/v1{path}", content, dict(headers or (JSON if body is not None else {}))
        )
        answer = connection.getresponse()
        return Reply(answer.status, answer.getheader("Content-Type", ""), answer.read().decode())
    finally:
        connection.close()


def nested(
    cores: str, most: int | None = 1, least: int | None = None, **more: Any
) -> dict[str, Any]:
    """A body of 0.3: cores "1,2" as single ids; least as most unless given; mba, uuid, policy and
    more as they are."""
    body: dict[str, Any] = {"core_ids": cores.split(",")} if cores else {}
    cache = {} if most is None else {"max": most, "min": most if least is None else least}
    mba = {key: more.pop(key) for key in ("percentage", "mbps") if key in more}
    if cache or mba:
        body["rdt"] = {**({"cache": cache} if cache else {}), **({"mba": mba} if mba else {})}
    return {**body, **more}


def flat(cores: str, most: int | None = 1, least: int | None = None, **more: Any) -> dict[str, Any]:
    """A body of 0.2."""
    body: dict[str, Any] = {"core_ids": cores.split(",")} if cores else {}
    if most is not None:
        body["cache"] = {"max": most, "min": most if least is None else least}
    return {**body, **more}


def body_for(
    server: RmdServer, cores: str, most: int | None = 1, least: int | None = None, **more: Any
) -> Any:
    """A body in the server's dialect."""
    make = nested if server.settings.dialect is Dialect.V03 else flat
    return make(cores, most, least, **more)


def post(
    server: RmdServer, cores: str, most: int | None = 1, least: int | None = None, **more: Any
) -> Any:
    """POST that has to go well; the object."""
    reply = ask(server, "POST", "/workloads", body_for(server, cores, most, least, **more))
    assert reply.status == 201, reply
    return reply.json
