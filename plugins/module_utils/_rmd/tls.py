# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a client of the daemons trusts, and what it shows of itself."""

from __future__ import annotations

import base64
import binascii
import ssl
import stat
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from .._cluster.client import Client
from .._errors import InvalidInput

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
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=self.ca)
        except (ssl.SSLError, ValueError) as error:
            raise self._useless("the CA holds no certificate in PEM format") from error
        if self.cert or self.key:
            self._show(context)
        return context

    def _show(self, context: ssl.SSLContext) -> None:
        # The library reads certificates from files only.
        with tempfile.TemporaryDirectory() as folder:
            paths = {name: Path(folder) / name for name in ("cert", "key")}
            for name, text in (("cert", self.cert), ("key", self.key)):
                paths[name].touch(mode=0o600)
                paths[name].write_text(text, encoding="utf-8")
            try:
                # An empty password: else a key that is encrypted would be asked for on the
                # terminal.
                context.load_cert_chain(paths["cert"], paths["key"], password="")
            except (ssl.SSLError, ValueError, OSError) as error:
                raise self._useless(_why(error)) from error

    def _useless(self, why: str) -> InvalidInput:
        todo = "give the CA of the daemons, a client certificate and its key as PEM"
        return InvalidInput(
            "Cannot use the TLS settings for RMD", where=self.source, why=why, todo=todo
        )


def from_files(ca: str, cert: Optional[str], key: Optional[str]) -> Material:
    """From files. A key that everybody on this machine can read is refused."""
    source = ", ".join(path for path in (ca, cert, key) if path)
    if bool(cert) != bool(key):
        raise InvalidInput(
            "Cannot use the TLS settings for RMD",
            where=source,
            why="a client certificate and its key go together",
            todo="give both rmd_cert and rmd_key, or neither",
        )
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
        raise InvalidInput(
            "Cannot use the TLS settings for RMD",
            where=where,
            why="there is no such Secret",
            todo="deploy RMD, or give rmd_ca, rmd_cert and rmd_key",
        )
    data: Mapping[str, Any] = secret.get("data") or {}
    if not data.get(_KEYS["ca"]):
        todo = f"give it the keys {', '.join(_KEYS.values())}"
        raise InvalidInput(
            "Cannot use the TLS settings for RMD", where=where, why="it has no ca.crt", todo=todo
        )
    try:
        texts = {
            ours: base64.b64decode(str(data.get(theirs) or "")).decode()
            for ours, theirs in _KEYS.items()
        }
    except (binascii.Error, UnicodeDecodeError) as error:
        todo = "make it anew"
        raise InvalidInput(
            "Cannot use the TLS settings for RMD", where=where, why="it is no text", todo=todo
        ) from error
    return Material(**texts, source=where)


def _read(path: str, *, secret: bool = False) -> str:
    file = Path(path).expanduser()
    try:
        if secret and stat.S_IMODE(file.stat().st_mode) & stat.S_IROTH:
            why, todo = "everybody on this machine can read the key", f"chmod o= {file}"
            raise InvalidInput(
                "Cannot use the TLS settings for RMD", where=str(file), why=why, todo=todo
            )
        return file.read_text(encoding="utf-8")
    except OSError as error:
        why, todo = f"it cannot be read ({error.strerror})", "correct the path or its rights"
        raise InvalidInput(
            "Cannot use the TLS settings for RMD", where=str(file), why=why, todo=todo
        ) from error
    except UnicodeDecodeError as error:
        todo = "give it as PEM"
        raise InvalidInput(
            "Cannot use the TLS settings for RMD", where=str(file), why="it is no text", todo=todo
        ) from error


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None) or ""
    if reason == "KEY_VALUES_MISMATCH":
        return "the key does not belong to the client certificate"
    return f"the client certificate or its key cannot be read ({str(reason).lower().replace('_', ' ') or 'no PEM'})"
