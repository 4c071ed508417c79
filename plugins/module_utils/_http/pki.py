# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make and look at certificates. Pure: PEM texts and moments (with time zone) in, PEM texts and
answers out.

Keys are EC P-256, of which a thousand are made in a second. RMD serves TLS 1.2 with
ECDHE-ECDSA-AES256-GCM-SHA384."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Optional

from .._errors import InvalidInput

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
except ImportError:
    x509 = None  # type: ignore[assignment]

AVAILABLE = x509 is not None

# A clock that is a little behind must not take a new certificate for one of the future.
_BACKDATED = timedelta(minutes=10)


@dataclass(frozen=True)
class Pair:
    """A certificate and its private key, PEM."""

    certificate: str
    key: str


@dataclass(frozen=True)
class CertificateFacts:
    """What a certificate says. names: DNS names. issuer_matches: the given authority has signed it."""

    not_after: datetime
    names: tuple[str, ...]
    issued: bool


def make_authority(common: str, now: datetime, days: int) -> Pair:
    """A certificate that signs others. common: its name."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(common)
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key, now, now + timedelta(days=days))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    return _pair(builder.sign(key, hashes.SHA256()), key)


def issue_server(
    authority: Pair, common: str, names: Sequence[str], now: datetime, end: datetime
) -> Pair:
    """A certificate for a server with these DNS names."""
    return _issue(authority, _name(common), names, ExtendedKeyUsageOID.SERVER_AUTH, now, end)


def issue_client(authority: Pair, common: str, unit: str, now: datetime, end: datetime) -> Pair:
    """A certificate for a client. unit: its organizational unit."""
    return _issue(authority, _name(common, unit), (), ExtendedKeyUsageOID.CLIENT_AUTH, now, end)


def observe(certificate: str, authority: str) -> Optional[CertificateFacts]:
    """What a certificate says, None where it cannot be read."""
    try:
        found = x509.load_pem_x509_certificate(certificate.encode())
    except ValueError:
        return None
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        dns = tuple(names.get_values_for_type(x509.DNSName))
    except x509.ExtensionNotFound:
        dns = ()
    return CertificateFacts(found.not_valid_after_utc, dns, _has_issued(authority, found))


def belong_together(pair: Pair) -> bool:
    """Whether a key is a certificate's own."""
    try:
        certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
        key = serialization.load_pem_private_key(pair.key.encode(), None)
    except (ValueError, TypeError):
        return False
    return bool(certificate.public_key() == key.public_key())


def _has_issued(authority: str, certificate: Any) -> bool:
    try:
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.encode()))
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _issue(
    authority: Pair, subject: Any, names: Sequence[str], usage: Any, now: datetime, end: datetime
) -> Pair:
    try:
        issuer = x509.load_pem_x509_certificate(authority.certificate.encode())
        signer: Any = serialization.load_pem_private_key(authority.key.encode(), None)
    except (ValueError, TypeError) as error:
        raise InvalidInput(
            "the authority's certificate or key cannot be read", why=str(error)
        ) from None
    key = ec.generate_private_key(ec.SECP256R1())
    end = min(end, issuer.not_valid_after_utc)
    builder = _builder(subject, issuer.subject, key, now, end)
    builder = builder.add_extension(
        x509.BasicConstraints(ca=False, path_length=None), critical=True
    )
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.public_key()),  # type: ignore[arg-type]
        critical=False,
    )
    if names:
        alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        builder = builder.add_extension(alternatives, critical=False)
    return _pair(builder.sign(signer, hashes.SHA256()), key)


def _builder(subject: Any, issuer: Any, key: Any, now: datetime, end: datetime) -> Any:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(end)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _name(common: str, unit: str = "") -> Any:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if unit:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, unit))
    return x509.Name(attributes)


def _pair(certificate: Any, key: Any) -> Pair:
    encoding, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
    text = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password).decode()
    return Pair(certificate.public_bytes(encoding).decode(), text)
