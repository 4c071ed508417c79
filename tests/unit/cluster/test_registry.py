# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The test registry's own parts: its log is read, its tokens say what was granted."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from tests.cluster.pki import Authority
from tests.cluster.registry.access_log import Logged, parse
from tests.cluster.registry.accounts import (
    ACCOUNTS,
    PULLER,
    PUSHER,
    Account,
    find_account,
    find_by_identity_token,
    granted,
)
from tests.cluster.registry.tokens import claims, signed

LOG = """\
time="2026-11-21T13:40:00Z" level=info msg="listening on 127.0.0.1:5000, tls"
127.0.0.1 - - [21/Nov/2026:13:40:01 +0000] "GET /v2/a/b/manifests/c HTTP/1.1" 404 88 "" "hardware.enablement"
time="2026-11-21T13:40:01Z" level=error msg="response completed with error" http.request.method=GET
127.0.0.1 - - [21/Nov/2026:13:40:02 +0000] "PUT /v2/a/blobs/uploads/1?digest=x HTTP/2.0" 201 0 "" "buildah/1.28 (x)"
"""


def test_the_access_log_among_other_lines() -> None:
    assert parse(LOG) == [
        Logged("GET", "/v2/a/b/manifests/c", 404, "hardware.enablement"),
        Logged("PUT", "/v2/a/blobs/uploads/1?digest=x", 201, "buildah/1.28 (x)"),
    ]
    assert str(parse(LOG)[0]) == "GET /v2/a/b/manifests/c 404"


@pytest.mark.parametrize(
    ("account", "name", "actions"),
    [
        (PUSHER, "a", ["pull", "push"]),
        (PULLER, "a", ["pull"]),
        (None, "a", None),
        (None, "public/a", ["pull"]),
    ],
)
def test_what_is_granted_of_what_is_asked_for(
    account: Account | None, name: str, actions: list[str] | None
) -> None:
    expected = [{"type": "repository", "name": name, "actions": actions}] if actions else []
    assert granted(account, [f"repository:{name}:push,pull"]) == expected


def test_accounts() -> None:
    for account in ACCOUNTS:
        assert find_account(account.name, account.password) is account
        assert find_account(account.name, "wrong") is None
        assert find_by_identity_token(account.identity_token) is account
    assert find_by_identity_token("") is None


def test_a_token_is_signed_by_the_key_whose_certificate_it_brings(tmp_path: Path) -> None:
    pair = Authority(tmp_path, "a").server("tokens", ["localhost"])
    said = claims(subject="s", service="r", issuer="i", access=[], now=1000, lifetime=-120)
    header, payload, signature = signed(said, pair).split(".")
    assert json.loads(_decoded(payload)) == said
    assert (said["nbf"], said["exp"]) == (880, 880)
    der = base64.b64decode(json.loads(_decoded(header))["x5c"][0])
    key = x509.load_der_x509_certificate(der).public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    raw = _decoded(signature)
    numbers = int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
    key.verify(
        encode_dss_signature(*numbers), f"{header}.{payload}".encode(), ec.ECDSA(hashes.SHA256())
    )


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
