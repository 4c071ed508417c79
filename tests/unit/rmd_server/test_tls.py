# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Facts 4.7: TLS, client certificates, Basic, the access list."""

from __future__ import annotations

import base64
import socket
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.pki import Authority
from tests.rmd import RmdServer, StartError
from tests.rmd.access import read_rules
from tests.rmd.certificates import Certificates, Client
from tests.rmd.packing import write_access_list
from tests.unit.rmd_server.asking import JSON, ask, nested

NODE = "n1.rmd.hardware-enablement.io"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("pki"))


def trust(certificates: Certificates, client: Client | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(certificates.servers.certificate_file))
    if client:
        context.load_cert_chain(client.certificate, client.key)
    return context


def tls_server(certificates: Certificates, **settings: Any) -> RmdServer:
    return RmdServer(tls=certificates.tls("n1", [NODE, "127.0.0.1", "rmd-nameserver"], **settings))


def test_an_admin_may_do_everything(certificates: Certificates) -> None:
    admin = trust(certificates, certificates.client("admin"))
    with tls_server(certificates) as server:
        assert server.url.startswith("https://")
        assert ask(server, "POST", "/workloads", nested("1"), tls=admin).status == 201
        assert ask(server, "GET", "/mba", tls=admin).status == 200
        assert ask(server, "DELETE", "/workloads/1", tls=admin).status == 200
        assert {seen.client for seen in server.requests()} == {"admin"}


def test_no_certificate_no_handshake(certificates: Certificates) -> None:
    with tls_server(certificates) as server:
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            ask(server, "GET", "/workloads", tls=trust(certificates))
        assert server.requests() == []


def test_a_strangers_certificate_no_handshake(certificates: Certificates, tmp_path: Path) -> None:
    stranger = certificates.client("stranger", "", authority=Authority(tmp_path, "other"))
    with tls_server(certificates) as server, pytest.raises((ssl.SSLError, ConnectionResetError)):
        ask(server, "GET", "/workloads", tls=trust(certificates, stranger))


def test_plain_http_is_no_way_in(certificates: Certificates) -> None:
    with tls_server(certificates) as server:
        reply = ask(server, "GET", "/workloads")
        told = "Client sent an HTTP request to an HTTPS server.\n"
        assert (reply.status, reply.text, server.requests()) == (400, told, [])


def test_tls_1_2_with_two_suites_and_no_http_2(certificates: Certificates) -> None:
    client = certificates.client("admin")
    with tls_server(certificates) as server:
        context = trust(certificates, client)
        context.set_alpn_protocols(["h2", "http/1.1"])
        with _secured(server, context) as secured:
            assert secured.version() == "TLSv1.2"
            assert (secured.cipher() or ("",))[0] == "ECDHE-ECDSA-AES256-GCM-SHA384"
            assert secured.selected_alpn_protocol() is None
        context = trust(certificates, client)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            ask(server, "GET", "/workloads", tls=context)
        context = trust(certificates, client)
        context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            ask(server, "GET", "/workloads", tls=context)


def _secured(server: RmdServer, context: ssl.SSLContext, name: str = "127.0.0.1") -> ssl.SSLSocket:
    return context.wrap_socket(
        socket.create_connection((server.address, server.port), 5), server_hostname=name
    )


def test_the_certificates_names(certificates: Certificates) -> None:
    context = trust(certificates, certificates.client("admin"))
    with tls_server(certificates) as server:
        for name in (NODE, "rmd-nameserver"):
            _secured(server, context, name).close()
        with pytest.raises(ssl.SSLCertVerificationError):
            _secured(server, context, "n2.rmd.hardware-enablement.io")


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/workloads", 200),
        ("GET", "/workloads/1", 404),
        ("GET", "/cache", 200),
        ("GET", "/cache/l3", 200),
        ("GET", "/cache/l3/0", 200),
        ("GET", "/policy", 200),
        ("GET", "/mba", 403),
        ("POST", "/hospitality", 403),
        ("POST", "/workloads", 403),
        ("DELETE", "/workloads/1", 403),
        ("PATCH", "/workloads/1", 403),
    ],
)
def test_what_users_may_do(certificates: Certificates, method: str, path: str, status: int) -> None:
    user = trust(certificates, certificates.client("user", "user"))
    with tls_server(certificates) as server:
        reply = ask(server, method, path, headers=JSON, tls=user)
        assert reply.status == status
        if status == 403:
            assert (
                reply.text == 'User "Cert Client User" is not authorized to access this resource\n'
            )


