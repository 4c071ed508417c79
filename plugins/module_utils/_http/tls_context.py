# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a client trusts, and what it shows of itself, from PEM texts."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

try:
    from requests.utils import DEFAULT_CA_BUNDLE_PATH
except ImportError:
    DEFAULT_CA_BUNDLE_PATH = ""


def system_context(ca: str, *, verify: bool = True) -> ssl.SSLContext:
    """Trusts the system's authorities and ca's, or, where it is not to verify, anybody. Raises
    ValueError, half a sentence."""
    context = ssl.create_default_context()
    if not verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    if not context.cert_store_stats()["x509_ca"]:
        # This Python knows no authorities of the system, or looks for them only when it meets one.
        context.load_verify_locations(cafile=DEFAULT_CA_BUNDLE_PATH)
    if ca:
        _trust(context, ca)
    return context


def private_context(ca: str, cert: str = "", key: str = "") -> ssl.SSLContext:
    """Trusts ca's authority and none of the system's; shows a certificate where there is one.
    Raises ValueError, half a sentence."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(context, ca)
    if cert or key:
        _show(context, cert, key)
    return context


def _trust(context: ssl.SSLContext, ca: str) -> None:
    try:
        context.load_verify_locations(cadata=ca)
    except (ssl.SSLError, ValueError) as error:
        raise ValueError("the CA holds no certificate in PEM format") from error


def _show(context: ssl.SSLContext, cert: str, key: str) -> None:
    # The library reads certificates from files only.
    with tempfile.TemporaryDirectory() as folder:
        shown, secret = Path(folder) / "cert", Path(folder) / "key"
        for path, text in ((shown, cert), (secret, key)):
            path.touch(mode=0o600)
            path.write_text(text, encoding="utf-8")
        try:
            # An empty password: else a key that is encrypted would be asked for on the terminal.
            context.load_cert_chain(shown, secret, password="")
        except (ssl.SSLError, ValueError, OSError) as error:
            reason = getattr(error, "reason", None) or ""
            why = f"the client certificate or its key cannot be read ({reason.lower().replace('_', ' ') or 'no PEM'})"
            if reason == "KEY_VALUES_MISMATCH":
                why = "the key does not belong to the client certificate"
            raise ValueError(why) from error
