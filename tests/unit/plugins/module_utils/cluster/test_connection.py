# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Authentication: whatever kubernetes.core's users know works, and what is wrong is said in one
sentence."""

from __future__ import annotations

import datetime
import ipaddress
import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client import (
    connection,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.api_errors import (
    Unauthorized,
    Unreachable,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._http import pki
from ansible_collections.hardware.enablement.plugins.module_utils._schema.requests import (
    make_request,
)
from tests.unit.patience import PATIENCE_S
from tests.unit.plugins.module_utils.cluster.conftest import connection_request

Write = Callable[..., str]


def document(url: str, user: dict[str, Any], **cluster: Any) -> dict[str, Any]:
    """A kubeconfig for a server."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url, **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


@pytest.fixture
def kubeconfig(tmp_path: Path, fake: Any) -> Write:
    """Write a kubeconfig for the fake server whose user is given; returns its path."""

    def write(user: dict[str, Any], **cluster: Any) -> str:
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(document(fake.url, user, **cluster)))
        return str(path)

    return write


def test_a_token_of_a_kubeconfig(fake: Any, kubeconfig: Write) -> None:
    connect(ConnectionRequest(kubeconfig=kubeconfig({"token": "t"}))).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer t"


def test_a_kubeconfig_as_data(fake: Any, kubeconfig: Write) -> None:
    connect(
        ConnectionRequest(kubeconfig=json.loads(Path(kubeconfig({"token": "t"})).read_text()))
    ).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer t"


def test_an_option_beats_the_kubeconfig(fake: Any, kubeconfig: Write) -> None:
    connect(connection_request(kubeconfig=kubeconfig({"token": "t"}), api_key="mine")).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer mine"


@pytest.mark.parametrize("name", ["KUBECONFIG", "K8S_AUTH_KUBECONFIG"])
def test_variables_that_were_set_after_the_import(
    fake: Any, kubeconfig: Write, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, kubeconfig({"token": "t"}))
    connect(make_request(ConnectionRequest, {"recipe": "no connection option"})).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer t"


