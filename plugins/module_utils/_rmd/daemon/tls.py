# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a client of the daemons trusts, and what it shows of itself."""

from __future__ import annotations

import base64
import binascii
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from ..._cluster.api_client.client import Client
from ..._errors import InvalidInput
from ..._http.tls_context import private_context
from ..._json import part

_KEYS = {"ca": "ca.crt", "cert": "tls.crt", "key": "tls.key"}


@dataclass(frozen=True)
class Material:
    """PEM texts. ca: of the authority that signed the daemons' certificates. cert and key: the
    client's, or "" both.

    source: where they come from, for messages.
    """

    ca: str
    cert: str = ""
    key: str = ""
    source: str = ""

    def context(self) -> ssl.SSLContext:
        """For connections that verify the daemon; raises InvalidInput where the texts are of no
        use.

        Only this authority is trusted, none of the system's.
        """
        try:
            return private_context(self.ca, self.cert, self.key)
        except ValueError as error:
            todo = "give the CA of the daemons, a client certificate and its key as PEM"
            raise _useless(self.source, str(error), todo) from error


def from_files(ca: str, cert: Optional[str], key: Optional[str]) -> Material:
    """From files. A key that everybody on this machine can read is refused."""
    source = ", ".join(path for path in (ca, cert, key) if path)
    if bool(cert) != bool(key):
        why = "a client certificate and its key go together"
        raise _useless(source, why, "give both rmd_cert and rmd_key, or neither")
    texts = {
        "ca": _read(ca),
        "cert": _read(cert) if cert else "",
        "key": _read(key, secret=True) if key else "",
    }
    return Material(**texts, source=source)


def from_secret(client: Client, namespace: str, name: str) -> Material:
    """From a Secret with the keys ca.crt, tls.crt and tls.key."""
    where = f"Secret {namespace}/{name}"
    secret = client.get(client.kind("v1", "Secret"), name, namespace)
    if secret is None:
        raise _useless(
            where, "there is no such Secret", "deploy RMD, or give rmd_ca, rmd_cert and rmd_key"
        )
    data: Mapping[str, Any] = part(secret, "data")
    if not data.get(_KEYS["ca"]):
        todo = f"give it the keys {', '.join(_KEYS.values())}"
        raise _useless(where, "it has no ca.crt", todo)
    try:
        texts = {
            ours: base64.b64decode(str(data.get(theirs) or "")).decode()
            for ours, theirs in _KEYS.items()
        }
    except (binascii.Error, UnicodeDecodeError) as error:
        raise _useless(where, "it is no text", "make it anew") from error
    return Material(**texts, source=where)


def _read(path: str, *, secret: bool = False) -> str:
    file = Path(path).expanduser()
    try:
        if secret and stat.S_IMODE(file.stat().st_mode) & stat.S_IROTH:
            why, todo = "everybody on this machine can read the key", f"chmod o= {file}"
            raise _useless(str(file), why, todo)
        return file.read_text(encoding="utf-8")
    except OSError as error:
        why, todo = f"it cannot be read ({error.strerror})", "correct the path or its rights"
        raise _useless(str(file), why, todo) from error
    except UnicodeDecodeError as error:
        raise _useless(str(file), "it is no text", "give it as PEM") from error


def _useless(where: str, why: str, todo: str) -> InvalidInput:
    return InvalidInput("Cannot use the TLS settings for RMD", where=where, why=why, todo=todo)
