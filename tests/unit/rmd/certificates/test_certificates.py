# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificates are made when, that TLS takes them, and that a thousand nodes fit."""

from __future__ import annotations

import base64
import shutil
import ssl
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hardware.enablement.plugins.module_utils._errors import EnablementError
from ansible_collections.hardware.enablement.plugins.module_utils._http import pki
from ansible_collections.hardware.enablement.plugins.module_utils._http.pki import Pair
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.certificates import (
    lifetimes,
    secret_objects,
)
from ansible_collections.hardware.enablement.plugins.module_utils._rmd.certificates.lifetimes import (
    CertificateSettings,
    Stored,
    WantedCertificates,
)

pytest.importorskip("cryptography")

NOW = datetime.now(timezone.utc).replace(microsecond=0)
DAY = timedelta(days=1)
SETTINGS = CertificateSettings()
NODES = ("n1", "n2", "worker-3.example.org")


def stored(wanted: WantedCertificates) -> Stored:
    """What the cluster has after these were written, by way of the objects."""
    made = secret_objects.objects(wanted, "intel-rmd")
    secrets = [obj for obj in made if obj["kind"] == "Secret"]
    (trust,) = [obj for obj in made if obj["kind"] == "ConfigMap"]
    return secret_objects.read(secrets, trust)


def first(nodes: Sequence[str] = NODES, now: datetime = NOW) -> WantedCertificates:
    return lifetimes.decide(Stored(), nodes, SETTINGS, now)


def test_the_first_time_everything_is_made() -> None:
    wanted = first()
    assert wanted.why == "there is no authority yet"
    assert (wanted.issued, wanted.removed) == (NODES, ())
    assert set(wanted.servers) == set(NODES)


def test_the_second_time_nothing_is() -> None:
    before = stored(first())
    wanted = lifetimes.decide(before, NODES, SETTINGS, NOW + DAY)
    assert (wanted.why, wanted.issued, wanted.removed) == ("", (), ())
    assert stored(wanted) == before


def test_a_node_that_joins_gets_one_that_ends_with_the_others() -> None:
    before = first()
    wanted = lifetimes.decide(stored(before), [*NODES, "n4"], SETTINGS, NOW + 100 * DAY)
    assert (wanted.why, wanted.issued) == ("", ("n4",))
    ends = {observe(pair, wanted).not_after for pair in wanted.servers.values()}
    assert ends == {observe(wanted.client, wanted).not_after} == {NOW + 365 * DAY}
    assert lifetimes.fingerprint(wanted.trust) == lifetimes.fingerprint(before.trust)


def observe(pair: Pair, wanted: WantedCertificates) -> Any:
    found = pki.observe(pair.certificate, wanted.authority.certificate)
    assert found is not None
    return found


def test_a_node_that_left_loses_its_certificate_but_labels_that_vanish_take_none() -> None:
    before = stored(first())
    wanted = lifetimes.decide(before, ["n1"], SETTINGS, NOW)
    assert (set(wanted.servers), wanted.removed, wanted.why) == (
        {"n1"},
        ("n2", "worker-3.example.org"),
        "",
    )
    assert set(lifetimes.decide(before, [], SETTINGS, NOW).servers) == set(NODES)


@pytest.mark.parametrize(
    ("days", "renew", "why"),
    [
        (334, "auto", ""),
        (336, "auto", "they end on"),
        (400, "auto", "they end on"),
        (1, "certificates", "new certificates were asked for"),
        (1, "authority", "a new authority was asked for"),
        (3300, "auto", "the authority ends on"),
    ],
)
def test_when_all_are_made_anew(days: int, renew: str, why: str) -> None:
    before = first()
    wanted = lifetimes.decide(
        stored(before), NODES, replace(SETTINGS, renew=renew), NOW + days * DAY
    )
    assert wanted.why.startswith(why)
    assert bool(wanted.why) == bool(why)
    assert (wanted.issued == NODES) == bool(why)
    assert (lifetimes.fingerprint(wanted.trust) != lifetimes.fingerprint(before.trust)) == bool(why)
    assert (wanted.authority != before.authority) == ("authority" in why)
    for pair in (wanted.client, *wanted.servers.values()):
        assert observe(pair, wanted).issued


def test_what_a_killed_run_left_is_completed() -> None:
    """Everything is written in order; wherever it stops, the next run gives what belongs together."""
    before, after = (
        first(),
        lifetimes.decide(stored(first()), NODES, replace(SETTINGS, renew="authority"), NOW),
    )
    old, new = (secret_objects.objects(each, "intel-rmd") for each in (before, after))
    for written in range(len(new) + 1):
        mixed = [*new[:written], *old[written:]]
        (trust,) = [obj for obj in mixed if obj["kind"] == "ConfigMap"]
        found = secret_objects.read([obj for obj in mixed if obj["kind"] == "Secret"], trust)
        wanted = lifetimes.decide(found, NODES, SETTINGS, NOW)
        assert all(
            observe(pair, wanted).issued for pair in (wanted.client, *wanted.servers.values())
        ), written
        if 0 < written < len(new):
            # Daemons run with what was before, so they have to start anew.
            assert lifetimes.fingerprint(wanted.trust) != lifetimes.fingerprint(before.trust)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (
            lambda s: replace(s, authority=Pair("no", "pem")),
            "the authority's certificate or key is damaged",
        ),
        (
            lambda s: replace(s, authority=Pair(s.authority.certificate, s.client.key)),
            "the authority's certificate or key is damaged",
        ),
        (lambda s: replace(s, client=None), "there is no client certificate yet"),
        (
            lambda s: replace(s, client=first().client),
            "the client certificate is not one of this authority",
        ),
        (
            lambda s: replace(s, client=Pair(s.client.certificate, s.authority.key)),
            "the client certificate is not one of this authority",
        ),
        (
            lambda s: replace(s, servers={**s.servers, "n1": s.servers["n2"]}),
            "the certificate of node n1 is not one of this authority for it",
        ),
        (
            lambda s: replace(s, servers={**s.servers, "n1": Pair("spoiled", "spoiled")}),
            "the certificate of node n1 is not one of this authority for it",
        ),
    ],
)
def test_what_is_damaged_is_made_anew(spoil: Any, why: str) -> None:
    wanted = lifetimes.decide(spoil(stored(first())), NODES, SETTINGS, NOW)
    assert wanted.why == why
    assert all(observe(pair, wanted).issued for pair in wanted.servers.values())


