# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a registry is started with: its record, its configuration, its certificates."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.cluster.pki import Authority, write_secret
from tests.cluster.registry.accounts import ACCOUNTS
from tests.cluster.registry.token_server import ISSUER, PATH, Behaviour

# Beside localhost and 127.0.0.1: for nodes and pods, whose hosts files then say where it is.
NAME = "registry.test"
HOSTS = ("127.0.0.1", "localhost", NAME)

Auth = Literal["none", "htpasswd", "token"]


@dataclass(frozen=True)
class Record:
    """registry.json: how the registry in a folder is started. redirects_to: URL of what blobs are
    fetched from."""

    auth: Auth
    port: int
    token_port: int
    redirects_to: str = ""

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """The record in a folder; None if there is none."""
        try:
            return cls(**json.loads((folder / "registry.json").read_text()))
        except OSError:
            return None

    def write(self, folder: Path) -> None:
        """Write the record; the folder is made when missing."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / "registry.json").write_text(json.dumps(asdict(self)))


def write_files(folder: Path, record: Record, authority: Authority) -> None:
    """Certificates, passwords, the configuration, and how the token server behaves."""
    pki = folder / "pki"
    pki.mkdir(mode=0o700, exist_ok=True)
    for name in ("server", "token"):
        pair = authority.server(f"registry-{name}", HOSTS)
        (pki / f"{name}.crt").write_bytes(pair.certificate)
        write_secret(pki / f"{name}.key", pair.key)
    (pki / "ca.crt").write_bytes(authority.certificate_file.read_bytes())
    lines = [f"{account.name}:{account.password_hash}\n" for account in ACCOUNTS]
    write_secret(folder / "htpasswd", "".join(lines).encode())
    (folder / "config.yml").write_text(yaml.safe_dump(_configuration(folder, record)))
    Behaviour().write(folder)


def _configuration(folder: Path, record: Record) -> dict[str, Any]:
    pki = folder / "pki"
    found: dict[str, Any] = {
        "version": "0.1",
        "log": {"level": "info"},
        "storage": {
            "filesystem": {"rootdirectory": str(folder / "data")},
            "cache": {"blobdescriptor": "inmemory"},
            "delete": {"enabled": True},
        },
        "http": {
            "addr": f"127.0.0.1:{record.port}",
            "secret": "one server only",
            "tls": {"certificate": str(pki / "server.crt"), "key": str(pki / "server.key")},
        },
    }
    if record.auth == "htpasswd":
        found["auth"] = {"htpasswd": {"realm": "test", "path": str(folder / "htpasswd")}}
    elif record.auth == "token":
        realm = f"https://127.0.0.1:{record.token_port}{PATH}"
        found["auth"] = {
            "token": {
                "realm": realm,
                "service": NAME,
                "issuer": ISSUER,
                "rootcertbundle": str(pki / "ca.crt"),
            }
        }
    if record.redirects_to:
        found["middleware"] = {
            "storage": [{"name": "redirect", "options": {"baseurl": record.redirects_to}}]
        }
    return found
