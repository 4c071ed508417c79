# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""kubeconfig files, complete in themselves (certificates inside)."""

from __future__ import annotations

import base64
from pathlib import Path

import yaml

from tests.cluster.pki import KeyPair, write_secret


def write_kubeconfig(
    file: Path, *, cluster: str, server: str, authority: Path, user: str, pair: KeyPair
) -> Path:
    """Write a kubeconfig with one context, readable by its owner only, and return its path."""
    text = kubeconfig(cluster=cluster, server=server, authority=authority, user=user, pair=pair)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_secret(file, text.encode())
    return file


def kubeconfig(
    *, cluster: str, server: str, authority: Path, user: str, pair: KeyPair, server_name: str = ""
) -> str:
    """The text of a kubeconfig with one context. server_name: what the server's certificate is for,
    where that is not the server's address."""
    context = f"{user}@{cluster}"
    reached = {
        "server": server,
        "certificate-authority-data": _text(authority.read_bytes()),
        **({"tls-server-name": server_name} if server_name else {}),
    }
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": cluster, "cluster": reached},
        ],
        "users": [
            {
                "name": user,
                "user": {
                    "client-certificate-data": _text(pair.certificate),
                    "client-key-data": _text(pair.key),
                },
            }
        ],
        "contexts": [{"name": context, "context": {"cluster": cluster, "user": user}}],
        "current-context": context,
    }
    # In quotes: readers in Go take a cluster named "y" for yes.
    return yaml.safe_dump(document, sort_keys=False, default_style='"')


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()