def test_another_shared_certificate_is_another_fingerprint() -> None:
    trust = first().trust
    assert (
        len(
            {
                lifetimes.fingerprint(trust),
                lifetimes.fingerprint(trust, "a"),
                lifetimes.fingerprint(trust, "b"),
            }
        )
        == 3
    )


def test_a_thousand_nodes_with_long_names_fit() -> None:
    nodes = [
        f"ip-10-{number:03d}-17-201.eu-central-1.compute.internal.{'x' * 60}"
        for number in range(1000)
    ]
    wanted = first(nodes)
    sizes = [
        sum(len(base64.b64decode(value)) for value in obj["data"].values())
        for obj in secret_objects.objects(wanted, "intel-rmd")
        if obj["metadata"]["name"].startswith("intel-rmd-server-")
    ]
    assert len(sizes) == secret_objects.SHARDS
    assert max(sizes) < secret_objects.MAX_BYTES / 4
    assert stored(wanted).servers.keys() == set(nodes)


def test_too_many_nodes_are_refused() -> None:
    wanted = first()
    pair = wanted.servers["n1"]
    many = replace(wanted, servers={f"n{number}": pair for number in range(10_000)})
    with pytest.raises(
        EnablementError, match="10000 nodes have more certificates than 8 Secrets hold"
    ):
        secret_objects.objects(many, "intel-rmd")


def test_daemons_are_told_last() -> None:
    names = [obj["metadata"]["name"] for obj in secret_objects.objects(first(), "intel-rmd")]
    assert (names[0], names[-2:]) == (
        secret_objects.AUTHORITY,
        [secret_objects.CLIENT, secret_objects.TRUST],
    )


def test_no_key_is_in_what_everybody_may_read() -> None:
    (trust,) = [
        obj for obj in secret_objects.objects(first(), "intel-rmd") if obj["kind"] == "ConfigMap"
    ]
    assert trust["data"].keys() == {"ca.crt", "client.crt"}
    assert "PRIVATE" not in str(trust)


def handshake(server: Pair, client: Pair, authority: str, name: str, folder: Path) -> None:
    """A TLS 1.2 handshake in memory, both sides asking for a certificate; raises ssl.SSLError."""
    for role, pair in (("server", server), ("client", client)):
        (folder / f"{role}.pem").write_text(secret_objects.join(pair))
    there = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    there.maximum_version = ssl.TLSVersion.TLSv1_2
    there.verify_mode = ssl.CERT_REQUIRED
    # What RMD offers.
    there.set_ciphers("ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384")
    here = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    here.verify_flags |= ssl.VERIFY_X509_STRICT
    for context, role in ((there, "server"), (here, "client")):
        context.load_cert_chain(folder / f"{role}.pem")
        context.load_verify_locations(cadata=authority)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        here.wrap_bio(down, up, server_hostname=name),
        there.wrap_bio(up, down, server_side=True),
    ]
    for _round in range(4):
        for end in ends:
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert ends[0].version() == "TLSv1.2"


def test_tls_takes_them_each_for_what_it_is(tmp_path: Path) -> None:
    wanted = first()
    authority, server = wanted.authority.certificate, wanted.servers["n1"]
    handshake(server, wanted.client, authority, "n1.rmd.hardware-enablement.io", tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError, match="mismatch"):
        handshake(server, wanted.client, authority, "n2.rmd.hardware-enablement.io", tmp_path)
    # A daemon that was taken over cannot talk to another one with what it has.
    with pytest.raises(ssl.SSLError, match="purpose"):
        handshake(
            server, wanted.servers["n2"], authority, "n1.rmd.hardware-enablement.io", tmp_path
        )
    with pytest.raises(ssl.SSLError, match=r"verify failed|unknown ca"):
        handshake(server, first().client, authority, "n1.rmd.hardware-enablement.io", tmp_path)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not there")
def test_openssl_finds_nothing_wrong(tmp_path: Path) -> None:
    wanted = first()
    files: Mapping[str, str] = {
        "ca": wanted.authority.certificate,
        "server": wanted.servers["n1"].certificate,
        "client": wanted.client.certificate,
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    for name, purpose in (("server", "sslserver"), ("client", "sslclient")):
        command = ["openssl", "verify", "-x509_strict", "-purpose", purpose, "-CAfile", "ca", name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.stdout == f"{name}: OK\n", done.stderr
