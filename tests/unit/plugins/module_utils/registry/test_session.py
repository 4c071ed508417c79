# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a registry's client sends credentials to, where it goes on, and what it believes; a scripted registry."""

from __future__ import annotations

import io
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._registry import challenge
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_manifests import (
    digest_of,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_names import (
    Reference,
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
    WrongDigest,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.repository import (
    Repository,
)
from ansible_collections.hardware.enablement.plugins.module_utils._registry.session import (
    RegistryRequest,
    RegistrySession,
)
from ansible_collections.hardware.enablement.tests.unit.plugins.module_utils.cluster.conftest import (
    Asked,
    FakeServer,
    fake,
    other,
)

__all__ = ["fake", "other"]

SECRET = '{"auths": {"%s": {"username": "u", "password": "p"}}}'
BASIC = "Basic dTpw"


def place_of(fake: FakeServer) -> Reference:
    return parse(f"{fake.url.partition('://')[2]}/gpu/driver:1")


def session(fake: FakeServer, *more: FakeServer) -> RegistrySession:
    """Speaks plain HTTP to these; has credentials for the first."""
    trusts = [Trust(each.url.partition("://")[2], plain_http=True) for each in (fake, *more)]
    return RegistrySession(
        RegistryPolicy(Keyring.from_configs([SECRET % place_of(fake).host]), trusts=trusts),
        lambda _pause: None,
    )


def call(fake: FakeServer) -> RegistryRequest:
    place = place_of(fake)
    access = RepositoryAccess(place, challenge.pull(place.repository), "read it")
    return RegistryRequest("GET", "blobs/x", access, frozenset({200}))


def asks_for_a_password(answer: Any) -> Any:
    """A registry that wants to know who it is."""

    def reply(asked: Asked) -> Any:
        if asked.headers.get("Authorization") == BASIC:
            return answer
        return 401, {"WWW-Authenticate": 'Basic realm="r"'}, {}

    return reply


def test_credentials_go_to_the_registry_and_not_to_where_it_redirects(
    fake: FakeServer, other: FakeServer
) -> None:
    fake.answer = asks_for_a_password((307, {"Location": f"{other.url}/storage"}, {}))
    other.answer = lambda _asked: (200, {}, b"blob")
    assert session(fake, other).send(call(fake)).body == b"blob"
    assert fake.asked[-1].headers["Authorization"] == BASIC
    assert [asked.headers.get("Authorization") for asked in other.asked] == [None]


def test_a_registry_that_is_not_named_for_it_is_never_asked_without_tls(fake: FakeServer) -> None:
    with pytest.raises(RegistryError):
        RegistrySession(RegistryPolicy(), lambda _pause: None).send(call(fake))
    assert fake.asked == []


def test_a_redirect_never_leads_away_from_tls(fake: FakeServer) -> None:
    sender = RegistrySession(RegistryPolicy(), lambda _pause: None)
    with pytest.raises(RegistryError, match="without TLS"):
        sender._resolve(
            call(fake), "https://registry.example/v2/x/", "http://elsewhere.example/blob"
        )
    same = sender._resolve(
        call(fake), "https://registry.example/v2/x/", "http://registry.example/blob"
    )
    assert same == "https://registry.example/blob"


def test_a_token_server_without_tls_gets_no_credentials(
    fake: FakeServer, other: FakeServer
) -> None:
    asks = f'Bearer realm="{other.url}/token",service="s"'
    fake.answer = lambda _asked: (401, {"WWW-Authenticate": asks}, {})
    with pytest.raises(RegistryError, match="does not use TLS"):
        session(fake).send(call(fake))
    assert other.asked == []


def test_a_configuration_that_is_not_of_its_digest_is_not_read(fake: FakeServer) -> None:
    config = {"digest": digest_of(b"{}"), "mediaType": "application/vnd.oci.image.config.v1+json"}
    manifest = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [],
    }
    kind = {"Content-Type": manifest["mediaType"]}
    fake.answer = lambda asked: (
        (200, kind, manifest)
        if "manifests" in asked.path
        else (200, {}, b'{"architecture": "amd64"}')
    )
    repository = Repository(session(fake), place_of(fake), "read it")
    with pytest.raises(WrongDigest):
        repository.platform("amd64")


def test_what_came_is_compared_with_its_digest(fake: FakeServer) -> None:
    repository = Repository(session(fake), place_of(fake), "read it")
    wanted = digest_of(b"layer")
    for body, right in ((b"layer", True), (b"spoiled", False)):
        fake.answer = lambda _asked, body=body: (200, {}, body)
        sink = io.BytesIO()
        if right:
            repository.download(wanted, sink)
            assert sink.read() == body
            continue
        with pytest.raises(WrongDigest, match="what came has the digest"):
            repository.download(wanted, sink)