def test_a_certificate_that_no_list_knows(certificates: Certificates) -> None:
    nobody = trust(certificates, certificates.client("nobody", ""))
    with tls_server(certificates) as server:
        reply = ask(server, "GET", "/workloads", tls=nobody)
        assert (reply.status, reply.text) == (401, "nobody is not authorized")
        # The folders are watched: no restart.
        trust(certificates, certificates.client("nobody", "admin"))
        late = trust(certificates, certificates.client("late", "admin"))
        assert ask(server, "GET", "/workloads", tls=late).status == 200


def test_by_username(certificates: Certificates) -> None:
    with tls_server(certificates, authorization="username") as server:
        for name, status in (("root", 201), ("user", 403), ("anybody", 403)):
            reply = ask(
                server,
                "POST",
                "/workloads",
                nested("1"),
                tls=trust(certificates, certificates.client(name, "")),
            )
            assert reply.status == status


def test_by_role(certificates: Certificates) -> None:
    with tls_server(certificates, authorization="role") as server:
        reply = ask(
            server,
            "GET",
            "/workloads",
            tls=trust(certificates, certificates.client("x", "", unit="user")),
        )
        assert reply.status == 200
        reply = ask(
            server,
            "GET",
            "/mba",
            tls=trust(certificates, certificates.client("x", "", unit="user")),
        )
        assert (reply.status, reply.text) == (401, "OU: user is not authorized")
        reply = ask(
            server,
            "POST",
            "/workloads",
            nested("1"),
            tls=trust(certificates, certificates.client("x", "", unit="Admin")),
        )
        assert reply.status == 201


@pytest.mark.parametrize("clientauth", ["require", "challenge_given"])
def test_modes_that_skip_the_access_list(certificates: Certificates, clientauth: str) -> None:
    with tls_server(certificates, clientauth=clientauth) as server:
        anybody = trust(certificates)
        assert ask(server, "POST", "/workloads", nested("1"), tls=anybody).status == 201
        assert ask(server, "DELETE", "/workloads/1", tls=anybody).status == 200


def test_require_any_wants_a_certificate_and_no_more(certificates: Certificates) -> None:
    with tls_server(certificates, clientauth="require_any") as server:
        with pytest.raises((ssl.SSLError, ConnectionResetError)):
            ask(server, "GET", "/workloads", tls=trust(certificates))
        nobody = trust(certificates, certificates.client("no-one", ""))
        assert ask(server, "POST", "/workloads", nested("1"), tls=nobody).status == 201


@pytest.mark.parametrize(
    ("user", "status", "text"),
    [
        ("", 400, "Malformed credentials\n"),
        ("root:wrong", 401, "Authentication failure\n"),
        ("stranger:secret", 401, "Authentication failure\n"),
        ("user:secret", 403, 'User "user" is not authorized to access this resource\n'),
        ("root:secret", 201, ""),
    ],
)
def test_basic(certificates: Certificates, user: str, status: int, text: str) -> None:
    accounts = {"root": "secret", "user": "secret"}
    with tls_server(certificates, clientauth="no", accounts=accounts) as server:
        header = (
            {"Authorization": f"Basic {base64.b64encode(user.encode()).decode()}"} if user else {}
        )
        reply = ask(
            server,
            "POST",
            "/workloads",
            nested("1"),
            headers={**JSON, **header},
            tls=trust(certificates),
        )
        assert reply.status == status
        assert not text or reply.text == text


def test_the_debug_port_asks_nobody() -> None:
    with RmdServer() as server:
        assert ask(server, "POST", "/workloads", nested("1")).status == 201


def test_it_does_not_start_without_its_files(certificates: Certificates, tmp_path: Path) -> None:
    with pytest.raises(StartError, match="Unknow ClientAuth config setting: maybe"):
        tls_server(certificates, clientauth="maybe").start()
    with pytest.raises(StartError, match="Missing enough files for tls config: cert, ca, key"):
        RmdServer(tls=replace(certificates.tls("n1"), certificates=tmp_path)).start()
    with pytest.raises(StartError, match="No such file"):
        tls_server(certificates, clients=tmp_path).start()


def test_the_lists_files_say_the_same(tmp_path: Path) -> None:
    write_access_list(tmp_path)
    tls = Certificates(tmp_path / "pki").tls("n1")
    assert read_rules(tmp_path / "url" / "policy.csv") == (tls.rules, tls.roles)