def test_empty_variables_are_no_values(
    fake: Any, kubeconfig: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HOST", "API_KEY", "CONTEXT", "SSL_CA_CERT"):
        monkeypatch.setenv(f"K8S_AUTH_{name}", "")
    connect(ConnectionRequest(kubeconfig=kubeconfig({"token": "t"}))).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer t"


# How a task says which cluster it means, with a kubeconfig that leads there and credentials of its
# own.
MEANT: dict[str, Callable[[str, str, Any], dict[str, Any]]] = {
    "kubeconfig": lambda _url, path, _ca: {"kubeconfig": path},
    "kubeconfig and context": lambda _url, path, _ca: {"kubeconfig": path, "context": "x"},
    "kubeconfig as data": lambda _url, path, _ca: {
        "kubeconfig": json.loads(Path(path).read_text())
    },
    "host and token": lambda url, _path, _ca: {"host": url, "api_key": "mine"},
    "host, token and CA": lambda url, _path, ca: {
        "host": url,
        "api_key": "mine",
        "ca_cert": str(ca),
    },
    "host and password": lambda url, _path, _ca: {
        "host": url,
        "username": "me",
        "password": "mine",
    },
}
AROUND = ("KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_CONTEXT", "K8S_AUTH_HOST", "home", "pod")


@pytest.fixture
def around(other: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Bring a way to another cluster into the surroundings."""
    config = document(other.url, {"token": "theirs", "username": "them", "password": "theirs"})
    config["contexts"].append({"name": "theirs", "context": {"cluster": "c", "user": "u"}})
    home, file = tmp_path / ".kube" / "config", tmp_path / "theirs"
    file.write_text(json.dumps({**config, "current-context": "theirs"}))

    def bring(way: str) -> None:
        if way == "home":
            home.parent.mkdir()
            home.write_text(file.read_text())
            # The client has looked for it when it was imported.
            monkeypatch.setattr(
                "kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(home)
            )
        elif way == "pod":
            for name in ("TOKEN", "CERT"):
                monkeypatch.setattr(
                    f"kubernetes.config.incluster_config.SERVICE_{name}_FILENAME", str(file)
                )
            monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
            monkeypatch.setenv("KUBERNETES_SERVICE_PORT", other.url.rpartition(":")[2])
        elif way == "K8S_AUTH_HOST":
            named = {
                "HOST": other.url,
                "API_KEY": "theirs",
                "USERNAME": "them",
                "PASSWORD": "theirs",
            }
            for name, value in {
                **named,
                "SSL_CA_CERT": "/no/such/ca",
                "CERT_FILE": "/no/cert",
            }.items():
                monkeypatch.setenv(f"K8S_AUTH_{name}", value)
        else:
            monkeypatch.setenv(way, "theirs" if way == "K8S_AUTH_CONTEXT" else str(file))

    return bring


@pytest.mark.parametrize("ways", [*((way,) for way in AROUND), AROUND], ids=" ".join)
def test_the_cluster_that_a_task_names_wins_over_all_that_are_around(
    fake: Any,
    other: Any,
    kubeconfig: Write,
    around: Callable[[str], None],
    tmp_path: Path,
    ways: tuple[str, ...],
) -> None:
    path, ca = kubeconfig({"token": "mine"}), tmp_path / "ca"
    ca.touch()
    for way in ways:
        around(way)
    for name, meant in MEANT.items():
        client = connect(connection_request(**meant(fake.url, path, ca)))
        client.version()
        assert (client.host, other.asked) == (fake.url, []), name
        assert fake.asked[-1].headers["Authorization"] in ("Bearer mine", "Basic bWU6bWluZQ=="), (
            name
        )
        assert client.context == ("x" if "kubeconfig" in name else ""), name


@pytest.mark.parametrize("way", ["KUBECONFIG", "K8S_AUTH_KUBECONFIG", "K8S_AUTH_HOST", "home"])
def test_what_is_around_counts_where_no_cluster_is_named(
    other: Any, around: Callable[[str], None], monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    around(way)
    for name in ("SSL_CA_CERT", "CERT_FILE"):
        monkeypatch.delenv(f"K8S_AUTH_{name}", raising=False)
    connect(ConnectionRequest()).version()
    assert len(other.asked) == 1


@pytest.mark.parametrize("name", ["KUBECONFIG", "K8S_AUTH_KUBECONFIG"])
def test_a_context_that_is_given_is_looked_for_in_the_environments_kubeconfig(
    fake: Any, kubeconfig: Write, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("K8S_AUTH_CONTEXT", "elsewhere")
    monkeypatch.setenv("K8S_AUTH_HOST", "https://127.0.0.1:1")
    monkeypatch.setenv(name, kubeconfig({"token": "t"}))
    client = connect(ConnectionRequest(context="x"))
    client.version()
    assert fake.asked[0].headers["Authorization"] == "Bearer t"
    assert client.context == "x"


def test_a_host_alone_takes_the_environments_token(
    fake: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K8S_AUTH_API_KEY", "mine")
    connect(ConnectionRequest(host=fake.url)).version()
    assert fake.asked[0].headers["Authorization"] == "Bearer mine"


def test_the_cluster_that_is_meant_and_another_one(fake: Any) -> None:
    where = {"host": fake.url, "api_key": "mine"}
    fake.script((200, {}, {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "1-2"}}))
    connect(connection_request(cluster_uid="1-2", **where))
    assert fake.asked[0].path == "/api/v1/namespaces/kube-system"
    fake.script((200, {}, {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "3-4"}}))
    with pytest.raises(
        EnablementError,
        match=r"not the cluster that was meant \(cluster http.*UID 3-4\).* is 1-2; correct",
    ):
        connect(connection_request(cluster_uid="1-2", **where))


def test_a_cluster_that_does_not_say_which_it_is(fake: Any) -> None:
    fake.script((403, {}, {"kind": "Status", "reason": "Forbidden", "code": 403}))
    with pytest.raises(
        EnablementError, match=r"cannot be told from others .*UID unknown.*allow this user to get"
    ):
        connect(connection_request(host=fake.url, api_key="mine", cluster_uid="1-2"))


def test_user_and_password(fake: Any) -> None:
    connect(connection_request(host=fake.url + "/", username="alice", password="secret")).version()
    assert fake.asked[0].headers["Authorization"] == "Basic YWxpY2U6c2VjcmV0"
    assert fake.asked[0].path == "/version"


def test_a_service_accounts_token_is_read_again_when_it_may_have_been_renewed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Clock(datetime.datetime):
        """The loader's, which can be set."""

        ahead = datetime.timedelta()

        @classmethod
        def now(cls, tz: datetime.tzinfo | None = None) -> Any:
            return datetime.datetime.now(tz) + cls.ahead

    module = "kubernetes.config.incluster_config"
    for name in ("TOKEN", "CERT"):
        (tmp_path / name).write_text("first")
        monkeypatch.setattr(f"{module}.SERVICE_{name}_FILENAME", str(tmp_path / name))
    clock = SimpleNamespace(datetime=Clock, timedelta=datetime.timedelta)
    monkeypatch.setattr(f"{module}.datetime", clock)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    opened = connection.open_connection(ConnectionRequest())
    assert opened.headers()["authorization"] == "bearer first"
    # A kubelet renews it within its hour.
    (tmp_path / "TOKEN").write_text("second")
    Clock.ahead = datetime.timedelta(minutes=2)
    assert opened.headers()["authorization"] == "bearer second"


def test_a_login_plugin_is_asked_again_when_its_token_expires(
    fake: Any, kubeconfig: Write, tmp_path: Path
) -> None:
    program = tmp_path / "login.py"
    program.write_text(
        "import json, pathlib\n"
        f"count = pathlib.Path({str(tmp_path / 'count')!r})\n"
        "n = int(count.read_text()) + 1 if count.exists() else 1\n"
        "count.write_text(str(n))\n"
        "status = {'token': f't{n}', 'expirationTimestamp': '2020-01-01T00:00:00Z'}\n"
        "kind = {'apiVersion': 'client.authentication.k8s.io/v1', 'kind': 'ExecCredential'}\n"
        "print(json.dumps({**kind, 'status': status}))\n"
    )
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(program)],
    }
    client = connect(
        ConnectionRequest(kubeconfig=kubeconfig({"exec": {**plugin, "interactiveMode": "Never"}}))
    )
    client.version()
    client.version()
    tokens = [asked.headers["Authorization"] for asked in fake.asked]
    assert len(set(tokens)) == 2
    assert all(token.startswith("Bearer t") for token in tokens)


