# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of one cluster: three authorities, the servers, the components and any user that a
test asks for."""

from __future__ import annotations

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=365)
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey
PublicKey = ec.EllipticCurvePublicKey | rsa.RSAPublicKey


@dataclass(frozen=True)
class KeyPair:
    """A certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """A certificate authority that lives in two files, NAME.crt and NAME.key, of a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        """Load the authority, or make it when its files are missing."""
        self.certificate_file = folder / f"{name}.crt"
        key_file = folder / f"{name}.key"
        if not key_file.exists():
            # The API server checks its clients' certificates with every request, and an RSA
            # signature (which kubeadm makes, too) takes a fifth of the time that one on a curve
            # takes.
            key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
            certificate = (
                _builder(subject, subject, key.public_key())
                .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
                .add_extension(_usage(signs=True), critical=True)
                .sign(key, hashes.SHA256())
            )
            write_secret(key_file, _private(key))
            self.certificate_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        loaded = serialization.load_pem_private_key(key_file.read_bytes(), password=None)
        if not isinstance(loaded, rsa.RSAPrivateKey):
            raise TypeError(f"{key_file} holds no RSA key")
        self._key = loaded
        self._certificate = x509.load_pem_x509_certificate(self.certificate_file.read_bytes())

    def client(self, name: str, groups: Sequence[str] = (), units: Sequence[str] = ()) -> KeyPair:
        """Certificate with which a client shows itself as user `name` (CN) in `groups` (O) and
        `units` (OU)."""
        attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
        attributes += [x509.NameAttribute(NameOID.ORGANIZATIONAL_UNIT_NAME, unit) for unit in units]
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
        return self._issue(x509.Name(attributes), [], [ExtendedKeyUsageOID.CLIENT_AUTH])

    def server(self, name: str, hosts: Sequence[str]) -> KeyPair:
        """Certificate of a server reached by these DNS names and IP addresses; usable as a client,
        too (etcd)."""
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        return self._issue(
            subject, hosts, [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
        )

    def _issue(
        self, subject: x509.Name, hosts: Sequence[str], usages: list[x509.ObjectIdentifier]
    ) -> KeyPair:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            _builder(subject, self._certificate.subject, key.public_key())
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(signs=False), critical=True)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        )
        if hosts:
            builder = builder.add_extension(
                x509.SubjectAlternativeName([_general(host) for host in hosts]), False
            )
        certificate = builder.sign(self._key, hashes.SHA256())
        return KeyPair(certificate.public_bytes(serialization.Encoding.PEM), _private(key))


def make_cluster_pki(folder: Path) -> None:
    """All files that the servers of one cluster need; authorities are kubernetes, front-proxy and
    etcd."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kubernetes = Authority(folder, "kubernetes")
    front_proxy = Authority(folder, "front-proxy")
    etcd = Authority(folder, "etcd")
    local = ["localhost", "127.0.0.1"]
    service = [
        "kubernetes",
        "kubernetes.default",
        "kubernetes.default.svc",
        "kubernetes.default.svc.cluster.local",
    ]
    pairs = {
        "apiserver": kubernetes.server("kube-apiserver", [*local, *service, "10.96.0.1"]),
        "local": kubernetes.server("local", local),
        "kubelet-client": kubernetes.client("kube-apiserver-kubelet-client", ["system:masters"]),
        "front-proxy-client": front_proxy.client("front-proxy-client"),
        "etcd-server": etcd.server("etcd", local),
        "etcd-client": etcd.client("kube-apiserver"),
    }
    for name, pair in pairs.items():
        (folder / f"{name}.crt").write_bytes(pair.certificate)
        write_secret(folder / f"{name}.key", pair.key)
    tokens = ec.generate_private_key(ec.SECP256R1())
    write_secret(folder / "service-accounts.key", _private(tokens))
    public = serialization.PublicFormat.SubjectPublicKeyInfo
    (folder / "service-accounts.pub").write_bytes(
        tokens.public_key().public_bytes(serialization.Encoding.PEM, public)
    )


def write_secret(file: Path, content: bytes) -> None:
    """Write a file that only its owner may read, from its first moment on."""
    file.unlink(missing_ok=True)
    file.touch(mode=0o600, exist_ok=False)
    file.write_bytes(content)


def _builder(subject: x509.Name, issuer: x509.Name, key: PublicKey) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.timezone.utc)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + LIFETIME)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs,
        crl_sign=signs,
        encipher_only=False,
        decipher_only=False,
    )


def _general(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _private(key: PrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
