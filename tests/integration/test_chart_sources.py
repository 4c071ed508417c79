# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Charts that are not in a folder: as helm itself packs and pushes them, and lists them in an index."""

from __future__ import annotations

import base64
import json
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._charts.recipe_store import (
    RecipeStore,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.client import (
    Client,
    connect,
)
from ansible_collections.hardware.enablement.plugins.module_utils._cluster.api_client.connection_request import (
    ConnectionRequest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._errors import (
    EnablementError,
    InvalidInput,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.bundle import (
    read_bundle,
)
from ansible_collections.hardware.enablement.plugins.module_utils._interface.recipe_source import (
    open_store,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_client import (
    Registries,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.keyring import Keyring
from ansible_collections.hardware.enablement.plugins.module_utils._registry.policy import (
    RegistryPolicy,
)
from tests.cluster import Cluster
from tests.cluster.pki import Authority
from tests.cluster.programs import HELM_MODULES, ensure_programs
from tests.integration.registry_bed import Bed, serving
from tests.scenes.sro_recipes import sro_recipes

pytestmark = pytest.mark.recipes

RECIPES = sro_recipes()
ACCOUNT = base64.b64encode(b"charts:secret-of-charts").decode()
Open = Callable[..., RecipeStore]


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """The real program, with settings of its own."""
    program, home = ensure_programs(modules=HELM_MODULES)["helm"], tmp_path_factory.mktemp("home")

    def run(*arguments: str) -> None:
        environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
        subprocess.run([program, *arguments], check=True, capture_output=True, env=environment)

    return run


@pytest.fixture(scope="module")
def packed(helm: Callable[..., None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of one chart and an index, as `helm package` and `helm repo index` make them."""
    folder = tmp_path_factory.mktemp("charts")
    for version in ("0.0.1", "0.0.2"):
        helm("package", str(RECIPES / "simple-kmod"), "--version", version, "-d", str(folder))
    helm("repo", "index", str(folder))
    return folder


class WithLogin(SimpleHTTPRequestHandler):
    """Files for those who log in."""

    def do_GET(self) -> None:
        if self.headers.get("Authorization") == f"Basic {ACCOUNT}":
            super().do_GET()
        else:
            self.send_error(401)

    def log_message(self, *_args: object) -> None:
        """Nobody reads it."""


@pytest.fixture(scope="module")
def address(packed: Path, authority: Authority) -> Iterator[str]:
    """host:port of a web server with the charts, which has a certificate of the authority."""
    pair, folder = authority.server("charts", ["127.0.0.1"]), packed.parent
    (folder / "server.pem").write_bytes(pair.certificate + pair.key)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(WithLogin, directory=str(packed)))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with serving(server):
        yield f"127.0.0.1:{server.server_address[1]}"


@pytest.fixture
def opened(authority: Authority) -> Open:
    """Opens a repository with these accounts, host -> user and password in base64."""

    def run(place: str, accounts: Mapping[str, str], *, ca: bool = True) -> RecipeStore:
        auths = {host: {"auth": account} for host, account in accounts.items()}
        keyring = Keyring.from_configs([json.dumps({"auths": auths})])
        trusted = authority.certificate_file.read_text() if ca else ""
        policy = RegistryPolicy(keyring=keyring, ca=trusted)
        return open_store(place, no_cluster, lambda: Registries(policy, lambda _seconds: None))

    return run


def no_cluster() -> Client:
    raise AssertionError("no cluster is asked")


def check(store: RecipeStore, version: str) -> None:
    """The store has the chart in that version."""
    assert store.names() == ["simple-kmod"]
    assert store.holds("simple-kmod")
    assert not store.holds("other")
    found, files = store.read("simple-kmod"), read_bundle(RECIPES / "simple-kmod")
    # helm writes it anew.
    assert f"version: {version}\n" in found.pop("Chart.yaml")
    del files["Chart.yaml"]
    assert found == files


def test_a_web_server_has_the_newest_and_the_wanted_version(address: str, opened: Open) -> None:
    accounts = {address: ACCOUNT}
    check(opened(f"https://{address}", accounts), "0.0.2")
    check(opened(f"https://{address}#0.0.1", accounts), "0.0.1")
    with pytest.raises(InvalidInput, match=r"no version 0\.0\.3 of the chart"):
        opened(f"https://{address}#0.0.3", accounts).read("simple-kmod")


def test_what_a_web_server_refuses_is_one_sentence(address: str, opened: Open) -> None:
    for accounts, trusted, message in (
        ({}, True, "401"),
        ({address: ACCOUNT}, False, "certificate"),
        ({"other.example": ACCOUNT}, True, "401"),
    ):
        with pytest.raises(EnablementError, match=message) as caught:
            opened(f"https://{address}", accounts, ca=trusted)
        assert "\n" not in str(caught.value)
        assert ACCOUNT not in str(caught.value)
    with pytest.raises(InvalidInput, match="has a password in it") as named:
        opened(f"https://me:hidden@{address}", {})
    assert "hidden" not in str(named.value)


def test_a_chart_that_is_not_what_the_index_says_is_refused(
    address: str, opened: Open, packed: Path
) -> None:
    store = opened(f"https://{address}", {address: ACCOUNT})
    file = packed / "simple-kmod-0.0.2.tgz"
    whole = file.read_bytes()
    try:
        file.write_bytes((packed / "simple-kmod-0.0.1.tgz").read_bytes())
        with pytest.raises(InvalidInput, match="not what its digest in the index says"):
            store.read("simple-kmod")
    finally:
        file.write_bytes(whole)


def test_a_chart_that_helm_has_pushed(
    bed: Bed, helm: Callable[..., None], packed: Path, authority: Authority
) -> None:
    login = packed.parent / "config.json"
    login.write_text(bed.registry.dockerconfig())
    helm(
        "push",
        str(packed / "simple-kmod-0.0.1.tgz"),
        f"oci://{bed.registry.address}/charts",
        "--ca-file",
        str(authority.certificate_file),
        "--registry-config",
        str(login),
    )
    place = f"oci://{bed.registry.address}/charts/simple-kmod:0.0.1"
    check(open_store(place, no_cluster, bed.client), "0.0.1")


def test_charts_in_a_configmap(cluster: Cluster, packed: Path) -> None:
    cluster.kubectl("create", "configmap", "charts", "-n", "default", f"--from-file={packed}")

    def client() -> Client:
        return connect(ConnectionRequest(kubeconfig=str(cluster.kubeconfig)))

    check(open_store("cm://default/charts", client, Registries), "0.0.2")
    check(open_store("cm://default/charts#0.0.1", client, Registries), "0.0.1")
