# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which certificates should be there, given those that are. Pure.

All that daemons show and trust changes together: what expires first makes everything anew, so that
one restart of the daemons is enough. A node that joins gets a certificate that ends with the
others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Optional

from ..._http import pki
from ..._http.pki import Pair
from ..._schema.requests import ParameterGroup
from ..daemon.endpoints import server_name

AUTO, CERTIFICATES, AUTHORITY = "auto", "certificates", "authority"


@dataclass(frozen=True)
class Stored:
    """What the cluster has. servers: node -> its pair. trust: what daemons trust, ca.crt and
    client.crt."""

    authority: Optional[Pair] = None
    client: Optional[Pair] = None
    servers: Mapping[str, Pair] = field(default_factory=dict)
    trust: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class CertificateSettings(ParameterGroup):
    """How long certificates last and when they are made anew. renew: auto, or what to make anew
    now."""

    days: int = 365
    renew_before_days: int = 30
    authority_days: int = 3650
    renew: str = AUTO


@dataclass(frozen=True)
class WantedCertificates:
    """What the cluster should have. why: why all are new, "" where they are not. issued: nodes with
    a new one."""

    authority: Pair
    client: Pair
    servers: Mapping[str, Pair]
    why: str
    issued: tuple[str, ...]
    removed: tuple[str, ...]

    @property
    def trust(self) -> dict[str, str]:
        """What every daemon needs to know."""
        return {"ca.crt": self.authority.certificate, "client.crt": self.client.certificate}


def decide(
    stored: Stored, nodes: Sequence[str], settings: CertificateSettings, now: datetime
) -> WantedCertificates:
    """The certificates for these nodes. Without nodes those of before stay: rather labels are gone
    than all nodes."""
    authority, why = stored.authority, _why_a_new_authority(stored.authority, settings, now)
    if why or authority is None:
        authority = pki.make_authority(
            f"intel-rmd authority {now:%Y-%m-%d}", now, settings.authority_days
        )
    client, end = stored.client, now + timedelta(days=settings.days)
    why = why or _why_new(stored, authority, nodes, settings, now)
    if why or client is None:
        # RMD's access list, where it goes by roles, takes the unit for one.
        client = pki.issue_client(authority, "intel-rmd client", "admin", now, end)
    else:
        found = pki.observe(client.certificate, authority.certificate)
        end = found.not_after if found else end
    servers = {} if why else _kept(stored.servers, nodes)
    issued = tuple(node for node in nodes if node not in servers)
    for node in issued:
        names = [server_name(node)]
        servers[node] = pki.issue_server(authority, "intel-rmd daemon", names, now, end)
    removed = tuple(sorted(set(stored.servers) - set(servers)))
    return WantedCertificates(authority, client, servers, why=why, issued=issued, removed=removed)


def _kept(servers: Mapping[str, Pair], nodes: Sequence[str]) -> dict[str, Pair]:
    """The servers' certificates that stay under their authority."""
    return {node: pair for node, pair in servers.items() if node in nodes or not nodes}


def fingerprint(trust: Mapping[str, str], shared: str = "") -> str:
    """A text that is another one whenever daemons have to start anew. shared: a certificate that
    all of them show."""
    return hashlib.sha256(json.dumps([dict(trust), shared], sort_keys=True).encode()).hexdigest()[
        :16
    ]


def _why_a_new_authority(
    authority: Optional[Pair], settings: CertificateSettings, now: datetime
) -> str:
    if authority is None:
        return "there is no authority yet"
    if settings.renew == AUTHORITY:
        return "a new authority was asked for"
    found = pki.observe(authority.certificate, authority.certificate)
    if found is None or not pki.belong_together(authority):
        return "the authority's certificate or key is damaged"
    # What it signs must not end before its time.
    if found.not_after < now + timedelta(days=settings.days):
        return f"the authority ends on {found.not_after:%Y-%m-%d}"
    return ""


def _why_new(
    stored: Stored,
    authority: Pair,
    nodes: Sequence[str],
    settings: CertificateSettings,
    now: datetime,
) -> str:
    """Why all certificates are made anew under an authority that stays."""
    soon = now + timedelta(days=settings.renew_before_days)
    if settings.renew == CERTIFICATES:
        return "new certificates were asked for"
    if stored.client is None:
        return "there is no client certificate yet"
    found = pki.observe(stored.client.certificate, authority.certificate)
    if found is None or not found.issued or not pki.belong_together(stored.client):
        return "the client certificate is not one of this authority"
    if found.not_after < soon:
        return f"they end on {found.not_after:%Y-%m-%d}"
    here = sorted(set(nodes) & set(stored.servers))
    whys = (_why_not_kept(node, stored.servers[node], authority, soon) for node in here)
    return next(filter(None, whys), "")


def _why_not_kept(node: str, pair: Pair, authority: Pair, soon: datetime) -> str:
    """What is wrong with the certificate of a node's daemon; "" for nothing."""
    server = pki.observe(pair.certificate, authority.certificate)
    if server is None or not server.issued or server_name(node) not in server.names:
        return f"the certificate of node {node} is not one of this authority for it"
    if server.not_after < soon:
        return f"the certificate of node {node} ends on {server.not_after:%Y-%m-%d}"
    return ""