def test_a_login_plugin_that_fails(kubeconfig: Write, capfd: pytest.CaptureFixture[str]) -> None:
    plugin = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "/no/such/login",
        "args": [],
    }
    with pytest.raises(InvalidInput, match=r"Cannot log in to the cluster .*/no/such/login"):
        connect(
            ConnectionRequest(
                kubeconfig=kubeconfig({"exec": {**plugin, "interactiveMode": "Never"}})
            )
        )
    assert capfd.readouterr().err == ""


def test_nothing_is_left_of_the_connection_before(fake: Any, kubeconfig: Write) -> None:
    connect(
        ConnectionRequest(
            kubeconfig=kubeconfig({"token": "t", "username": "alice", "password": "p"})
        )
    )
    client = connect(connection_request(host=fake.url, api_key="mine", validate_certs=True))
    client.version()
    assert fake.asked[0].headers["Authorization"] == "Bearer mine"
    assert client.transport._connection._configuration.verify_ssl is True


def test_decoded_keys_do_not_outlive_a_forked_worker(kubeconfig: Write, tmp_path: Path) -> None:
    """Forked workers end by os._exit, which skips atexit, where the kubernetes client would remove
    its files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    user = {"client-certificate-data": "YQ==", "client-key-data": "Yg=="}
    path = kubeconfig(user, server="https://127.0.0.1:1")
    program = (
        "import multiprocessing, os, sys\n"
        f"from {connection.__name__} import ConnectionRequest, open_connection\n"
        "def work():\n"
        f"    open_connection(ConnectionRequest(kubeconfig={path!r}))\n"
        f"    assert os.listdir({str(folder)!r})\n"
        "process = multiprocessing.get_context('fork').Process(target=work)\n"
        "process.start()\n"
        "process.join()\n"
        "sys.exit(process.exitcode)\n"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "TMPDIR": str(folder)}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True, timeout=PATIENCE_S)
    assert list(folder.iterdir()) == []


def sentence(params: dict[str, Any]) -> str:
    with pytest.raises(InvalidInput) as caught:
        connect(connection_request(**params))
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("Cannot connect to a cluster")
    return text


def test_nothing_is_configured() -> None:
    assert "neither host nor kubeconfig is given" in sentence({})


def test_mistakes_in_a_kubeconfig(kubeconfig: Write, tmp_path: Path) -> None:
    path = kubeconfig({"token": "t"})
    assert "kubeconfig /no/such/file): there is no such file" in sentence(
        {"kubeconfig": "/no/such/file"}
    )
    assert "context other): Expected object with name other" in sentence(
        {"kubeconfig": path, "context": "other"}
    )
    assert "cannot be read" in sentence({"kubeconfig": str(tmp_path)})
    Path(path).write_text("clusters: [")
    assert "the kubeconfig is not YAML (line" in sentence({"kubeconfig": path})
    Path(path).write_text("just text")
    sentence({"kubeconfig": path})
    Path(path).write_text("")
    assert "empty" in sentence({"kubeconfig": path})
    for deep in ("clusters: " + "[" * 2000 + "]" * 2000, "clusters: &a [*a]\nusers: *a"):
        Path(path).write_text(deep)
        sentence({"kubeconfig": path})
    with Path(path).open("ab") as file:
        file.truncate(10**10)
    assert "is larger than 5000000 bytes; name a smaller one" in sentence({"kubeconfig": path})


def test_mistakes_in_options() -> None:
    assert '"api:6443" is no URL' in sentence({"host": "api:6443", "api_key": "x"})
    text = sentence({"host": "https://api", "api_key": "topsecret", "ca_cert": "/no/such/ca"})
    assert "the file /no/such/ca does not exist" in text
    assert "topsecret" not in text


@pytest.mark.parametrize(
    ("name", "words"), [("kubernetes", "package kubernetes"), ("core", "collection kubernetes.c")]
)
def test_something_is_not_installed(monkeypatch: pytest.MonkeyPatch, name: str, words: str) -> None:
    monkeypatch.setattr(connection, name, None)
    assert words in sentence({"host": "https://api", "api_key": "x"})


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """(URL, CA file) of a server with a certificate of its own."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("api.test")]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    ca, both = tmp_path / "ca.pem", tmp_path / "server.pem"
    ca.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    both.write_bytes(private + ca.read_bytes())

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"major": "1"}')

        def log_message(self, *_args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    ).start()
    yield f"https://127.0.0.1:{server.server_address[1]}", ca
    server.shutdown()
    server.server_close()


