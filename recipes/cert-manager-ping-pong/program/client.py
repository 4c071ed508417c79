# Copyright (c) 2026 hardware.enablement contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pings the server over TLS; it is ready as long as a server that the authority has signed answers."""

import os
import signal
import socket
import ssl
import sys
import time
from pathlib import Path

CERTIFICATES = "/certificates"
SERVER, PORT = "server", 8443
# What the kubelet looks for.
ANSWERED = Path("/run/ping-pong/answered")


def ping() -> None:
    """Ask once. Raises OSError where there is no pong, or the server is not whom it has to be."""
    context = ssl.create_default_context(cafile=f"{CERTIFICATES}/ca.crt")
    context.load_cert_chain(f"{CERTIFICATES}/tls.crt", f"{CERTIFICATES}/tls.key")
    with (
        socket.create_connection((SERVER, PORT), timeout=5) as plain,
        context.wrap_socket(plain, server_hostname=SERVER) as connection,
    ):
        connection.sendall(b"ping")
        if connection.recv(4) != b"pong":
            raise OSError("the server does not answer with pong")


def main() -> None:
    """Ask again and again, until told to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while True:
        try:
            ping()
            ANSWERED.touch()
            print(f"pong from {SERVER}", flush=True)
        except OSError as error:
            ANSWERED.unlink(missing_ok=True)
            print(f"no pong: {error}", flush=True)
        time.sleep(float(os.environ["INTERVAL_SECONDS"]))


if __name__ == "__main__":
    main()
