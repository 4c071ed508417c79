# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Signatures of images, as cosign makes them with a key pair. Pure.

Both that cosign 3.1 writes: a bundle beside the image (the default; sigstore, protobuf-specs 0.3,
dsse-envelope; secure-systems-lab/dsse, protocol.md), and a payload under a tag (sigstore/cosign,
specs/SIGNATURE_SPEC.md). Of either the key alone counts: no transparency log is asked."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from typing import Any, Optional

from .._errors import InvalidInput, PackageNotFound
from .._json import Obj, parse_json, part

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
except ImportError:
    serialization = None  # type: ignore[assignment]

BUNDLE = "application/vnd.dev.sigstore.bundle.v0.3+json"
SIMPLE = "application/vnd.dev.cosign.simplesigning.v1+json"
SIGNATURE = "dev.cosignproject.cosign/signature"
_STATEMENT = "application/vnd.in-toto+json"
_PREDICATE = "https://sigstore.dev/cosign/sign/v1"
_TYPE = "cosign container image signature"

# Templates indent what has several lines, and a shell's -e folds them into one.
_PEM = re.compile(r"-----BEGIN PUBLIC KEY-----\s([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----")


class PublicKey:
    """The key that an image has to be signed with."""

    def __init__(self, pem: str) -> None:
        """Raises InvalidInput for what is no key of that kind, or where nothing can be verified."""
        what = "Cannot verify signatures of images"
        todo = "give the text of cosign.pub, or secret/NAME or configmap/NAME that has it"
        if serialization is None:
            raise PackageNotFound(what, "cryptography>=42")
        found = _PEM.fullmatch(pem.strip())
        try:
            key = serialization.load_der_public_key(base64.b64decode(found[1] if found else ""))
        except ValueError:
            raise InvalidInput(what, why="the key is no public key in PEM", todo=todo) from None
        if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name != "secp256r1":
            raise InvalidInput(what, why="the key is none for ECDSA on P-256", todo=todo)
        self._key = key

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of the key in DER, in base64, as bundles name it."""
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        der = self._key.public_bytes(serialization.Encoding.DER, form)
        return base64.b64encode(hashlib.sha256(der).digest()).decode()

    def has_signed(self, content: bytes, signature: str) -> bool:
        """Whether a signature (base64 of DER) of something is of this key."""
        try:
            raw = base64.b64decode(signature, validate=True)
            self._key.verify(raw, content, ec.ECDSA(hashes.SHA256()))
        except (binascii.Error, ValueError, InvalidSignature):
            return False
        return True


def public_keys(text: str) -> list[PublicKey]:
    """The keys of a text with one or several of them, one below the other. Raises InvalidInput."""
    found = [each[0] for each in _PEM.finditer(text)]
    is_all = not _PEM.sub("", text).strip()
    return [PublicKey(each) for each in (found if found and is_all else [text])]


def signs_payload(key: PublicKey, payload: bytes, signature: str, digest: str) -> bool:
    """Whether a payload of simple signing is signed by the key, and about the image of a digest."""
    if not key.has_signed(payload, signature):
        return False
    critical = part(_read(payload), "critical")
    image = part(critical, "image")
    return critical.get("type") == _TYPE and image.get("docker-manifest-digest") == digest


def signs_bundle(key: PublicKey, bundle: bytes, digest: str) -> bool:
    """Whether a bundle is signed by the key, and about the image of a digest."""
    envelope = part(_read(bundle), "dsseEnvelope")
    content = _decoded(envelope.get("payload"))
    signatures = envelope.get("signatures")
    if content is None or envelope.get("payloadType") != _STATEMENT:
        return False
    signed = _authenticated(_STATEMENT, content)
    if not any(key.has_signed(signed, each) for each in _texts(signatures)):
        return False
    statement = _read(content)
    algorithm, _colon, digits = digest.partition(":")
    return statement.get("predicateType") == _PREDICATE and any(
        part(subject, "digest").get(algorithm) == digits
        for subject in _mappings(statement.get("subject"))
    )


def _authenticated(kind: str, content: bytes) -> bytes:
    """What a DSSE signature is about: type and content, each with its length."""
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind.encode(), len(content), content)


def _read(body: bytes) -> Obj:
    try:
        found = parse_json(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _decoded(value: object) -> Optional[bytes]:
    try:
        return base64.b64decode(str(value), validate=True)
    except (binascii.Error, ValueError):
        return None


def _texts(signatures: object) -> list[str]:
    return [str(each.get("sig") or "") for each in _mappings(signatures)]


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