def test_a_certificate_is_verified_unless_the_user_says_otherwise(
    tls_server: tuple[str, Path],
) -> None:
    url, ca = tls_server
    assert connect(connection_request(host=url, api_key="x", ca_cert=str(ca))).version() == {
        "major": "1"
    }
    assert connect(connection_request(host=url, api_key="x", validate_certs=False)).version() == {
        "major": "1"
    }
    with pytest.raises(Unreachable) as caught:
        connect(connection_request(host=url, api_key="x")).version()
    text = str(caught.value)
    assert "the API server's certificate cannot be verified: self-signed certificate" in text
    assert "ca_cert" in text
    assert "_ssl.c" not in text


def unreachable(**params: Any) -> str:
    """The sentence of a request that has no answer."""
    with pytest.raises(Unreachable) as caught:
        connect(connection_request(**params)).version()
    return str(caught.value)


def test_a_wrong_name_in_the_certificate_is_mended_by_another_name_and_not_by_a_ca(
    tls_server: tuple[str, Path], tmp_path: Path
) -> None:
    url, ca = tls_server
    path = tmp_path / "kubeconfig"
    trusted = {"certificate-authority": str(ca)}
    wrong = url.replace("127.0.0.1", "localhost")
    path.write_text(json.dumps(document(wrong, {"token": "t"}, **trusted)))
    text = unreachable(kubeconfig=str(path))
    assert "not valid for 'localhost'; name the API server as its certificate does" in text
    assert f"server in kubeconfig {path}, or set tls-server-name there" in text
    assert "CA" not in text
    for mended in (
        document(url, {"token": "t"}, **trusted),
        document(wrong, {"token": "t"}, **trusted, **{"tls-server-name": "api.test"}),
    ):
        path.write_text(json.dumps(mended))
        assert connect(ConnectionRequest(kubeconfig=str(path))).version() == {"major": "1"}
    given = unreachable(host=wrong, api_key="x", ca_cert=str(ca))
    assert given.endswith("by option host (hardware_enablement_host).")


