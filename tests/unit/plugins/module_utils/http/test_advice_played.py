# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sentence about a connection says is to be done is done, and the request succeeds: API
servers and registries that are really so, on loopback."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ClusterLogin,
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._http import http_pool
from ansible_collections.hardware.enablement.plugins.module_utils._http.http_failure import (
    FailureKind,
    HttpError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._http.proxies import Proxies
from ansible_collections.hardware.enablement.plugins.module_utils._registry import (
    challenge,
    persistence,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import (
    parse,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.login import (
    RepositoryAccess,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryPolicy,
    Trust,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.registry_errors import (
    RegistryError,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.session import (
    RegistryRequest,
    RegistrySession,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.http import (
    wrong_servers as servers,
)

pytest.importorskip("kubernetes")

ALONE = Proxies("", "", "")


@pytest.fixture(autouse=True)
def _no_proxy_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def version(_path: str, _headers: Mapping[str, str]) -> servers.Answer:
    return 200, {"Content-Type": "application/json"}, b'{"major": "1"}'


def kubeconfig(folder: Path, port: int, **cluster: str) -> str:
    """For the server on localhost, whose authority is known."""
    ca, path = folder / "ca.pem", folder / "kubeconfig"
    ca.write_text(servers.AUTHORITY.certificate)
    said = {"server": f"https://localhost:{port}", "certificate-authority": str(ca), **cluster}
    content = {
        "clusters": [{"name": "c", "cluster": said}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path.write_text(json.dumps(content))
    return str(path)


def refused(path: str) -> str:
    with pytest.raises(Unreachable) as caught:
        connect(ConnectionRequest(kubeconfig=path)).version()
    return str(caught.value)


def test_a_proxy_that_wants_an_account_gets_one(tmp_path: Path) -> None:
    pair = servers.certificate()
    with servers.serving(tmp_path, version, pair=pair) as server, servers.proxy() as port:
        path = kubeconfig(tmp_path, server.port, **{"proxy-url": f"http://localhost:{port}"})
        assert refused(path).endswith(
            "the proxy cannot be used: Tunnel connection failed: 407 Proxy Authentication Required;"
            f" write name and password that the proxy accepts into proxy-url in kubeconfig {path}."
        )
        account = f"http://{servers.USER}:{servers.PASSWORD}@localhost:{port}"
        kubeconfig(tmp_path, server.port, **{"proxy-url": account})
        assert connect(ConnectionRequest(kubeconfig=path)).version()["major"] == "1"
        wrong = refused(
            kubeconfig(tmp_path, server.port, **{"proxy-url": account.replace("u:p", "u:hidden")})
        )
        assert "407" in wrong
        assert "hidden" not in wrong


def test_an_expired_certificate_is_renewed(tmp_path: Path) -> None:
    pair = servers.certificate(is_expired=True)
    with servers.serving(tmp_path, version, pair=pair) as server:
        path = kubeconfig(tmp_path, server.port)
        assert refused(path).endswith(
            "the API server's certificate cannot be verified: certificate has expired;"
            " have the API server's certificate renewed, or set this machine's clock."
        )
        server.renew(servers.certificate())
        assert connect(ConnectionRequest(kubeconfig=path)).version()["major"] == "1"


def test_a_client_certificate_that_is_wanted_is_shown(tmp_path: Path) -> None:
    with servers.serving(tmp_path, version, pair=servers.certificate()) as server:
        server.ask_certificates(True)
        path = kubeconfig(tmp_path, server.port)
        assert "check the client certificate" in refused(path)
        pair = servers.client_certificate()
        (tmp_path / "client.pem").write_text(pair.key + pair.certificate)
        both = str(tmp_path / "client.pem")
        asked = ConnectionRequest(
            kubeconfig=path, login=ClusterLogin(client_cert=both, client_key=both)
        )
        assert connect(asked).version()["major"] == "1"


class RegistryBed:
    """A registry on loopback, and what a run knows of it."""

    def __init__(self, folder: Path, server: servers.WrongServer) -> None:
        self.folder, self.server = folder, server
        self.name = f"localhost:{server.port}"
        self.ca, self.keyring, self.plain_http = servers.AUTHORITY.certificate, Keyring(), False
        self.proxies, self.repository = ALONE, "gpu/driver"

    def ask(self) -> bytes:
        """A blob. Raises RegistryError."""
        trust = Trust(self.name, ca=self.ca, plain_http=self.plain_http)
        policy = RegistryPolicy(self.keyring, trusts=[trust], proxies=self.proxies)
        place = parse(f"{self.name}/{self.repository}:1")
        access = RepositoryAccess(place, challenge.pull(place.repository), "read it")
        call = RegistryRequest("GET", "blobs/x", access, frozenset({200}))
        return RegistrySession(policy, lambda _pause: None).send(call).body

    def log_in(self, name: str) -> None:
        account = {"username": name, "password": servers.PASSWORD}
        self.keyring = Keyring.from_configs([json.dumps({"auths": {self.name: account}})])


def blob(_path: str, _headers: Mapping[str, str]) -> servers.Answer:
    return 200, {}, b"blob"


@contextmanager
def registry(
    folder: Path, *, is_expired: bool = False, has_tls: bool = True
) -> Iterator[RegistryBed]:
    pair = servers.certificate(is_expired=is_expired) if has_tls else None
    with servers.serving(folder, blob, pair=pair) as server:
        yield RegistryBed(folder, server)


Play = AbstractContextManager[tuple[RegistryBed, Callable[[], object]]]


@contextmanager
def another_ca(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.ca = ""
        yield bed, lambda: setattr(bed, "ca", servers.AUTHORITY.certificate)


@contextmanager
def expired(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder, is_expired=True) as bed:
        yield bed, lambda: bed.server.renew(servers.certificate())


@contextmanager
def other_name(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        own = bed.name
        bed.name = own.replace("localhost", "127.0.0.1")
        yield bed, lambda: setattr(bed, "name", own)


@contextmanager
def no_tls(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder, has_tls=False) as bed:
        yield bed, lambda: setattr(bed, "plain_http", True)


@contextmanager
def proxied(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    """Through a proxy that wants an account: the registry is an exception."""
    with registry(folder) as bed, servers.proxy() as port:
        bed.proxies = Proxies("", f"http://localhost:{port}", "")
        yield bed, lambda: setattr(bed, "proxies", Proxies("", bed.proxies.https, "localhost"))


@contextmanager
def cut(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = lambda _path, _headers: (200, {"Content-Length": "99"}, b"half")
        yield bed, lambda: setattr(bed.server, "answer", blob)


@contextmanager
def no_registry(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        page = b"x" * (persistence.LARGEST_IN_MEMORY + 1)
        bed.server.answer = lambda _path, _headers: (200, {}, page)
        yield bed, lambda: setattr(bed.server, "answer", blob)


def wants(user: str, status: int) -> Callable[[str, Mapping[str, str]], servers.Answer]:
    """A registry for which this user may read, and others get a status."""
    account = base64.b64encode(f"{user}:{servers.PASSWORD}".encode()).decode()

    def answer(_path: str, headers: Mapping[str, str]) -> servers.Answer:
        said = headers.get("Authorization", "")
        if said == f"Basic {account}":
            return 200, {}, b"blob"
        if not said:
            return 401, {"WWW-Authenticate": 'Basic realm="r"'}, b""
        return status, {"WWW-Authenticate": 'Basic realm="r"'}, b""

    return answer


@contextmanager
def no_account(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = wants("u", 401)
        yield bed, lambda: bed.log_in("u")


@contextmanager
def no_right(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = wants("u", 403)
        bed.log_in("another")
        yield bed, lambda: bed.log_in("u")


@contextmanager
def no_connection(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed, socket.create_server(("127.0.0.1", 0)) as other:
        own, bed.name = bed.name, f"localhost:{other.getsockname()[1]}"
        other.close()
        yield bed, lambda: setattr(bed, "name", own)


@contextmanager
def no_way(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    """To a port that drops whoever asks to be connected."""
    with registry(folder) as bed, servers.full_port() as port:
        own, bed.name = bed.name, f"localhost:{port}"
        yield bed, lambda: setattr(bed, "name", own)


@contextmanager
def no_answer(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        healthy = threading.Event()
        bed.server.answer = lambda path, headers: (healthy.wait(9), blob(path, headers))[1]
        yield bed, healthy.set
        healthy.set()


@contextmanager
def closed(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    def close(_path: str, _headers: Mapping[str, str]) -> servers.Answer:
        raise ConnectionAbortedError

    with registry(folder) as bed:
        bed.server.answer = close
        yield bed, lambda: setattr(bed.server, "answer", blob)


@contextmanager
def of_clients(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    """A registry that wants a certificate of its clients."""
    with registry(folder) as bed:
        bed.server.ask_certificates(True)
        yield bed, lambda: bed.server.ask_certificates(False)


@contextmanager
def other_path(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = lambda path, _headers: (
            (200, {}, b"blob") if path.startswith("/v2/gpu/driver/") else (404, {}, b"")
        )
        bed.repository = "gpu/drivers"
        yield bed, lambda: setattr(bed, "repository", "gpu/driver")


def limited(port: int) -> Callable[[str, Mapping[str, str]], servers.Answer]:
    """A registry that grants users more than others, as Docker Hub does."""
    challenge_ = f'Bearer realm="https://localhost:{port}/token",service="s"'

    def answer(path: str, headers: Mapping[str, str]) -> servers.Answer:
        said = headers.get("Authorization", "")
        if path.startswith("/token"):
            token = "user" if said == servers.BASIC else "anybody"
            return 200, {}, json.dumps({"token": token}).encode()
        if said == "Bearer user":
            return 200, {}, b"blob"
        if said:
            return 429, {"Retry-After": "3600"}, b""
        return 401, {"WWW-Authenticate": challenge_}, b""

    return answer


@contextmanager
def too_early(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = limited(bed.server.port)
        yield bed, lambda: setattr(bed.server, "answer", blob)


@contextmanager
def too_much(folder: Path) -> Iterator[tuple[RegistryBed, Callable[[], object]]]:
    with registry(folder) as bed:
        bed.server.answer = limited(bed.server.port)
        yield bed, lambda: bed.log_in(servers.USER)


# What is wrong, by what the code tells it: the situation, and what ends it.
KINDS: dict[FailureKind, Callable[[Path], Play]] = {
    FailureKind.NOT_TRUSTED: another_ca,
    FailureKind.EXPIRED: expired,
    FailureKind.OTHER_NAME: other_name,
    FailureKind.NO_CERTIFICATE: of_clients,
    FailureKind.NO_TLS: no_tls,
    FailureKind.PROXY: proxied,
    FailureKind.NO_CONNECTION: no_connection,
    FailureKind.CONNECT_TIMEOUT: no_way,
    FailureKind.READ_TIMEOUT: no_answer,
    FailureKind.LOST: closed,
    FailureKind.CUT: cut,
    FailureKind.TOO_LARGE: no_registry,
}
STATUSES: list[tuple[int, str, Callable[[Path], Play]]] = [
    (401, "account", no_account),
    (403, "another pull secret", no_right),
    (404, "correct the name", other_path),
    (429, "later", too_early),
    (429, "log in", too_much),
]
NOT_PLAYED = {
    FailureKind.BAD_CERTIFICATE: "no certificate is shown to a registry, so none is refused",
    FailureKind.TLS: "what no other kind fits, in TLS",
    FailureKind.OTHER: "what no other kind fits",
}


def test_each_advice_of_registries_is_played_or_named() -> None:
    assert {*persistence._FAILURES} == {*FailureKind}
    known = {*FailureKind, *persistence._KINDS}
    assert known == {*KINDS, *(status for status, _todo, _play in STATUSES), *NOT_PLAYED}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_what_a_connection_to_a_registry_lacks_is_given(
    tmp_path: Path, kind: FailureKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_pool, "CONNECT_S", 0.3)
    monkeypatch.setattr(persistence, "READ_S", 0.5)
    with KINDS[kind](tmp_path) as (bed, mend):
        with pytest.raises(RegistryError) as caught:
            bed.ask()
        assert isinstance(caught.value.__cause__, HttpError)
        assert caught.value.__cause__.kind is kind
        assert caught.value.todo == persistence._FAILURES[kind][1]
        mend()
        assert bed.ask() == b"blob"


@pytest.mark.parametrize(("status", "todo", "play"), STATUSES)
def test_what_a_registry_wants_of_an_account_is_given(
    tmp_path: Path, status: int, todo: str, play: Callable[[Path], Play]
) -> None:
    with play(tmp_path) as (bed, mend):
        with pytest.raises(RegistryError) as caught:
            bed.ask()
        assert caught.value.status == status
        assert todo in caught.value.todo
        mend()
        assert bed.ask() == b"blob"


def test_a_registry_that_wants_a_certificate_is_not_asked_at_another_port(tmp_path: Path) -> None:
    with of_clients(tmp_path) as (bed, _mend), pytest.raises(RegistryError) as caught:
        bed.ask()
    assert "port" not in caught.value.todo
    assert "take clients without a certificate" in caught.value.todo
