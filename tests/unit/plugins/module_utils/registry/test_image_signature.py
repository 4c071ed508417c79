# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signatures that cosign 3.1.3 has made with a key pair, in both of its forms, and what is none: pure functions."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from ansible_collections.hardware.enablement.plugins.module_utils._errors import InvalidInput
from ansible_collections.hardware.enablement.plugins.module_utils._registry.image_signature import (
    PublicKey,
    signs_bundle,
    signs_payload,
)

COSIGN_PUB = """-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAERtk91ihhAVfy1Em9/kJfrnXc1VwX
c4Ee+HkN29hFnRyHLvsCcB/DW6CP3Fnn3C4qvkqMurIc+ol59njV5QcOdQ==
-----END PUBLIC KEY-----
"""
# cosign sign --key cosign.key --tlog-upload=false --use-signing-config=false IMAGE
SIGNED = "sha256:8325c0ca034217f1b0a11b7c9221b2839f7b3e6a3e021a64ceab179d17151603"
STATEMENT = (
    '{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"sha256":"'
    + SIGNED.partition(":")[2]
    + '"},"annotations":{}}],"predicateType":"https://sigstore.dev/cosign/sign/v1","predicate":{}}'
)
SIGNATURE = "MEYCIQC09munZqrSfbXdGSFrdq7LdI1IDEf0OCqEnnRTGCYh1gIhAJ7yBUtCI6MDSt8X9So30dUasSahr5DZhGPFOm5Rblcu"
# the same with --new-bundle-format=false
OLDER = "sha256:94cca297cd780151287c2ae029d0f2271c462a52e65153b5b0417eba8fd4ad24"
PAYLOAD = (
    b'{"critical":{"identity":{"docker-reference":"127.0.0.1:23013/gpu/driver"},"image":'
    b'{"docker-manifest-digest":"'
    + OLDER.encode()
    + b'"},"type":"cosign container image signature"},"optional":null}'
)
OLDER_SIGNATURE = "MEUCIFpTPDk4NWI+zVezewgYAE8qK9h6NoU1MM/UVETVoYQNAiEAqgnIqtEU1n8iP0+j0kko5eLJ3ZLQ9vrfPvVBKhoOM5c="


def bundle(statement: str = STATEMENT, signature: str = SIGNATURE) -> bytes:
    """What cosign puts beside the image."""
    envelope = {
        "payload": base64.b64encode(statement.encode()).decode(),
        "payloadType": "application/vnd.in-toto+json",
        "signatures": [{"sig": signature}],
    }
    return json.dumps({"dsseEnvelope": envelope}).encode()


def pem(key: ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey) -> str:
    """The public half of a key."""
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    return key.public_key().public_bytes(serialization.Encoding.PEM, form).decode()


def test_what_cosign_has_signed_is_signed() -> None:
    key = PublicKey(COSIGN_PUB)
    assert key.fingerprint == "jtFo6AOqARHG/L30F3W8NVXnmRlkzy0oIr43QQVfANA="
    assert signs_bundle(key, bundle(), SIGNED)
    assert signs_payload(key, PAYLOAD, OLDER_SIGNATURE, OLDER)


@pytest.mark.parametrize("between", [" ", "\n    ", "\r\n"])
def test_a_key_is_the_same_however_its_lines_are_set(between: str) -> None:
    lines = between.join(COSIGN_PUB.split("\n"))
    assert PublicKey(lines).fingerprint == PublicKey(COSIGN_PUB).fingerprint


def test_a_signature_is_of_one_image() -> None:
    key = PublicKey(COSIGN_PUB)
    assert not signs_bundle(key, bundle(), OLDER)
    assert not signs_payload(key, PAYLOAD, OLDER_SIGNATURE, SIGNED)


def test_a_signature_is_of_one_key() -> None:
    other = PublicKey(pem(ec.generate_private_key(ec.SECP256R1())))
    assert not signs_bundle(other, bundle(), SIGNED)
    assert not signs_payload(other, PAYLOAD, OLDER_SIGNATURE, OLDER)


@pytest.mark.parametrize("signature", ["", "no base64", SIGNATURE[:-4] + "AAAA", OLDER_SIGNATURE])
def test_what_was_changed_is_not_signed(signature: str) -> None:
    key = PublicKey(COSIGN_PUB)
    assert not signs_bundle(key, bundle(signature=signature), SIGNED)
    assert not signs_bundle(key, bundle(STATEMENT.replace(SIGNED[7:], OLDER[7:])), OLDER)
    assert not signs_payload(
        key, PAYLOAD.replace(OLDER.encode(), SIGNED.encode()), OLDER_SIGNATURE, SIGNED
    )


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"dsseEnvelope": {"payload": 1}}'])
def test_what_is_no_bundle_signs_nothing(body: bytes) -> None:
    key = PublicKey(COSIGN_PUB)
    assert not signs_bundle(key, body, SIGNED)
    assert not signs_payload(key, body, OLDER_SIGNATURE, OLDER)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no public key in PEM"),
        (pem(ec.generate_private_key(ec.SECP384R1())), "none for ECDSA on P-256"),
        (pem(ed25519.Ed25519PrivateKey.generate()), "none for ECDSA on P-256"),
    ],
)
def test_another_kind_of_key_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidInput, match=why):
        PublicKey(text)
