# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tokens as registries take them: JSON Web Tokens, signed by a key whose certificate comes with
them. Pure.

Source: distribution.github.io/distribution/spec/auth/jwt/
"""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Mapping
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from tests.cluster.pki import KeyPair

_COORDINATE = 32  # bytes of each of the two numbers of an ES256 signature


def signed(claims: Mapping[str, Any], pair: KeyPair) -> str:
    """A token with these claims, signed with the pair's key (a curve's, P-256)."""
    key = serialization.load_pem_private_key(pair.key, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("tokens are signed with a key on a curve")
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    chain = [base64.b64encode(certificate.public_bytes(serialization.Encoding.DER)).decode()]
    text = f"{_part({'typ': 'JWT', 'alg': 'ES256', 'x5c': chain})}.{_part(claims)}"
    first, second = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
    signature = first.to_bytes(_COORDINATE, "big") + second.to_bytes(_COORDINATE, "big")
    return f"{text}.{_encoded(signature)}"


def claims(
    *,
    subject: str,
    service: str,
    issuer: str,
    access: list[dict[str, Any]],
    now: int,
    lifetime: int,
) -> dict[str, Any]:
    """The claims of a token. now: seconds since 1970. lifetime: seconds; a negative one has ended
    already."""
    return {
        "iss": issuer,
        "sub": subject,
        "aud": service,
        "iat": now,
        "nbf": min(now, now + lifetime),
        "exp": now + lifetime,
        "jti": uuid.uuid4().hex,
        "access": access,
    }


def _part(document: Mapping[str, Any]) -> str:
    return _encoded(json.dumps(document, separators=(",", ":")).encode())


def _encoded(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
