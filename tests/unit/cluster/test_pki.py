# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates say who somebody is, for whom they hold, and are readable by their owner only."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import yaml
from cryptography import x509
from cryptography.x509.oid import NameOID

from tests.cluster.kubeconfig import write_kubeconfig
from tests.cluster.pki import Authority, make_cluster_pki


def test_a_client_certificate_names_user_and_groups(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "kubernetes")
    certificate = x509.load_pem_x509_certificate(
        authority.client("alice", ["viewers", "ops"]).certificate
    )
    assert _values(certificate, NameOID.COMMON_NAME) == ["alice"]
    assert sorted(_values(certificate, NameOID.ORGANIZATION_NAME)) == ["ops", "viewers"]


def test_an_authority_is_loaded_when_it_is_there(tmp_path: Path) -> None:
    first = Authority(tmp_path, "kubernetes").certificate_file.read_bytes()
    pair = Authority(tmp_path, "kubernetes").server("s", ["localhost", "127.0.0.1"])
    assert (tmp_path / "kubernetes.crt").read_bytes() == first
    certificate = x509.load_pem_x509_certificate(pair.certificate)
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(first))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]


def test_keys_are_secret(tmp_path: Path) -> None:
    make_cluster_pki(tmp_path / "pki")
    keys = list((tmp_path / "pki").glob("*.key"))
    assert len(keys) == 10
    assert {key.stat().st_mode & 0o777 for key in keys} == {0o600}


def test_a_kubeconfig_is_complete_and_secret(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "kubernetes")
    file = write_kubeconfig(
        tmp_path / "alice.yaml",
        cluster="c",
        server="https://127.0.0.1:1",
        authority=authority.certificate_file,
        user="alice",
        pair=authority.client("alice"),
    )
    document = yaml.safe_load(file.read_text())
    assert document["current-context"] == "alice@c"
    assert set(document["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}
    assert file.stat().st_mode & 0o777 == 0o600


def _values(certificate: x509.Certificate, oid: x509.ObjectIdentifier) -> list[str | bytes]:
    return [attribute.value for attribute in certificate.subject.get_attributes_for_oid(oid)]