def test_another_ca_than_the_one_that_signed_is_named_by_where_it_was_given(
    tls_server: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, ca = tls_server
    other, path = tmp_path / "other.pem", tmp_path / "kubeconfig"
    now = datetime.datetime.now(datetime.timezone.utc)
    other.write_text(pki.make_authority("other", now, 1).certificate)
    todo = "give the CA that signed it by {}, which is another one now"
    text = unreachable(host=url, api_key="x", ca_cert=str(other))
    assert todo.format("option ca_cert (hardware_enablement_ca_cert)") in text
    path.write_text(
        json.dumps(document(url, {"token": "t"}, **{"certificate-authority": str(other)}))
    )
    assert todo.format(f"certificate-authority in kubeconfig {path}") in unreachable(
        kubeconfig=str(path)
    )
    for name, value in {"HOST": url, "API_KEY": "x", "SSL_CA_CERT": str(other)}.items():
        monkeypatch.setenv(f"K8S_AUTH_{name}", value)
    assert todo.format("variable K8S_AUTH_SSL_CA_CERT") in unreachable()
    monkeypatch.setenv("K8S_AUTH_SSL_CA_CERT", str(ca))
    assert connect(ConnectionRequest()).version() == {"major": "1"}


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port on loopback where nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        yield sock.getsockname()[1]


@pytest.mark.parametrize("where", ["kubeconfig", "option proxy", "K8S_AUTH_PROXY", "HTTP_PROXY"])
def test_a_proxy_that_does_not_answer_is_named_by_what_says_it(
    kubeconfig: Write, closed_port: int, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    for name in ("NO_PROXY", "no_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    proxy, cluster = f"http://127.0.0.1:{closed_port}", {}
    params: dict[str, Any] = {}
    if where == "kubeconfig":
        cluster = {"proxy-url": proxy}
    elif where == "option proxy":
        params = {"proxy": proxy}
    else:
        monkeypatch.setenv(where, proxy)
    path = kubeconfig({"token": "t"}, **cluster)
    named = {"kubeconfig": f"proxy-url in kubeconfig {path}", "option proxy": where}
    assert unreachable(kubeconfig=path, **params).endswith(
        f": the proxy cannot be used: Connection refused; correct {named.get(where, f'variable {where}')},"
        " or see that this proxy runs, then run again."
    )
    monkeypatch.delenv(where, raising=False)
    kubeconfig({"token": "t"})
    connect(ConnectionRequest(kubeconfig=path)).version()


def test_a_proxy_that_wants_an_account_says_so(
    fake: Any, kubeconfig: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "")
    fake.script((407, {}, b""))
    path = kubeconfig({"token": "t"}, server="https://api.test", **{"proxy-url": fake.url})
    text = unreachable(kubeconfig=path)
    assert "Tunnel connection failed: 407" in text
    assert (
        f"write name and password that the proxy accepts into proxy-url in kubeconfig {path}"
        in text
    )


@pytest.mark.parametrize("where", ["kubeconfig", "api_key", "K8S_AUTH_API_KEY"])
def test_credentials_that_are_refused_are_named_by_where_they_come_from(
    fake: Any, kubeconfig: Write, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    fake.script((401, {}, {"kind": "Status", "code": 401, "message": "Unauthorized"}))
    path, given = kubeconfig({"token": "t"}), {}
    named = {
        "kubeconfig": f"the user's credentials in kubeconfig {path}",
        "api_key": "option api_key (hardware_enablement_api_key)",
    }
    if where == "api_key":
        given = {"api_key": "mine"}
    elif where != "kubeconfig":
        monkeypatch.setenv(where, "theirs")
        monkeypatch.setenv("K8S_AUTH_KUBECONFIG", path)
    target = {} if where == "K8S_AUTH_API_KEY" else {"kubeconfig": path}
    with pytest.raises(Unauthorized) as caught:
        connect(connection_request(**target, **given)).version()
    assert str(caught.value).endswith(f"; renew {named.get(where, f'variable {where}')}.")


def test_plain_text_is_never_tried_instead_of_tls(fake: Any) -> None:
    with pytest.raises(Unreachable, match="speaks no TLS; correct option host"):
        connect(connection_request(host=fake.url.replace("http:", "https:"), api_key="x")).version()
    assert fake.asked == []
