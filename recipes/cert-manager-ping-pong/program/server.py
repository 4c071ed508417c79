# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers each ping with a pong, over TLS and only to clients that the authority has signed."""

import signal
import socket
import ssl
import sys

CERTIFICATES = "/certificates"
PORT = 8443


def tls() -> ssl.SSLContext:
    """With the certificates as they are now: a renewed one counts for the next client."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=f"{CERTIFICATES}/ca.crt")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(f"{CERTIFICATES}/tls.crt", f"{CERTIFICATES}/tls.key")
    return context


def common_name(certificate: dict) -> str:
    """The name that a certificate is for."""
    fields = dict(field for part in certificate["subject"] for field in part)
    return fields.get("commonName", "somebody")


def answer(client: socket.socket) -> None:
    """One ping, one pong."""
    client.settimeout(5)
    with tls().wrap_socket(client, server_side=True) as connection:
        if connection.recv(4) == b"ping":
            connection.sendall(b"pong")
            print(f"ping from {common_name(connection.getpeercert())}", flush=True)


def main() -> None:
    """Serve until told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    dual = socket.has_dualstack_ipv6()
    family = socket.AF_INET6 if dual else socket.AF_INET
    with socket.create_server(("", PORT), family=family, dualstack_ipv6=dual) as server:
        print(f"listening on {PORT}", flush=True)
        while True:
            client, _address = server.accept()
            with client:
                try:
                    answer(client)
                except OSError as error:
                    print(f"refused: {error}", flush=True)


if __name__ == "__main__":
    main()
