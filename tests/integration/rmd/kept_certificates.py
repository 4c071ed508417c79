# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The certificates that the role rmd keeps in a cluster, as the daemons get them."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

from tests.cluster import Cluster
from tests.integration.rmd.bed import NAMESPACE
from tests.rmd.access import Tls


class KeptCertificates:
    """Those of one cluster. folder: for the files of the daemons."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self.cluster = cluster
        self.folder = folder

    def get(self, kind: str, name: str, namespace: str = NAMESPACE) -> dict[str, Any]:
        """An object."""
        return dict(
            json.loads(self.cluster.kubectl("get", kind, name, "-n", namespace, "-o", "json"))
        )

    def secret(self, name: str) -> dict[str, str]:
        """A Secret's entries as text."""
        data = self.get("secret", name).get("data") or {}
        return {key: base64.b64decode(value).decode() for key, value in data.items()}

    def certificates(self) -> dict[str, str]:
        """Node -> key and certificate, out of all Secrets."""
        found: dict[str, str] = {}
        for number in range(8):
            found |= self.secret(f"intel-rmd-server-{number}")
        return found

    def tls(self, node: str, _address: str) -> Tls:
        """A daemon's TLS, of files as the init container makes them."""
        key, begin, certificate = self.certificates()[node].partition("-----BEGIN CERTIFICATE-----")
        trust = self.get("configmap", "intel-rmd-trust")["data"]
        files = {
            "server/ca.pem": trust["ca.crt"],
            "server/rmd-cert.pem": begin + certificate,
            "server/rmd-key.pem": key,
            "client/ca.pem": trust["ca.crt"],
            "admin/client.pem": trust["client.crt"],
        }
        folder = self.folder / node
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return Tls(folder / "server", folder / "client", admin=folder / "admin")
