# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates for servers and their clients, where a test does not bring its own. Needs
cryptography."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.cluster.pki import Authority, KeyPair, write_secret
from tests.rmd.access import Tls


@dataclass(frozen=True)
class Client:
    """What a client is given: PEM files, named as in the Secret for clients."""

    ca: Path
    certificate: Path
    key: Path


class Certificates:
    """One authority for servers and one for clients, in a folder; all clients are admins unless
    they are users."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.servers = Authority(folder, "rmd-servers")
        self.clients = Authority(folder, "rmd-clients")
        self._admin, self._user = folder / "acl" / "admin", folder / "acl" / "user"
        for place in (self._admin, self._user, folder / "client-ca"):
            place.mkdir(parents=True, exist_ok=True)
        (folder / "client-ca" / "ca.pem").write_bytes(self.clients.certificate_file.read_bytes())

    def tls(
        self, name: str, hosts: Sequence[str] = ("rmd-nameserver", "127.0.0.1"), **settings: object
    ) -> Tls:
        """A server's TLS: its certificate holds for these DNS names and addresses. settings: as for
        Tls."""
        place = self.folder / "servers" / name
        place.mkdir(parents=True, exist_ok=True)
        pair = self.servers.server("RMD-SERVER", hosts)
        (place / "ca.pem").write_bytes(self.servers.certificate_file.read_bytes())
        (place / "rmd-cert.pem").write_bytes(pair.certificate)
        write_secret(place / "rmd-key.pem", pair.key)
        tls = Tls(place, self.folder / "client-ca", admin=self._admin, user=self._user)
        return replace(tls, **settings)  # type: ignore[arg-type]

    def client(
        self,
        name: str = "admin",
        role: str = "admin",
        *,
        unit: str = "",
        authority: Authority | None = None,
    ) -> Client:
        """A client's files. role: the list it is in, admin, user or "" for none. unit: OU.
        authority: a stranger's."""
        pair = (authority or self.clients).client(name, units=[unit] if unit else [])
        if role:
            (self.folder / "acl" / role / f"{name}.pem").write_bytes(pair.certificate)
        return self._write(name, pair)

    def _write(self, name: str, pair: KeyPair) -> Client:
        place = self.folder / "for-clients" / name
        place.mkdir(parents=True, exist_ok=True)
        (place / "ca.crt").write_bytes(self.servers.certificate_file.read_bytes())
        (place / "tls.crt").write_bytes(pair.certificate)
        write_secret(place / "tls.key", pair.key)
        return Client(place / "ca.crt", place / "tls.crt", place / "tls.key")
